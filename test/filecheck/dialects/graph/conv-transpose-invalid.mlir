// RUN: mlc-opt %s --verify-diagnostics --split-input-file | filecheck %s

func.func @phases(%x: tensor<1x8x5xf32>, %w: tensor<3x4x8x2xf32>) {
  %y = "graph.conv_transpose"(%x, %w) {strides = array<i64: 2>, low = array<i64: 0>} : (tensor<1x8x5xf32>, tensor<3x4x8x2xf32>) -> tensor<1x4x8xf32>
  func.return
}
// CHECK: graph.conv_transpose: weight (3, 4, 8, 2) does not fit the strides [2]

// -----

func.func @rows(%x: tensor<1x8x1xf32>, %w: tensor<2x4x8x4xf32>) {
  %y = "graph.conv_transpose"(%x, %w) {strides = array<i64: 2>, low = array<i64: 1>} : (tensor<1x8x1xf32>, tensor<2x4x8x4xf32>) -> tensor<1x4x8xf32>
  func.return
}
// CHECK: has too few rows for the taps (4,)

// -----

func.func @layout(%x: tensor<1x8x5xf32>, %w: tensor<2x4x8x2xf32>) {
  %y = "graph.conv_transpose"(%x, %w) {strides = array<i64: 2>, low = array<i64: 0>, layouts = [#graph.layout<"aBc4b">, #graph.layout<"abcd">, #graph.layout<"abc">]} : (tensor<1x8x5xf32>, tensor<2x4x8x2xf32>) -> tensor<1x4x8xf32>
  func.return
}
// CHECK: a tensor of shape (1, 8, 5) does not have the layout 'aBc4b'

// -----

func.func @ranks(%x: tensor<1x8x5x5xf32>, %w: tensor<2x4x8x2xf32>) {
  %y = "graph.conv_transpose"(%x, %w) {strides = array<i64: 2>, low = array<i64: 0>} : (tensor<1x8x5x5xf32>, tensor<2x4x8x2xf32>) -> tensor<1x4x8xf32>
  func.return
}
// CHECK: do not fit 1 strides

// -----

func.func @types(%x: tensor<1x8x5xf64>, %w: tensor<2x4x8x2xf32>) {
  %y = "graph.conv_transpose"(%x, %w) {strides = array<i64: 2>, low = array<i64: 0>} : (tensor<1x8x5xf64>, tensor<2x4x8x2xf32>) -> tensor<1x4x8xf32>
  func.return
}
// CHECK: operands are f64 and f32; insert a cast
