// RUN: mlc-opt %s -p 'integer-products' --split-input-file | filecheck %s

func.func @matmul(%x: tensor<6x8xui8>) -> tensor<6x16xf32> {
  %w = graph.weight "w" : tensor<8x16xi8>
  %s = graph.weight "s" : tensor<16xf32>
  %0 = graph.map "i32(x0) - i32(3)"(%x) {graph.node = ["/dx"]} : (tensor<6x8xui8>) -> tensor<6x8xi32>
  %1 = graph.map "f32(x0) * 0.5"(%0) {graph.node = ["/dx"]} : (tensor<6x8xi32>) -> tensor<6x8xf32>
  %2 = graph.map "f32(i32(x0)) * x1"(%w, %s) {graph.node = ["/dw"]} : (tensor<8x16xi8>, tensor<16xf32>) -> tensor<8x16xf32>
  %3 = graph.contract "mk,kn->mn"(%1, %2) {graph.node = ["/matmul"]} : (tensor<6x8xf32>, tensor<8x16xf32>) -> tensor<6x16xf32>
  func.return %3 : tensor<6x16xf32>
}

// CHECK:      func.func @matmul(%x: tensor<6x8xui8>) -> tensor<6x16xf32> {
// CHECK-NEXT: %w = graph.weight "w" : tensor<8x16xi8>
// CHECK-NEXT: %s = graph.weight "s" : tensor<16xf32>
// CHECK-NEXT: %0 = graph.constant dense<3> : tensor<i32> {graph.node = ["/matmul"]} : tensor<i32>
// CHECK-NEXT: %1 = graph.constant dense<5.000000e-01> : tensor<f32> {graph.node = ["/matmul"]} : tensor<f32>
// CHECK-NEXT: %2 = graph.contract "mk,kn->mn"(%x, %w) {graph.node = ["/matmul"], product = "i32(x0) * i32(x1)"} : (tensor<6x8xui8>, tensor<8x16xi8>) -> tensor<6x16xi32>
// CHECK-NEXT: %3 = graph.map "i32(x0)"(%w) {graph.node = ["/matmul"]} : (tensor<8x16xi8>) -> tensor<8x16xi32>
// CHECK-NEXT: %4 = graph.reduce "add"(%3) {graph.node = ["/matmul"], axes = array<i64: 0>, keepdims = false} : (tensor<8x16xi32>) -> tensor<16xi32>
// CHECK-NEXT: %5 = graph.map "(x0 * x1)"(%0, %4) {graph.node = ["/matmul"]} : (tensor<i32>, tensor<16xi32>) -> tensor<16xi32>
// CHECK-NEXT: %6 = graph.map "(x0 - x1)"(%2, %5) {graph.node = ["/matmul"]} : (tensor<6x16xi32>, tensor<16xi32>) -> tensor<6x16xi32>
// CHECK-NEXT: %7 = graph.map "(x0 * x1)"(%1, %s) {graph.node = ["/matmul"]} : (tensor<f32>, tensor<16xf32>) -> tensor<16xf32>
// CHECK-NEXT: %8 = graph.map "(f32(x0) * x1)"(%6, %7) {graph.node = ["/matmul"]} : (tensor<6x16xi32>, tensor<16xf32>) -> tensor<6x16xf32>
// CHECK-NEXT: func.return %8 : tensor<6x16xf32>

// -----

