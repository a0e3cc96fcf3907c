// RUN: mlc-opt %s --for-target x86-64-v4:avx512bf16 -p round-factors --split-input-file | filecheck %s

func.func @main(%x: tensor<3x77xf32>) -> (tensor<3x40xf32>, tensor<3x40xf32>) {
  %v = graph.weight "v" : tensor<77x40xf32>
  %w = graph.weight "w" : tensor<40x77xf32>
  %0 = graph.contract "mk,kn->mn"(%x, %v) : (tensor<3x77xf32>, tensor<77x40xf32>) -> tensor<3x40xf32>
  %1 = graph.contract "mk,nk->mn"(%x, %w) : (tensor<3x77xf32>, tensor<40x77xf32>) -> tensor<3x40xf32>
  func.return %0, %1 : tensor<3x40xf32>, tensor<3x40xf32>
}

// CHECK:      func.func @main(%x: tensor<3x77xf32>) -> (tensor<3x40xf32>, tensor<3x40xf32>) {
// CHECK-NEXT: %v = graph.weight "v" : tensor<77x40xf32>
// CHECK-NEXT: %w = graph.weight "w" : tensor<40x77xf32>
// CHECK-NEXT: %0 = graph.map "bf16(x0)"(%x) : (tensor<3x77xf32>) -> tensor<3x77xbf16>
// CHECK-NEXT: %1 = graph.map "bf16(x0)"(%v) : (tensor<77x40xf32>) -> tensor<77x40xbf16>
// CHECK-NEXT: %2 = graph.contract "mk,kn->mn"(%0, %1) {product = "f32(x0) * f32(x1)"} : (tensor<3x77xbf16>, tensor<77x40xbf16>) -> tensor<3x40xf32>
// CHECK-NEXT: %3 = graph.map "bf16(x0)"(%w) : (tensor<40x77xf32>) -> tensor<40x77xbf16>
// CHECK-NEXT: %4 = graph.contract "mk,nk->mn"(%0, %3) {product = "f32(x0) * f32(x1)"} : (tensor<3x77xbf16>, tensor<40x77xbf16>) -> tensor<3x40xf32>
// CHECK-NEXT: func.return %2, %4 : tensor<3x40xf32>, tensor<3x40xf32>

// -----

func.func @main(%x: tensor<1x32x4x4xf32>) -> tensor<1x16x4x4xf32> {
  %w = graph.weight "w" : tensor<16x32x3x3xf32>
  %p = graph.pad(%x) {low = ["0", "0", "1", "1"], high = ["0", "0", "1", "1"], interior = array<i64: 0, 0, 0, 0>, value = "0"} : (tensor<1x32x4x4xf32>) -> tensor<1x32x6x6xf32>
  %0 = graph.conv(%p, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x32x6x6xf32>, tensor<16x32x3x3xf32>) -> tensor<1x16x4x4xf32>
  func.return %0 : tensor<1x16x4x4xf32>
}

// CHECK:      func.func @main(%x: tensor<1x32x4x4xf32>) -> tensor<1x16x4x4xf32> {
// CHECK-NEXT: %w = graph.weight "w" : tensor<16x32x3x3xf32>
// CHECK-NEXT: %0 = graph.map "bf16(x0)"(%x) : (tensor<1x32x4x4xf32>) -> tensor<1x32x4x4xbf16>
// CHECK-NEXT: %1 = graph.pad(%0) {low = ["0", "0", "1", "1"], high = ["0", "0", "1", "1"], interior = array<i64: 0, 0, 0, 0>, value = "0"} : (tensor<1x32x4x4xbf16>) -> tensor<1x32x6x6xbf16>
// CHECK-NEXT: %2 = graph.map "bf16(x0)"(%w) : (tensor<16x32x3x3xf32>) -> tensor<16x32x3x3xbf16>
// CHECK-NEXT: %3 = graph.conv(%1, %2) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, product = "f32(x0) * f32(x1)"} : (tensor<1x32x6x6xbf16>, tensor<16x32x3x3xbf16>) -> tensor<1x16x4x4xf32>
// CHECK-NEXT: func.return %3 : tensor<1x16x4x4xf32>
