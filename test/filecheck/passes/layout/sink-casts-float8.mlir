// RUN: mlc-opt %s -p sink-casts --split-input-file | filecheck %s
// RUN: mlc-opt %s -p 'sink-casts{numerics=strict}' --split-input-file | filecheck %s --check-prefix=STRICT

// Floats of 8 bits multiply each other. One that is a half first is widened from 8 bits.
// CHECK-LABEL: func.func @casts
// CHECK-NEXT: graph.contract "mk,kn->mn"(%x, %w) {product = "f32(x0) * f32(x1)"} : (tensor<6x8xf8E4M3FN>, tensor<8x16xf8E5M2>) -> tensor<6x16xf32>
// STRICT-LABEL: func.func @casts
// STRICT: product = "f32(x0) * f32(x1)"
func.func @casts(%x: tensor<6x8xf8E4M3FN>, %w: tensor<8x16xf8E5M2>) -> tensor<6x16xf32> {
  %h = graph.map "f16(x0)"(%x) : (tensor<6x8xf8E4M3FN>) -> tensor<6x8xf16>
  %0 = graph.map "f32(x0)"(%h) : (tensor<6x8xf16>) -> tensor<6x8xf32>
  %1 = graph.map "f32(x0)"(%w) : (tensor<8x16xf8E5M2>) -> tensor<8x16xf32>
  %2 = graph.contract "mk,kn->mn"(%0, %1) : (tensor<6x8xf32>, tensor<8x16xf32>) -> tensor<6x16xf32>
  func.return %2 : tensor<6x16xf32>
}

// -----

// A scale of the left tensor and one for each column leave the sum, past a transposition.
// CHECK-LABEL: func.func @scales
// CHECK:      %[[T:.*]] = graph.transpose(%w)
// CHECK:      %[[P:.*]] = graph.contract "mk,kn->mn"(%x, %[[T]]) {product = "f32(x0) * f32(x1)"}
// CHECK:      %[[S:.*]] = graph.map "(x0 * x1)"(%{{.*}}, %{{.*}}) : (tensor<f32>, tensor<16xf32>) -> tensor<16xf32>
// CHECK-NEXT: graph.map "(x0 * x1)"(%[[P]], %[[S]]) : (tensor<6x16xf32>, tensor<16xf32>) -> tensor<6x16xf32>
// STRICT-LABEL: func.func @scales
// STRICT-NOT: product
func.func @scales(%x: tensor<6x8xf8E4M3FN>, %w: tensor<16x8xf8E4M3FN>, %s: tensor<16x1xf32>) -> tensor<6x16xf32> {
  %0 = graph.map "f32(x0) * 0.5"(%x) : (tensor<6x8xf8E4M3FN>) -> tensor<6x8xf32>
  %1 = graph.map "f32(x0)"(%w) : (tensor<16x8xf8E4M3FN>) -> tensor<16x8xf32>
  %2 = graph.map "x0 * x1"(%1, %s) : (tensor<16x8xf32>, tensor<16x1xf32>) -> tensor<16x8xf32>
  %3 = graph.transpose(%2) {perm = array<i64: 1, 0>} : (tensor<16x8xf32>) -> tensor<8x16xf32>
  %4 = graph.contract "mk,kn->mn"(%0, %3) : (tensor<6x8xf32>, tensor<8x16xf32>) -> tensor<6x16xf32>
  func.return %4 : tensor<6x16xf32>
}

// -----

// One a row and one a column are multiplied one after the other.
// CHECK-LABEL: func.func @rows_and_columns
// CHECK:      %[[P:.*]] = graph.contract "mk,kn->mn"(%x, %w) {product = "f32(x0) * f32(x1)"}
// CHECK-NEXT: %[[R:.*]] = graph.map "(x0 * x1)"(%[[P]], %s) : (tensor<6x16xf32>, tensor<6x1xf32>) -> tensor<6x16xf32>
// CHECK-NEXT: graph.map "(x0 * x1)"(%[[R]], %{{.*}}) : (tensor<6x16xf32>, tensor<16xf32>) -> tensor<6x16xf32>
func.func @rows_and_columns(%x: tensor<6x8xf8E5M2>, %w: tensor<8x16xf8E5M2>, %s: tensor<6x1xf32>, %t: tensor<16xf32>) -> tensor<6x16xf32> {
  %0 = graph.map "f32(x0) * x1"(%x, %s) : (tensor<6x8xf8E5M2>, tensor<6x1xf32>) -> tensor<6x8xf32>
  %1 = graph.map "f32(x0) * x1"(%w, %t) : (tensor<8x16xf8E5M2>, tensor<16xf32>) -> tensor<8x16xf32>
  %2 = graph.contract "mk,kn->mn"(%0, %1) : (tensor<6x8xf32>, tensor<8x16xf32>) -> tensor<6x16xf32>
  func.return %2 : tensor<6x16xf32>
}