// Padding with zero is padding with the zero point; signed inputs and unsigned weights change by 128.
func.func @conv(%x: tensor<1x4x5x5xi8>) -> tensor<1x16x5x5xi32> {
  %w = graph.weight "w" : tensor<16x4x3x3xui8>
  %0 = graph.map "i32(x0) - i32(-5)"(%x) {graph.node = ["/c"]} : (tensor<1x4x5x5xi8>) -> tensor<1x4x5x5xi32>
  %1 = graph.pad(%0) {graph.node = ["/c"], low = ["0", "0", "1", "1"], high = ["0", "0", "1", "1"], interior = array<i64: 0, 0, 0, 0>, value = "0"} : (tensor<1x4x5x5xi32>) -> tensor<1x4x7x7xi32>
  %2 = graph.map "i32(x0) - 128"(%w) {graph.node = ["/c"]} : (tensor<16x4x3x3xui8>) -> tensor<16x4x3x3xi32>
  %3 = graph.conv(%1, %2) {graph.node = ["/c"], strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x7x7xi32>, tensor<16x4x3x3xi32>) -> tensor<1x16x5x5xi32>
  func.return %3 : tensor<1x16x5x5xi32>
}

// CHECK:      func.func @conv(%x: tensor<1x4x5x5xi8>) -> tensor<1x16x5x5xi32> {
// CHECK-NEXT: %w = graph.weight "w" : tensor<16x4x3x3xui8>
// CHECK-NEXT: %0 = graph.constant dense<-5> : tensor<i32> {graph.node = ["/c"]} : tensor<i32>
// CHECK-NEXT: %1 = graph.map "ui8((i32(x0) + 128))"(%x) {graph.node = ["/c"]} : (tensor<1x4x5x5xi8>) -> tensor<1x4x5x5xui8>
// CHECK-NEXT: %2 = graph.pad(%1) {graph.node = ["/c"], low = ["0", "0", "1", "1"], high = ["0", "0", "1", "1"], interior = array<i64: 0, 0, 0, 0>, value = "123"} : (tensor<1x4x5x5xui8>) -> tensor<1x4x7x7xui8>
// CHECK-NEXT: %3 = graph.map "i8((i32(x0) + -128))"(%w) {graph.node = ["/c"]} : (tensor<16x4x3x3xui8>) -> tensor<16x4x3x3xi8>
// CHECK-NEXT: %4 = graph.conv(%2, %3) {graph.node = ["/c"], strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, product = "i32(x0) * i32(x1)"} : (tensor<1x4x7x7xui8>, tensor<16x4x3x3xi8>) -> tensor<1x16x5x5xi32>
// CHECK-NEXT: %5 = graph.map "(x0 + 128)"(%0) {graph.node = ["/c"]} : (tensor<i32>) -> tensor<i32>
// CHECK-NEXT: %6 = graph.map "i32(x0)"(%3) {graph.node = ["/c"]} : (tensor<16x4x3x3xi8>) -> tensor<16x4x3x3xi32>
// CHECK-NEXT: %7 = graph.reduce "add"(%6) {graph.node = ["/c"], axes = array<i64: 1, 2, 3>, keepdims = false} : (tensor<16x4x3x3xi32>) -> tensor<16xi32>
// CHECK-NEXT: %8 = graph.reshape(%7) {graph.node = ["/c"], shape = ["16", "1", "1"]} : (tensor<16xi32>) -> tensor<16x1x1xi32>
// CHECK-NEXT: %9 = graph.map "(x0 * x1)"(%5, %8) {graph.node = ["/c"]} : (tensor<i32>, tensor<16x1x1xi32>) -> tensor<16x1x1xi32>
// CHECK-NEXT: %10 = graph.map "(x0 - x1)"(%4, %9) {graph.node = ["/c"]} : (tensor<1x16x5x5xi32>, tensor<16x1x1xi32>) -> tensor<1x16x5x5xi32>
// CHECK-NEXT: func.return %10 : tensor<1x16x5x5xi32>

// -----

