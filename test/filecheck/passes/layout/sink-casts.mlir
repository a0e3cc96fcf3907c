// RUN: mlc-opt %s -p sink-casts --split-input-file | filecheck %s

// Both operands are widened: the contraction does it, also past a transposition and a padding with zeros.
// CHECK-LABEL: func.func @halves
// CHECK-NEXT: %0 = graph.contract "mk,kn->mn"(%x, %w) {product = "f32(x0) * f32(x1)"} : (tensor<6x8xf16>, tensor<8x16xf16>) -> tensor<6x16xf32>
// CHECK-NEXT: func.return %0
func.func @halves(%x: tensor<6x8xf16>, %w: tensor<8x16xf16>) -> tensor<6x16xf32> {
  %0 = graph.map "f32(x0)"(%x) : (tensor<6x8xf16>) -> tensor<6x8xf32>
  %1 = graph.map "f32(x0)"(%w) : (tensor<8x16xf16>) -> tensor<8x16xf32>
  %2 = graph.contract "mk,kn->mn"(%0, %1) : (tensor<6x8xf32>, tensor<8x16xf32>) -> tensor<6x16xf32>
  func.return %2 : tensor<6x16xf32>
}

// -----

// CHECK-LABEL: func.func @bytes
// CHECK-NEXT: graph.transpose(%w)
// CHECK-NEXT: graph.contract "mk,kn->mn"(%x, %0) {product = "i32(x0) * i32(x1)"} : (tensor<6x8xui8>, tensor<8x16xi8>) -> tensor<6x16xi32>
func.func @bytes(%x: tensor<6x8xui8>, %w: tensor<16x8xi8>) -> tensor<6x16xi32> {
  %0 = graph.map "i32(x0)"(%x) : (tensor<6x8xui8>) -> tensor<6x8xi32>
  %1 = graph.map "i32(x0)"(%w) : (tensor<16x8xi8>) -> tensor<16x8xi32>
  %2 = graph.transpose(%1) {perm = array<i64: 1, 0>} : (tensor<16x8xi32>) -> tensor<8x16xi32>
  %3 = graph.contract "mk,kn->mn"(%0, %2) : (tensor<6x8xi32>, tensor<8x16xi32>) -> tensor<6x16xi32>
  func.return %3 : tensor<6x16xi32>
}

// -----

// CHECK-LABEL: func.func @convolution
// CHECK-NEXT: graph.pad(%x) {{.*}} : (tensor<1x2x5x5xbf16>) -> tensor<1x2x7x7xbf16>
// CHECK-NEXT: graph.conv(%0, %w) {{.*}}product = "f32(x0) * f32(x1)"
func.func @convolution(%x: tensor<1x2x5x5xbf16>, %w: tensor<4x2x3x3xbf16>) -> tensor<1x4x5x5xf32> {
  %0 = graph.map "f32(x0)"(%x) : (tensor<1x2x5x5xbf16>) -> tensor<1x2x5x5xf32>
  %1 = graph.map "f32(x0)"(%w) : (tensor<4x2x3x3xbf16>) -> tensor<4x2x3x3xf32>
  %2 = graph.pad(%0) {low = ["0", "0", "1", "1"], high = ["0", "0", "1", "1"], interior = array<i64: 0, 0, 0, 0>, value = "0"} : (tensor<1x2x5x5xf32>) -> tensor<1x2x7x7xf32>
  %3 = graph.conv(%2, %1) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x2x7x7xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x5x5xf32>
  func.return %3 : tensor<1x4x5x5xf32>
}

// -----

