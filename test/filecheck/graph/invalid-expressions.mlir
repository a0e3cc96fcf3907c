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