// A zero point of the weight brings in the sums of the input.
func.func @uncentred(%x: tensor<6x8xui8>, %z: tensor<ui8>) -> tensor<6x16xi32> {
  %w = graph.weight "w" : tensor<8x16xi8>
  %o = graph.weight "o" : tensor<16xi8>
  %0 = graph.map "i32(x0) - i32(x1)"(%x, %z) {graph.node = ["/m"]} : (tensor<6x8xui8>, tensor<ui8>) -> tensor<6x8xi32>
  %1 = graph.map "i32(x0) - i32(x1)"(%w, %o) {graph.node = ["/m"]} : (tensor<8x16xi8>, tensor<16xi8>) -> tensor<8x16xi32>
  %2 = graph.contract "mk,kn->mn"(%0, %1) {graph.node = ["/m"]} : (tensor<6x8xi32>, tensor<8x16xi32>) -> tensor<6x16xi32>
  func.return %2 : tensor<6x16xi32>
}

// CHECK:      func.func @uncentred(%x: tensor<6x8xui8>, %z: tensor<ui8>) -> tensor<6x16xi32> {
// CHECK-NEXT: %w = graph.weight "w" : tensor<8x16xi8>
// CHECK-NEXT: %o = graph.weight "o" : tensor<16xi8>
// CHECK-NEXT: %0 = graph.map "i32(x0)"(%z) {graph.node = ["/m"]} : (tensor<ui8>) -> tensor<i32>
// CHECK-NEXT: %1 = graph.map "i32(x0)"(%o) {graph.node = ["/m"]} : (tensor<16xi8>) -> tensor<16xi32>
// CHECK-NEXT: %2 = graph.contract "mk,kn->mn"(%x, %w) {graph.node = ["/m"], product = "i32(x0) * i32(x1)"} : (tensor<6x8xui8>, tensor<8x16xi8>) -> tensor<6x16xi32>
// CHECK-NEXT: %3 = graph.map "i32(x0)"(%w) {graph.node = ["/m"]} : (tensor<8x16xi8>) -> tensor<8x16xi32>
// CHECK-NEXT: %4 = graph.reduce "add"(%3) {graph.node = ["/m"], axes = array<i64: 0>, keepdims = false} : (tensor<8x16xi32>) -> tensor<16xi32>
// CHECK-NEXT: %5 = graph.map "(x0 * x1)"(%0, %4) {graph.node = ["/m"]} : (tensor<i32>, tensor<16xi32>) -> tensor<16xi32>
// CHECK-NEXT: %6 = graph.map "(x0 - x1)"(%2, %5) {graph.node = ["/m"]} : (tensor<6x16xi32>, tensor<16xi32>) -> tensor<6x16xi32>
// CHECK-NEXT: %7 = graph.map "i32(x0)"(%x) {graph.node = ["/m"]} : (tensor<6x8xui8>) -> tensor<6x8xi32>
// CHECK-NEXT: %8 = graph.reduce "add"(%7) {graph.node = ["/m"], axes = array<i64: 1>, keepdims = true} : (tensor<6x8xi32>) -> tensor<6x1xi32>
// CHECK-NEXT: %9 = graph.map "(x0 - (x1 * 8))"(%8, %0) {graph.node = ["/m"]} : (tensor<6x1xi32>, tensor<i32>) -> tensor<6x1xi32>
// CHECK-NEXT: %10 = graph.map "(x0 - (x1 * x2))"(%6, %9, %1) {graph.node = ["/m"]} : (tensor<6x16xi32>, tensor<6x1xi32>, tensor<16xi32>) -> tensor<6x16xi32>
// CHECK-NEXT: func.return %10 : tensor<6x16xi32>

// -----