// -----

// The scale of an image before its border of zeros, and one for each filter.
// CHECK-LABEL: func.func @convolution
// CHECK:      graph.pad(%x) {{.*}} : (tensor<1x2x5x5xf8E4M3FN>) -> tensor<1x2x7x7xf8E4M3FN>
// CHECK:      graph.conv({{.*}}product = "f32(x0) * f32(x1)"
// CHECK:      graph.map "(x0 * x1)"({{.*}} : (tensor<1x4x5x5xf32>, tensor<4x1x1xf32>) -> tensor<1x4x5x5xf32>
func.func @convolution(%x: tensor<1x2x5x5xf8E4M3FN>, %w: tensor<4x2x3x3xf8E4M3FN>, %t: tensor<4x1x1x1xf32>) -> tensor<1x4x5x5xf32> {
  %0 = graph.map "f32(x0) * 0.5"(%x) : (tensor<1x2x5x5xf8E4M3FN>) -> tensor<1x2x5x5xf32>
  %1 = graph.map "f32(x0) * x1"(%w, %t) : (tensor<4x2x3x3xf8E4M3FN>, tensor<4x1x1x1xf32>) -> tensor<4x2x3x3xf32>
  %2 = graph.pad(%0) {low = ["0", "0", "1", "1"], high = ["0", "0", "1", "1"], interior = array<i64: 0, 0, 0, 0>, value = "0"} : (tensor<1x2x5x5xf32>) -> tensor<1x2x7x7xf32>
  %3 = graph.conv(%2, %1) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x2x7x7xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x5x5xf32>
  func.return %3 : tensor<1x4x5x5xf32>
}

// -----

// Not with a scale that varies along the sum or along both axes, beside halves, and of formats without a negative zero.
// CHECK-LABEL: func.func @unchanged
// CHECK-NOT: product
func.func @unchanged(%x: tensor<6x8xf8E4M3FN>, %w: tensor<8x16xf8E4M3FN>, %h: tensor<8x16xf16>, %z: tensor<8x16xf8E4M3FNUZ>, %s: tensor<8xf32>, %t: tensor<6x8xf32>) -> (tensor<6x16xf32>, tensor<6x16xf32>, tensor<6x16xf32>, tensor<6x16xf32>) {
  %0 = graph.map "f32(x0)"(%x) : (tensor<6x8xf8E4M3FN>) -> tensor<6x8xf32>
  %1 = graph.map "f32(x0) * x1"(%x, %s) : (tensor<6x8xf8E4M3FN>, tensor<8xf32>) -> tensor<6x8xf32>
  %2 = graph.map "f32(x0) * x1"(%x, %t) : (tensor<6x8xf8E4M3FN>, tensor<6x8xf32>) -> tensor<6x8xf32>
  %3 = graph.map "f32(x0)"(%w) : (tensor<8x16xf8E4M3FN>) -> tensor<8x16xf32>
  %4 = graph.map "f32(x0)"(%h) : (tensor<8x16xf16>) -> tensor<8x16xf32>
  %5 = graph.map "f32(x0)"(%z) : (tensor<8x16xf8E4M3FNUZ>) -> tensor<8x16xf32>
  %6 = graph.contract "mk,kn->mn"(%1, %3) : (tensor<6x8xf32>, tensor<8x16xf32>) -> tensor<6x16xf32>
  %7 = graph.contract "mk,kn->mn"(%2, %3) : (tensor<6x8xf32>, tensor<8x16xf32>) -> tensor<6x16xf32>
  %8 = graph.contract "mk,kn->mn"(%0, %4) : (tensor<6x8xf32>, tensor<8x16xf32>) -> tensor<6x16xf32>
  %9 = graph.contract "mk,kn->mn"(%0, %5) : (tensor<6x8xf32>, tensor<8x16xf32>) -> tensor<6x16xf32>
  func.return %6, %7, %8, %9 : tensor<6x16xf32>, tensor<6x16xf32>, tensor<6x16xf32>, tensor<6x16xf32>
}
