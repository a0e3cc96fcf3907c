// RUN: mlc-opt %s --for-target x86-64-v4:vector_bits=128 -p 'assign-layout,decompose-pack' --split-input-file | filecheck %s

// 16-bit floats and 32-bit integers, whose channels are not packed.

func.func @types(%x: tensor<1x8x6x6xf16>, %y: tensor<1x8x6x6xi32>) -> (tensor<1x12x4x4xf16>, tensor<1x12x4x4xi32>) {
  %w = graph.weight "w" : tensor<12x8x3x3xf16>
  %v = graph.weight "v" : tensor<12x8x3x3xi32>
  %0 = graph.conv(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x6x6xf16>, tensor<12x8x3x3xf16>) -> tensor<1x12x4x4xf16>
  %1 = graph.conv(%y, %v) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x6x6xi32>, tensor<12x8x3x3xi32>) -> tensor<1x12x4x4xi32>
  func.return %0, %1 : tensor<1x12x4x4xf16>, tensor<1x12x4x4xi32>
}

// CHECK:      func.func @types(%x: tensor<1x8x6x6xf16>, %y: tensor<1x8x6x6xi32>) -> (tensor<1x12x4x4xf16>, tensor<1x12x4x4xi32>) {
// CHECK-NEXT: %w = graph.weight "w" : tensor<12x8x3x3xf16>
// CHECK-NEXT: %v = graph.weight "v" : tensor<12x8x3x3xi32>
// CHECK-NEXT: %0 = graph.conv(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x6x6xf16>, tensor<12x8x3x3xf16>) -> tensor<1x12x4x4xf16>
// CHECK-NEXT: %1 = graph.conv(%y, %v) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x6x6xi32>, tensor<12x8x3x3xi32>) -> tensor<1x12x4x4xi32>
// CHECK-NEXT: func.return %0, %1 : tensor<1x12x4x4xf16>, tensor<1x12x4x4xi32>

// -----

// Weights of run time.

func.func @weights(%x: tensor<1x8x6x6xf32>, %w: tensor<12x8x3x3xf32>, %v: tensor<2x2x12x8x1x1xf32>) -> (tensor<1x12x4x4xf32>, tensor<1x12x12x12xf32>) {
  %0 = graph.conv(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<12x8x3x3xf32>) -> tensor<1x12x4x4xf32>
  %1 = graph.conv_transpose(%x, %v) {strides = array<i64: 2, 2>, low = array<i64: 0, 0>} : (tensor<1x8x6x6xf32>, tensor<2x2x12x8x1x1xf32>) -> tensor<1x12x12x12xf32>
  func.return %0, %1 : tensor<1x12x4x4xf32>, tensor<1x12x12x12xf32>
}

// CHECK:      func.func @weights(%x: tensor<1x8x6x6xf32>, %w: tensor<12x8x3x3xf32>, %v: tensor<2x2x12x8x1x1xf32>) -> (tensor<1x12x4x4xf32>, tensor<1x12x12x12xf32>) {
// CHECK-NEXT: %0 = graph.conv(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<12x8x3x3xf32>) -> tensor<1x12x4x4xf32>
// CHECK-NEXT: %1 = graph.conv_transpose(%x, %v) {strides = array<i64: 2, 2>, low = array<i64: 0, 0>} : (tensor<1x8x6x6xf32>, tensor<2x2x12x8x1x1xf32>) -> tensor<1x12x12x12xf32>
// CHECK-NEXT: func.return %0, %1 : tensor<1x12x4x4xf32>, tensor<1x12x12x12xf32>

// -----

// A convolution that is blocked already.

func.func @blocked(%x: tensor<1x2x14x16x4xf32>) -> tensor<1x3x12x14x4xf32> {
  %w = graph.weight "w" : tensor<3x2x3x3x4x4xf32>
  %0 = graph.conv(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, layouts = [#graph.layout<"aBcd4b">, #graph.layout<"ABcd4b4a">, #graph.layout<"aBcd4b">]} : (tensor<1x2x14x16x4xf32>, tensor<3x2x3x3x4x4xf32>) -> tensor<1x3x12x14x4xf32>
  func.return %0 : tensor<1x3x12x14x4xf32>
}

// CHECK:      func.func @blocked(%x: tensor<1x2x14x16x4xf32>) -> tensor<1x3x12x14x4xf32> {
// CHECK-NEXT: %w = graph.weight "w" : tensor<3x2x3x3x4x4xf32>
// CHECK-NEXT: %0 = graph.conv(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, layouts = [#graph.layout<"aBcd4b">, #graph.layout<"ABcd4b4a">, #graph.layout<"aBcd4b">]} : (tensor<1x2x14x16x4xf32>, tensor<3x2x3x3x4x4xf32>) -> tensor<1x3x12x14x4xf32>
// CHECK-NEXT: func.return %0 : tensor<1x3x12x14x4xf32>