// Scales along what is summed, and weights that are computed, stay as they are.
func.func @others(%x: tensor<6x8xui8>, %y: tensor<8x16xi8>) -> (tensor<6x16xf32>, tensor<6x16xi32>) {
  %w = graph.weight "w" : tensor<8x16xi8>
  %s = graph.weight "s" : tensor<8x1xf32>
  %0 = graph.map "f32(i32(x0)) * 0.5"(%x) : (tensor<6x8xui8>) -> tensor<6x8xf32>
  %1 = graph.map "f32(i32(x0)) * x1"(%w, %s) : (tensor<8x16xi8>, tensor<8x1xf32>) -> tensor<8x16xf32>
  %2 = graph.contract "mk,kn->mn"(%0, %1) : (tensor<6x8xf32>, tensor<8x16xf32>) -> tensor<6x16xf32>
  %3 = graph.map "i32(x0)"(%x) : (tensor<6x8xui8>) -> tensor<6x8xi32>
  %4 = graph.map "i32(x0)"(%y) : (tensor<8x16xi8>) -> tensor<8x16xi32>
  %5 = graph.contract "mk,kn->mn"(%3, %4) : (tensor<6x8xi32>, tensor<8x16xi32>) -> tensor<6x16xi32>
  func.return %2, %5 : tensor<6x16xf32>, tensor<6x16xi32>
}

// CHECK:      func.func @others(%x: tensor<6x8xui8>, %y: tensor<8x16xi8>) -> (tensor<6x16xf32>, tensor<6x16xi32>) {
// CHECK-NEXT: %w = graph.weight "w" : tensor<8x16xi8>
// CHECK-NEXT: %s = graph.weight "s" : tensor<8x1xf32>
// CHECK-NEXT: %0 = graph.map "f32(i32(x0)) * 0.5"(%x) : (tensor<6x8xui8>) -> tensor<6x8xf32>
// CHECK-NEXT: %1 = graph.map "f32(i32(x0)) * x1"(%w, %s) : (tensor<8x16xi8>, tensor<8x1xf32>) -> tensor<8x16xf32>
// CHECK-NEXT: %2 = graph.contract "mk,kn->mn"(%0, %1) : (tensor<6x8xf32>, tensor<8x16xf32>) -> tensor<6x16xf32>
// CHECK-NEXT: %3 = graph.map "i32(x0)"(%x) : (tensor<6x8xui8>) -> tensor<6x8xi32>
// CHECK-NEXT: %4 = graph.map "i32(x0)"(%y) : (tensor<8x16xi8>) -> tensor<8x16xi32>
// CHECK-NEXT: %5 = graph.contract "mk,kn->mn"(%3, %4) : (tensor<6x8xi32>, tensor<8x16xi32>) -> tensor<6x16xi32>
// CHECK-NEXT: func.return %2, %5 : tensor<6x16xf32>, tensor<6x16xi32>

// -----

// So many terms may sum to more than 31 bits: whole numbers wrap, as they did, others stay.
func.func @long(%x: tensor<2x65800xui8>) -> tensor<2x8xf32> {
  %w = graph.weight "w" : tensor<65800x8xi8>
  %0 = graph.map "f32(i32(x0)) * 0.5"(%x) : (tensor<2x65800xui8>) -> tensor<2x65800xf32>
  %1 = graph.map "f32(i32(x0)) * 0.25"(%w) : (tensor<65800x8xi8>) -> tensor<65800x8xf32>
  %2 = graph.contract "mk,kn->mn"(%0, %1) : (tensor<2x65800xf32>, tensor<65800x8xf32>) -> tensor<2x8xf32>
  func.return %2 : tensor<2x8xf32>
}

// CHECK:      func.func @long(%x: tensor<2x65800xui8>) -> tensor<2x8xf32> {
// CHECK-NEXT: %w = graph.weight "w" : tensor<65800x8xi8>
// CHECK-NEXT: %0 = graph.map "f32(i32(x0)) * 0.5"(%x) : (tensor<2x65800xui8>) -> tensor<2x65800xf32>
// CHECK-NEXT: %1 = graph.map "f32(i32(x0)) * 0.25"(%w) : (tensor<65800x8xi8>) -> tensor<65800x8xf32>
// CHECK-NEXT: %2 = graph.contract "mk,kn->mn"(%0, %1) : (tensor<2x65800xf32>, tensor<65800x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT: func.return %2 : tensor<2x8xf32>