// What moves elements between a cast and a product moves narrow ones, as the derivative of a convolution by its image does
// with filters of each group.
// CHECK-LABEL: func.func @moved
// CHECK-NEXT: %0 = graph.slice(%w) {{.*}} : (tensor<4x2x3x3xf16>) -> tensor<4x2x3x3xf16>
// CHECK-NEXT: %1 = graph.reshape(%0) {{.*}} : (tensor<4x2x3x3xf16>) -> tensor<2x2x2x3x3xf16>
// CHECK-NEXT: %2 = graph.transpose(%1) {{.*}} : (tensor<2x2x2x3x3xf16>) -> tensor<2x2x2x3x3xf16>
// CHECK-NEXT: %3 = graph.reshape(%2) {{.*}} : (tensor<2x2x2x3x3xf16>) -> tensor<4x2x3x3xf16>
// CHECK-NEXT: graph.conv(%x, %3) {{.*}}product = "f32(x0) * f32(x1)"
func.func @moved(%x: tensor<1x4x5x5xf16>, %w: tensor<4x2x3x3xf16>) -> tensor<1x4x3x3xf32> {
  %0 = graph.map "f32(x0)"(%x) : (tensor<1x4x5x5xf16>) -> tensor<1x4x5x5xf32>
  %1 = graph.map "f32(x0)"(%w) : (tensor<4x2x3x3xf16>) -> tensor<4x2x3x3xf32>
  %2 = graph.slice(%1) {starts = ["0", "0", "2", "2"], sizes = ["4", "2", "3", "3"], steps = array<i64: 1, 1, -1, -1>} : (tensor<4x2x3x3xf32>) -> tensor<4x2x3x3xf32>
  %3 = graph.reshape(%2) {shape = ["2", "2", "2", "3", "3"]} : (tensor<4x2x3x3xf32>) -> tensor<2x2x2x3x3xf32>
  %4 = graph.transpose(%3) {perm = array<i64: 0, 2, 1, 3, 4>} : (tensor<2x2x2x3x3xf32>) -> tensor<2x2x2x3x3xf32>
  %5 = graph.reshape(%4) {shape = ["4", "2", "3", "3"]} : (tensor<2x2x2x3x3xf32>) -> tensor<4x2x3x3xf32>
  %6 = graph.conv(%0, %5) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x4x5x5xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x3x3xf32>
  func.return %6 : tensor<1x4x3x3xf32>
}

// -----

// A reshape that is a barrier stays where it is.
// CHECK-LABEL: func.func @barrier
// CHECK-NOT: product
func.func @barrier(%x: tensor<6x8xf16>, %w: tensor<16x8xf16>) -> tensor<6x16xf32> {
  %0 = graph.map "f32(x0)"(%x) : (tensor<6x8xf16>) -> tensor<6x8xf32>
  %1 = graph.map "f32(x0)"(%w) : (tensor<16x8xf16>) -> tensor<16x8xf32>
  %2 = graph.reshape(%1) {shape = ["8", "16"], barrier} : (tensor<16x8xf32>) -> tensor<8x16xf32>
  %3 = graph.contract "mk,kn->mn"(%0, %2) : (tensor<6x8xf32>, tensor<8x16xf32>) -> tensor<6x16xf32>
  func.return %3 : tensor<6x16xf32>
}

// -----

// Not where one operand is no widened one, the types differ, or the value is not widened alone.
// CHECK-LABEL: func.func @unchanged
// CHECK-NOT: product
func.func @unchanged(%x: tensor<6x8xf16>, %y: tensor<8x16xbf16>, %z: tensor<8x16xf32>) -> (tensor<6x16xf32>, tensor<6x16xf32>, tensor<6x16xf32>) {
  %0 = graph.map "f32(x0)"(%x) : (tensor<6x8xf16>) -> tensor<6x8xf32>
  %1 = graph.map "f32(x0)"(%y) : (tensor<8x16xbf16>) -> tensor<8x16xf32>
  %2 = graph.map "f32(x0) + 1"(%x) : (tensor<6x8xf16>) -> tensor<6x8xf32>
  %3 = graph.contract "mk,kn->mn"(%0, %z) : (tensor<6x8xf32>, tensor<8x16xf32>) -> tensor<6x16xf32>
  %4 = graph.contract "mk,kn->mn"(%0, %1) : (tensor<6x8xf32>, tensor<8x16xf32>) -> tensor<6x16xf32>
  %5 = graph.contract "mk,kn->mn"(%2, %z) : (tensor<6x8xf32>, tensor<8x16xf32>) -> tensor<6x16xf32>
  func.return %3, %4, %5 : tensor<6x16xf32>, tensor<6x16xf32>, tensor<6x16xf32>
}

