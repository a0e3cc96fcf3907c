// RUN: mlc-opt %s --verify-diagnostics --split-input-file | filecheck %s

// What graph.compute and graph.reduce refuse: monoids that do not fit, expressions without a type, other results.

func.func @compute_monoid(%x: tensor<2x3xf32>) {
  %0 = graph.compute "x0[i0, r0]"(%x) {shape = ["2"], reduce = ["3"], monoid = "mean"} : (tensor<2x3xf32>) -> tensor<2xf32>
  func.return
}

// CHECK:      graph.compute: reduced extents [3] with the monoid 'mean'

// -----

func.func @compute_monoid_of_nothing(%x: tensor<2x3xf32>) {
  %0 = graph.compute "x0[i0, 0]"(%x) {shape = ["2"], reduce = [], monoid = "add"} : (tensor<2x3xf32>) -> tensor<2xf32>
  func.return
}

// CHECK:      graph.compute: reduced extents [] with the monoid 'add'

// -----

func.func @compute_constant(%x: tensor<2x3xf32>) {
  %0 = graph.compute "1.5"(%x) {shape = ["2"], reduce = []} : (tensor<2x3xf32>) -> tensor<2xf32>
  func.return
}

// CHECK:      graph.compute: 1.5 has no type; write a cast such as f32(...)

// -----

func.func @compute_types(%x: tensor<2x3xf32>) {
  %0 = graph.compute "x0[i0, 0] * i0"(%x) {shape = ["2"], reduce = []} : (tensor<2x3xf32>) -> tensor<2xf32>
  func.return
}

// CHECK:      graph.compute: (x0[i0, 0] * i0) mixes ['f32', 'i64']; insert a cast

// -----

func.func @compute_result(%x: tensor<2x3xf32>) {
  %0 = graph.compute "x0[i0, i1] > 0.5"(%x) {shape = ["2", "3"], reduce = []} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK:      graph.compute: the result type is tensor<2x3xf32>, inferred from the operands tensor<2x3xi1>

// -----

func.func @reduce_result(%x: tensor<2x3xf32>) {
  %0 = graph.reduce "add"(%x) {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2xf32>
  func.return
}

// CHECK:      graph.reduce: the result type is tensor<2xf32>, inferred from the operands tensor<2x1xf32>

// -----

func.func @piecewise_boxes(%x: tensor<8xf32>) {
  %0 = graph.piecewise ["x0[i0]", "x0[i0]"](%x) {starts = array<i64: 0, 4>, sizes = array<i64: 2, 4>} : (tensor<8xf32>) -> tensor<8xf32>
  func.return
}

// CHECK:      graph.piecewise: the boxes do not partition

// -----

func.func @piecewise_types(%x: tensor<8xf32>) {
  %0 = graph.piecewise ["x0[i0]", "f64(x0[i0])"](%x) {starts = array<i64: 0, 4>, sizes = array<i64: 4, 4>} : (tensor<8xf32>) -> tensor<8xf32>
  func.return
}

// CHECK:      graph.piecewise: 2 expressions of 2 types, 2 boxes
