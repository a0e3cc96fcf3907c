// RUN: mlc-opt %s --for-target x86-64-v4:vector_bits=128 -p 'assign-layout,decompose-pack,canonicalize-graph' --split-input-file | filecheck %s

// Derivatives of a convolution by its filters, and of a bias: the blocked result is read as it is, both results are plain.

func.func @filters(%x: tensor<2x4x6x5xf32>) -> (tensor<4x8x2x2xf32>, tensor<8xf32>) {
  %w = graph.weight "w" : tensor<8x4x2x2xf32>
  %y = graph.conv(%x, %w) {graph.node = ["/conv"], strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<2x4x6x5xf32>, tensor<8x4x2x2xf32>) -> tensor<2x8x5x4xf32>
  %0 = graph.transpose(%x) {perm = array<i64: 1, 0, 2, 3>} : (tensor<2x4x6x5xf32>) -> tensor<4x2x6x5xf32>
  %1 = graph.transpose(%y) {perm = array<i64: 1, 0, 2, 3>} : (tensor<2x8x5x4xf32>) -> tensor<8x2x5x4xf32>
  %2 = graph.conv(%0, %1) {graph.node = ["/filters"], strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<4x2x6x5xf32>, tensor<8x2x5x4xf32>) -> tensor<4x8x2x2xf32>
  %3 = graph.reduce "add"(%y) {graph.node = ["/bias"], axes = array<i64: 0, 2, 3>, keepdims = false} : (tensor<2x8x5x4xf32>) -> tensor<8xf32>
  func.return %2, %3 : tensor<4x8x2x2xf32>, tensor<8xf32>
}

// CHECK:      func.func @filters(%x: tensor<2x4x6x5xf32>) -> (tensor<4x8x2x2xf32>, tensor<8xf32>) {
// CHECK-NEXT: %w = graph.weight "w" : tensor<8x4x2x2xf32>
// CHECK-NEXT: %0 = graph.reshape(%x) {graph.node = ["/conv"], shape = ["2", "1", "4", "6", "5"]} : (tensor<2x4x6x5xf32>) -> tensor<2x1x4x6x5xf32>
// CHECK-NEXT: %1 = graph.transpose(%0) {graph.node = ["/conv"], perm = array<i64: 0, 1, 3, 4, 2>} : (tensor<2x1x4x6x5xf32>) -> tensor<2x1x6x5x4xf32>
// CHECK-NEXT: %2 = graph.reshape(%w) {graph.node = ["/conv"], shape = ["2", "4", "1", "4", "2", "2"]} : (tensor<8x4x2x2xf32>) -> tensor<2x4x1x4x2x2xf32>
// CHECK-NEXT: %3 = graph.transpose(%2) {graph.node = ["/conv"], perm = array<i64: 0, 2, 4, 5, 3, 1>} : (tensor<2x4x1x4x2x2xf32>) -> tensor<2x1x2x2x4x4xf32>
// CHECK-NEXT: %4 = graph.conv(%1, %3) {graph.node = ["/conv"], strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, layouts = [#graph.layout<"aBcd4b">, #graph.layout<"ABcd4b4a">, #graph.layout<"aBcd4b">]} : (tensor<2x1x6x5x4xf32>, tensor<2x1x2x2x4x4xf32>) -> tensor<2x2x5x4x4xf32>
// CHECK-NEXT: %5 = graph.transpose(%x) {graph.node = ["/filters"], perm = array<i64: 0, 2, 3, 1>} : (tensor<2x4x6x5xf32>) -> tensor<2x6x5x4xf32>
// CHECK-NEXT: %6 = graph.reshape(%5) {graph.node = ["/filters"], shape = ["2", "1", "6", "5", "4"]} : (tensor<2x6x5x4xf32>) -> tensor<2x1x6x5x4xf32>
// CHECK-NEXT: %7 = graph.conv(%6, %4) {graph.node = ["/filters"], strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, layouts = [#graph.layout<"bAcd4a">, #graph.layout<"bAcd4a">, #graph.layout<"ABcd4a4b">]} : (tensor<2x1x6x5x4xf32>, tensor<2x2x5x4x4xf32>) -> tensor<1x2x2x2x4x4xf32>
// CHECK-NEXT: %8 = graph.transpose(%7) {graph.node = ["/filters"], perm = array<i64: 0, 4, 1, 5, 2, 3>} : (tensor<1x2x2x2x4x4xf32>) -> tensor<1x4x2x4x2x2xf32>
// CHECK-NEXT: %9 = graph.reshape(%8) {graph.node = ["/filters"], shape = ["4", "8", "2", "2"]} : (tensor<1x4x2x4x2x2xf32>) -> tensor<4x8x2x2xf32>
// CHECK-NEXT: %10 = graph.reduce "add"(%4) {graph.node = ["/bias"], axes = array<i64: 0, 2, 3>, keepdims = true} : (tensor<2x2x5x4x4xf32>) -> tensor<1x2x1x1x4xf32>
// CHECK-NEXT: %11 = graph.reshape(%10) {graph.node = ["/bias"], shape = ["8"]} : (tensor<1x2x1x1x4xf32>) -> tensor<8xf32>
// CHECK-NEXT: func.return %9, %11 : tensor<4x8x2x2xf32>, tensor<8xf32>

// -----

// Weights of run time, read at 128 positions.

func.func @weights(%x: tensor<2x4x66xf32>, %w: tensor<4x4x3xf32>) -> tensor<2x4x64xf32> {
  %0 = graph.conv(%x, %w) {graph.node = ["/conv"], strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<2x4x66xf32>, tensor<4x4x3xf32>) -> tensor<2x4x64xf32>
  func.return %0 : tensor<2x4x64xf32>
}