// -----

// A constant that halves hold is one of them; 0.1 is not.
// CHECK-LABEL: func.func @constants
// CHECK:      %1 = graph.map "f16(x0)"(%w) {{.*}}-> tensor<2x1xf16>
// CHECK-NEXT: graph.contract "mk,kn->mn"(%x, %1) {product = "f32(x0) * f32(x1)"}
// CHECK-NEXT: graph.contract "mk,kn->mn"(%{{.*}}, %v) : (tensor<6x2xf32>
func.func @constants(%x: tensor<6x2xf16>) -> (tensor<6x1xf32>, tensor<6x1xf32>) {
  %w = graph.constant dense<[[1.5], [-0.25]]> : tensor<2x1xf32> : tensor<2x1xf32>
  %v = graph.constant dense<[[1.5], [0.1]]> : tensor<2x1xf32> : tensor<2x1xf32>
  %0 = graph.map "f32(x0)"(%x) : (tensor<6x2xf16>) -> tensor<6x2xf32>
  %1 = graph.contract "mk,kn->mn"(%0, %w) : (tensor<6x2xf32>, tensor<2x1xf32>) -> tensor<6x1xf32>
  %2 = graph.contract "mk,kn->mn"(%0, %v) : (tensor<6x2xf32>, tensor<2x1xf32>) -> tensor<6x1xf32>
  func.return %1, %2 : tensor<6x1xf32>, tensor<6x1xf32>
}

// -----

// Weights of 8 bits beside halves or floats stay bytes: a scale and a zero point of each column leave the sum.
// CHECK-LABEL: func.func @weight_only
// CHECK:      %[[P:.*]] = graph.contract "mk,kn->mn"(%x, %w) {product = "f32(x0) * f32(x1)"} : (tensor<6x8xf16>, tensor<8x16xi8>) -> tensor<6x16xf32>
// CHECK:      %[[S:.*]] = graph.reduce "add"(%{{.*}}) {axes = array<i64: 1>, keepdims = true} : (tensor<6x8xf32>) -> tensor<6x1xf32>
// CHECK-NEXT: %[[T:.*]] = graph.map "(x0 - (x1 * x2))"(%[[P]], %[[S]], %{{.*}})
// CHECK-NEXT: graph.map "(x0 * x1)"(%[[T]], %s)
// CHECK:      graph.contract "mk,kn->mn"(%y, %w) {product = "f32(x0) * f32(x1)"} : (tensor<6x8xf32>, tensor<8x16xi8>) -> tensor<6x16xf32>
func.func @weight_only(%x: tensor<6x8xf16>, %y: tensor<6x8xf32>) -> (tensor<6x16xf32>, tensor<6x16xf32>) {
  %w = graph.weight "w" : tensor<8x16xi8>
  %z = graph.weight "z" : tensor<16xi8>
  %s = graph.weight "s" : tensor<16xf32>
  %0 = graph.map "f32(i32(x0) - i32(x1)) * x2"(%w, %z, %s) : (tensor<8x16xi8>, tensor<16xi8>, tensor<16xf32>) -> tensor<8x16xf32>
  %3 = graph.map "f32(x0)"(%x) : (tensor<6x8xf16>) -> tensor<6x8xf32>
  %4 = graph.contract "mk,kn->mn"(%3, %0) : (tensor<6x8xf32>, tensor<8x16xf32>) -> tensor<6x16xf32>
  %5 = graph.map "f32(i32(x0)) * x1"(%w, %s) : (tensor<8x16xi8>, tensor<16xf32>) -> tensor<8x16xf32>
  %6 = graph.contract "mk,kn->mn"(%y, %5) : (tensor<6x8xf32>, tensor<8x16xf32>) -> tensor<6x16xf32>
  func.return %4, %6 : tensor<6x16xf32>, tensor<6x16xf32>
}
