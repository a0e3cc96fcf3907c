// RUN: mlc-opt %s --verify-diagnostics --split-input-file | filecheck %s

// Pools, moves and concatenations whose attributes do not fit their operands.

func.func @pool_monoid(%x: tensor<1x2x3xf32>) {
  %0 = graph.pool "mean"(%x) {kernel = array<i64: 2>, strides = array<i64: 1>, dilations = array<i64: 1>} : (tensor<1x2x3xf32>) -> tensor<1x2x2xf32>
  func.return
}

// CHECK:      graph.pool: 'mean' of a window [2] over an operand of shape (1, 2, 3)

// -----

func.func @broadcast_shrinks(%x: tensor<2x3xf32>) {
  %0 = graph.broadcast(%x) {shape = ["2", "1"]} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  func.return
}

// CHECK:      graph.broadcast: (2, 3) does not broadcast to (2, 1)

// -----

func.func @slice_rank(%x: tensor<5x6xf32>) {
  %0 = graph.slice(%x) {starts = ["0"], sizes = ["3"], steps = array<i64: 1>} : (tensor<5x6xf32>) -> tensor<3xf32>
  func.return
}

// CHECK:      graph.slice: starts, sizes and steps must have one entry for each dimension of (5, 6)

// -----

func.func @slice_before_the_first(%x: tensor<5xf32>) {
  %0 = graph.slice(%x) {starts = ["1"], sizes = ["3"], steps = array<i64: -1>} : (tensor<5xf32>) -> tensor<3xf32>
  func.return
}

// CHECK:      graph.slice: elements 1..-1 of a dimension of extent 5

// -----

func.func @slice_of_less_than_nothing(%x: tensor<4xf32>) {
  %0 = graph.slice(%x) {starts = ["2"], sizes = ["-1"], steps = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK:      graph.slice: -1 elements of a dimension of extent 4

// -----

func.func @pad_rank(%x: tensor<5x6xf32>) {
  %0 = graph.pad(%x) {low = ["1"], high = ["0", "0"], interior = array<i64: 0, 0>, value = "0"} : (tensor<5x6xf32>) -> tensor<6x6xf32>
  func.return
}

// CHECK:      graph.pad: low, high and interior must have one entry for each dimension of (5, 6)

// -----

func.func @concat_elements(%x: tensor<2x3xf32>, %y: tensor<2x3xi64>) {
  %0 = graph.concat(%x, %y) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xi64>) -> tensor<2x6xf32>
  func.return
}

// CHECK:      graph.concat: operands tensor<2x3xf32>, tensor<2x3xi64> differ in an axis other than 1