// CHECK:      func.func @weights(%x: tensor<2x4x66xf32>, %w: tensor<4x4x3xf32>) -> tensor<2x4x64xf32> {
// CHECK-NEXT: %0 = graph.reshape(%x) {graph.node = ["/conv"], shape = ["2", "1", "4", "66"]} : (tensor<2x4x66xf32>) -> tensor<2x1x4x66xf32>
// CHECK-NEXT: %1 = graph.transpose(%0) {graph.node = ["/conv"], perm = array<i64: 0, 1, 3, 2>} : (tensor<2x1x4x66xf32>) -> tensor<2x1x66x4xf32>
// CHECK-NEXT: %2 = graph.reshape(%w) {graph.node = ["/conv"], shape = ["1", "4", "1", "4", "3"]} : (tensor<4x4x3xf32>) -> tensor<1x4x1x4x3xf32>
// CHECK-NEXT: %3 = graph.transpose(%2) {graph.node = ["/conv"], perm = array<i64: 0, 2, 4, 3, 1>} : (tensor<1x4x1x4x3xf32>) -> tensor<1x1x3x4x4xf32>
// CHECK-NEXT: %4 = graph.conv(%1, %3) {graph.node = ["/conv"], strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64, layouts = [#graph.layout<"aBc4b">, #graph.layout<"ABc4b4a">, #graph.layout<"aBc4b">]} : (tensor<2x1x66x4xf32>, tensor<1x1x3x4x4xf32>) -> tensor<2x1x64x4xf32>
// CHECK-NEXT: %5 = graph.transpose(%4) {graph.node = ["/conv"], perm = array<i64: 0, 1, 3, 2>} : (tensor<2x1x64x4xf32>) -> tensor<2x1x4x64xf32>
// CHECK-NEXT: %6 = graph.reshape(%5) {graph.node = ["/conv"], shape = ["2", "4", "64"]} : (tensor<2x1x4x64xf32>) -> tensor<2x4x64xf32>
// CHECK-NEXT: func.return %6 : tensor<2x4x64xf32>

// -----

// The derivative of a depthwise convolution by its filters: a sum for each channel, of blocks.

func.func @depthwise(%x: tensor<2x8x6x5xf32>, %bar: tensor<2x8x2x2xf32>) -> tensor<1x8x3x2xf32> {
  %0 = graph.transpose(%x) {perm = array<i64: 1, 0, 2, 3>} : (tensor<2x8x6x5xf32>) -> tensor<8x2x6x5xf32>
  %1 = graph.reshape(%0) {shape = ["1", "16", "6", "5"]} : (tensor<8x2x6x5xf32>) -> tensor<1x16x6x5xf32>
  %2 = graph.transpose(%bar) {perm = array<i64: 1, 0, 2, 3>} : (tensor<2x8x2x2xf32>) -> tensor<8x2x2x2xf32>
  %3 = graph.conv(%1, %2) {graph.node = ["/filters"], strides = array<i64: 1, 2>, dilations = array<i64: 3, 1>, groups = 8 : i64} : (tensor<1x16x6x5xf32>, tensor<8x2x2x2xf32>) -> tensor<1x8x3x2xf32>
  func.return %3 : tensor<1x8x3x2xf32>
}

// CHECK:      func.func @depthwise(%x: tensor<2x8x6x5xf32>, %bar: tensor<2x8x2x2xf32>) -> tensor<1x8x3x2xf32> {
// CHECK-NEXT: %0 = graph.reshape(%x) {graph.node = ["/filters"], shape = ["2", "2", "4", "6", "5"]} : (tensor<2x8x6x5xf32>) -> tensor<2x2x4x6x5xf32>
// CHECK-NEXT: %1 = graph.transpose(%0) {graph.node = ["/filters"], perm = array<i64: 0, 1, 3, 4, 2>} : (tensor<2x2x4x6x5xf32>) -> tensor<2x2x6x5x4xf32>
// CHECK-NEXT: %2 = graph.reshape(%bar) {graph.node = ["/filters"], shape = ["2", "2", "4", "2", "2"]} : (tensor<2x8x2x2xf32>) -> tensor<2x2x4x2x2xf32>
// CHECK-NEXT: %3 = graph.transpose(%2) {graph.node = ["/filters"], perm = array<i64: 0, 1, 3, 4, 2>} : (tensor<2x2x4x2x2xf32>) -> tensor<2x2x2x2x4xf32>
// CHECK-NEXT: %4 = graph.compute "(x0[r0, i1, ((i2 * 1) + (r1 * 3)), ((i3 * 2) + (r2 * 1)), i4] * x1[r0, i1, r1, r2, i4])"(%1, %3) {graph.node = ["/filters"], shape = ["1", "2", "3", "2", "4"], reduce = ["2", "2", "2"], monoid = "add"} : (tensor<2x2x6x5x4xf32>, tensor<2x2x2x2x4xf32>) -> tensor<1x2x3x2x4xf32>
// CHECK-NEXT: %5 = graph.transpose(%4) {graph.node = ["/filters"], perm = array<i64: 0, 1, 4, 2, 3>} : (tensor<1x2x3x2x4xf32>) -> tensor<1x2x4x3x2xf32>
// CHECK-NEXT: %6 = graph.reshape(%5) {graph.node = ["/filters"], shape = ["1", "8", "3", "2"]} : (tensor<1x2x4x3x2xf32>) -> tensor<1x8x3x2xf32>
// CHECK-NEXT: func.return %6 : tensor<1x8x3x2xf32>
