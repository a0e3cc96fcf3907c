// RUN: mlc-opt %s --verify-diagnostics --split-input-file | filecheck %s

// Expressions of graph.map and graph.compute that cannot be read, have no type, or do not fit their operands.

func.func @map_reads_an_element(%x: tensor<2xf32>) {
  %0 = graph.map "x0[i0]"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// CHECK:      graph.map reads whole operands (x0), not elements (x0[i])

// -----

func.func @map_of_constants() {
  %0 = graph.map "1.0 + 2.0"() : () -> tensor<f32>
  func.return
}

// CHECK:      graph.map: 1.0 + 2.0 has no type; write a cast such as f32(...)

// -----

func.func @map_syntax(%x: tensor<2xf32>) {
  %0 = graph.map "x0 +"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// CHECK:      graph.map: 'x0 +' is not a scalar expression: invalid syntax

// -----

func.func @map_list(%x: tensor<2xf32>) {
  %0 = graph.map "[x0]"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// CHECK:      graph.map: '[x0]' is not a scalar expression

// -----

func.func @map_arguments(%x: tensor<2xf32>) {
  %0 = graph.map "max(x0)"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// CHECK:      graph.map: max with 1 arguments: takes 2

// -----

func.func @map_symbols(%x: tensor<?x3xf32, #graph.dims<["n", "3"]>>, %y: tensor<?x3xf32, #graph.dims<["m", "3"]>>) {
  %0 = graph.map "x0 + x1"(%x, %y) : (tensor<?x3xf32, #graph.dims<["n", "3"]>>, tensor<?x3xf32, #graph.dims<["m", "3"]>>) -> tensor<?x3xf32, #graph.dims<["n", "3"]>>
  func.return
}

// CHECK:      shapes (n, 3), (m, 3) do not broadcast at axis 0

// -----

// No function computes in a narrow type, also in the condition of a selection and under a cast.

func.func @map_computes_in_narrow(%x: tensor<2xf8E4M3FN>) {
  %0 = graph.map "where(x0 > 1, x0, 0)"(%x) : (tensor<2xf8E4M3FN>) -> tensor<2xf8E4M3FN>
  func.return
}

// CHECK:      graph.map: no function computes in f8e4m3fn; cast the operands of gt, as in f32(x0)

// -----

func.func @compute_below_a_cast(%x: tensor<2xi4>) {
  %0 = graph.compute "i32(x0[i0] + x0[i0])"(%x) {shape = ["2"], reduce = []} : (tensor<2xi4>) -> tensor<2xi32>
  func.return
}

// CHECK:      no function computes in i4; cast the operands of add, as in f32(x0)

// -----

func.func @other_bits(%x: tensor<2xf32>) {
  %0 = graph.map "as_i64(x0)"(%x) : (tensor<2xf32>) -> tensor<2xi64>
  func.return
}

// CHECK:      graph.map: as_i64(x0) reads the 32 bits of f32 as the 64 of i64
