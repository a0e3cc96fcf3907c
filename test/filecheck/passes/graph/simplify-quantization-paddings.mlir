// RUN: mlc-opt %s -p 'simplify-quantization' --split-input-file | filecheck %s

// A padding of zeros is more than any negative number: of dequantized bytes it is no padding of a maximum.
func.func @zeros(%x: tensor<1x4x6x6xi8>) -> tensor<1x4x3x3xf32> {
  %0 = graph.map "f32(i32(x0) - 3) * 0.5"(%x) : (tensor<1x4x6x6xi8>) -> tensor<1x4x6x6xf32>
  %1 = graph.pad(%0) {low = ["0", "0", "0", "0"], high = ["0", "0", "1", "1"], interior = array<i64: 0, 0, 0, 0>, value = "0"} : (tensor<1x4x6x6xf32>) -> tensor<1x4x7x7xf32>
  %2 = graph.pool "max"(%1) {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>} : (tensor<1x4x7x7xf32>) -> tensor<1x4x3x3xf32>
  func.return %2 : tensor<1x4x3x3xf32>
}

// CHECK:      func.func @zeros(%x: tensor<1x4x6x6xi8>) -> tensor<1x4x3x3xf32> {
// CHECK-NEXT: %0 = graph.map "f32(i32(x0) - 3) * 0.5"(%x) : (tensor<1x4x6x6xi8>) -> tensor<1x4x6x6xf32>
// CHECK-NEXT: %1 = graph.pad(%0) {low = ["0", "0", "0", "0"], high = ["0", "0", "1", "1"], interior = array<i64: 0, 0, 0, 0>, value = "0"} : (tensor<1x4x6x6xf32>) -> tensor<1x4x7x7xf32>
// CHECK-NEXT: %2 = graph.pool "max"(%1) {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>} : (tensor<1x4x7x7xf32>) -> tensor<1x4x3x3xf32>
// CHECK-NEXT: func.return %2 : tensor<1x4x3x3xf32>

// -----

func.func @another_number(%x: tensor<1x4x6x6xi8>) -> tensor<1x4x3x3xf32> {
  %0 = graph.map "f32(i32(x0) - 3) * 0.5"(%x) : (tensor<1x4x6x6xi8>) -> tensor<1x4x6x6xf32>
  %1 = graph.pad(%0) {low = ["0", "0", "0", "0"], high = ["0", "0", "1", "1"], interior = array<i64: 0, 0, 0, 0>, value = "-9"} : (tensor<1x4x6x6xf32>) -> tensor<1x4x7x7xf32>
  %2 = graph.pool "max"(%1) {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>} : (tensor<1x4x7x7xf32>) -> tensor<1x4x3x3xf32>
  func.return %2 : tensor<1x4x3x3xf32>
}

// CHECK:      func.func @another_number(%x: tensor<1x4x6x6xi8>) -> tensor<1x4x3x3xf32> {
// CHECK-NEXT: %0 = graph.map "f32(i32(x0) - 3) * 0.5"(%x) : (tensor<1x4x6x6xi8>) -> tensor<1x4x6x6xf32>
// CHECK-NEXT: %1 = graph.pad(%0) {low = ["0", "0", "0", "0"], high = ["0", "0", "1", "1"], interior = array<i64: 0, 0, 0, 0>, value = "-9"} : (tensor<1x4x6x6xf32>) -> tensor<1x4x7x7xf32>
// CHECK-NEXT: %2 = graph.pool "max"(%1) {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>} : (tensor<1x4x7x7xf32>) -> tensor<1x4x3x3xf32>
// CHECK-NEXT: func.return %2 : tensor<1x4x3x3xf32>

// -----

// The largest of negative multiples is of the smallest byte.
func.func @negative_scale(%x: tensor<1x4x6x6xi8>) -> tensor<1x4x4x4xf32> {
  %0 = graph.map "f32(i32(x0) - 3) * -0.5"(%x) : (tensor<1x4x6x6xi8>) -> tensor<1x4x6x6xf32>
  %1 = graph.pool "max"(%0) {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x4x6x6xf32>) -> tensor<1x4x4x4xf32>
  func.return %1 : tensor<1x4x4x4xf32>
}

// CHECK:      func.func @negative_scale(%x: tensor<1x4x6x6xi8>) -> tensor<1x4x4x4xf32> {
// CHECK-NEXT: %0 = graph.map "f32(i32(x0) - 3) * -0.5"(%x) : (tensor<1x4x6x6xi8>) -> tensor<1x4x6x6xf32>
// CHECK-NEXT: %1 = graph.pool "max"(%0) {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x4x6x6xf32>) -> tensor<1x4x4x4xf32>
// CHECK-NEXT: func.return %1 : tensor<1x4x4x4xf32>

// -----

func.func @scale_and_zero_of_run_time(%x: tensor<1x4x6x6xi8>, %scale: tensor<f32>, %zero: tensor<i32>) -> (tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>) {
  %0 = graph.map "f32(i32(x0) - 3) * x1"(%x, %scale) : (tensor<1x4x6x6xi8>, tensor<f32>) -> tensor<1x4x6x6xf32>
  %1 = graph.pool "max"(%0) {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x4x6x6xf32>) -> tensor<1x4x4x4xf32>
  %2 = graph.map "f32(i32(x0) - x1) * 0.5"(%x, %zero) : (tensor<1x4x6x6xi8>, tensor<i32>) -> tensor<1x4x6x6xf32>
  %3 = graph.pool "max"(%2) {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x4x6x6xf32>) -> tensor<1x4x4x4xf32>
  func.return %1, %3 : tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>
}

// CHECK:      func.func @scale_and_zero_of_run_time(%x: tensor<1x4x6x6xi8>, %scale: tensor<f32>, %zero: tensor<i32>) -> (tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>) {
// CHECK-NEXT: %0 = graph.map "f32(i32(x0) - 3) * x1"(%x, %scale) : (tensor<1x4x6x6xi8>, tensor<f32>) -> tensor<1x4x6x6xf32>
// CHECK-NEXT: %1 = graph.pool "max"(%0) {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x4x6x6xf32>) -> tensor<1x4x4x4xf32>
// CHECK-NEXT: %2 = graph.map "f32(i32(x0) - x1) * 0.5"(%x, %zero) : (tensor<1x4x6x6xi8>, tensor<i32>) -> tensor<1x4x6x6xf32>
// CHECK-NEXT: %3 = graph.pool "max"(%2) {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x4x6x6xf32>) -> tensor<1x4x4x4xf32>
// CHECK-NEXT: func.return %1, %3 : tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>

// -----

// A sum does not commute with the subtraction of a zero point.
func.func @sum(%x: tensor<1x4x6x6xi8>) -> tensor<1x4x4x4xf32> {
  %0 = graph.map "f32(i32(x0) - 3) * 0.5"(%x) : (tensor<1x4x6x6xi8>) -> tensor<1x4x6x6xf32>
  %1 = graph.pool "add"(%0) {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x4x6x6xf32>) -> tensor<1x4x4x4xf32>
  func.return %1 : tensor<1x4x4x4xf32>
}

// CHECK:      func.func @sum(%x: tensor<1x4x6x6xi8>) -> tensor<1x4x4x4xf32> {
// CHECK-NEXT: %0 = graph.map "f32(i32(x0) - 3) * 0.5"(%x) : (tensor<1x4x6x6xi8>) -> tensor<1x4x6x6xf32>
// CHECK-NEXT: %1 = graph.pool "add"(%0) {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x4x6x6xf32>) -> tensor<1x4x4x4xf32>
// CHECK-NEXT: func.return %1 : tensor<1x4x4x4xf32>

// -----

// What also reads the dequantized bytes still does.
func.func @another_user(%x: tensor<1x4x6x6xui8>) -> (tensor<1x4x4x4xf32>, tensor<1x4x6x6xf32>) {
  %0 = graph.map "f32(i32(x0) - 3) * 0.5"(%x) : (tensor<1x4x6x6xui8>) -> tensor<1x4x6x6xf32>
  %1 = graph.pool "max"(%0) {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x4x6x6xf32>) -> tensor<1x4x4x4xf32>
  %2 = graph.map "exp(x0)"(%0) : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  func.return %1, %2 : tensor<1x4x4x4xf32>, tensor<1x4x6x6xf32>
}

// CHECK:      func.func @another_user(%x: tensor<1x4x6x6xui8>) -> (tensor<1x4x4x4xf32>, tensor<1x4x6x6xf32>) {
// CHECK-NEXT: %0 = graph.map "f32(i32(x0) - 3) * 0.5"(%x) : (tensor<1x4x6x6xui8>) -> tensor<1x4x6x6xf32>
// CHECK-NEXT: %1 = graph.pool "max"(%x) {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x4x6x6xui8>) -> tensor<1x4x4x4xui8>
// CHECK-NEXT: %2 = graph.map "(f32((i32(x0) - 3)) * 0.5)"(%1) : (tensor<1x4x4x4xui8>) -> tensor<1x4x4x4xf32>
// CHECK-NEXT: %3 = graph.map "exp(x0)"(%0) : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
// CHECK-NEXT: func.return %2, %3 : tensor<1x4x4x4xf32>, tensor<1x4x6x6xf32>

// -----

// Quantized again with the same scale and zero point: the same bytes. Padded with zeros: bytes padded with 3.
func.func @the_same_bytes(%x: tensor<4xi8>) -> (tensor<4xi8>, tensor<6xi8>) {
  %0 = graph.map "f32(i32(x0) - 3) * 0.5"(%x) : (tensor<4xi8>) -> tensor<4xf32>
  %1 = graph.map "round(x0 / 0.5)"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.map "x0 + f32(3)"(%1) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.map "i8(min(max(x0, -128), 127))"(%2) : (tensor<4xf32>) -> tensor<4xi8>
  %4 = graph.pad(%0) {low = ["1"], high = ["1"], interior = array<i64: 0>, value = "0"} : (tensor<4xf32>) -> tensor<6xf32>
  %5 = graph.map "round(x0 / 0.5)"(%4) : (tensor<6xf32>) -> tensor<6xf32>
  %6 = graph.map "x0 + f32(3)"(%5) : (tensor<6xf32>) -> tensor<6xf32>
  %7 = graph.map "i8(min(max(x0, -128), 127))"(%6) : (tensor<6xf32>) -> tensor<6xi8>
  func.return %3, %7 : tensor<4xi8>, tensor<6xi8>
}

// CHECK:      func.func @the_same_bytes(%x: tensor<4xi8>) -> (tensor<4xi8>, tensor<6xi8>) {
// CHECK-NEXT: %0 = graph.pad(%x) {low = ["1"], high = ["1"], interior = array<i64: 0>, value = "3"} : (tensor<4xi8>) -> tensor<6xi8>
// CHECK-NEXT: func.return %x, %0 : tensor<4xi8>, tensor<6xi8>

// -----

// Padded with another number, saturated at another byte, or of the other sign: other bytes.
func.func @other_bytes(%x: tensor<4xi8>, %y: tensor<4xf32>) -> (tensor<6xi8>, tensor<4xi8>, tensor<4xi8>) {
  %0 = graph.map "f32(i32(x0)) * 0.5"(%x) : (tensor<4xi8>) -> tensor<4xf32>
  %1 = graph.pad(%0) {low = ["1"], high = ["1"], interior = array<i64: 0>, value = "1"} : (tensor<4xf32>) -> tensor<6xf32>
  %2 = graph.map "round(x0 / 0.5)"(%1) : (tensor<6xf32>) -> tensor<6xf32>
  %3 = graph.map "i8(min(max(x0, -128), 127))"(%2) : (tensor<6xf32>) -> tensor<6xi8>
  %4 = graph.map "x0 + x1"(%0, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %5 = graph.map "round(x0 / 0.5)"(%4) : (tensor<4xf32>) -> tensor<4xf32>
  %6 = graph.map "i8(min(max(x0, -128), 127))"(%5) : (tensor<4xf32>) -> tensor<4xi8>
  %7 = graph.map "f32(i32(x0)) * -0.5"(%x) : (tensor<4xi8>) -> tensor<4xf32>
  %8 = graph.map "round(x0 / -0.5)"(%7) : (tensor<4xf32>) -> tensor<4xf32>
  %9 = graph.map "i8(min(max(x0, -128), 127))"(%8) : (tensor<4xf32>) -> tensor<4xi8>
  func.return %3, %6, %9 : tensor<6xi8>, tensor<4xi8>, tensor<4xi8>
}

// CHECK:      func.func @other_bytes(%x: tensor<4xi8>, %y: tensor<4xf32>) -> (tensor<6xi8>, tensor<4xi8>, tensor<4xi8>) {
// CHECK-NEXT: %0 = graph.map "f32(i32(x0)) * 0.5"(%x) : (tensor<4xi8>) -> tensor<4xf32>
// CHECK-NEXT: %1 = graph.pad(%0) {low = ["1"], high = ["1"], interior = array<i64: 0>, value = "1"} : (tensor<4xf32>) -> tensor<6xf32>
// CHECK-NEXT: %2 = graph.map "round((x0 * 2.0))"(%1) : (tensor<6xf32>) -> tensor<6xf32>
// CHECK-NEXT: %3 = graph.map "i8(min(max(x0, -128), 127))"(%2) : (tensor<6xf32>) -> tensor<6xi8>
// CHECK-NEXT: %4 = graph.map "x0 + x1"(%0, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %5 = graph.map "round((x0 * 2.0))"(%4) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %6 = graph.map "i8(min(max(x0, -128), 127))"(%5) : (tensor<4xf32>) -> tensor<4xi8>
// CHECK-NEXT: %7 = graph.map "f32(i32(x0)) * -0.5"(%x) : (tensor<4xi8>) -> tensor<4xf32>
// CHECK-NEXT: %8 = graph.map "round((x0 * -2.0))"(%7) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %9 = graph.map "i8(min(max(x0, -128), 127))"(%8) : (tensor<4xf32>) -> tensor<4xi8>
// CHECK-NEXT: func.return %3, %6, %9 : tensor<6xi8>, tensor<4xi8>, tensor<4xi8>

// -----

// The same scale and another zero point.
func.func @other_zero(%x: tensor<4xi8>) -> tensor<4xi8> {
  %0 = graph.map "f32(i32(x0) - 3) * 0.5"(%x) : (tensor<4xi8>) -> tensor<4xf32>
  %1 = graph.map "round(x0 / 0.5)"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.map "x0 + f32(4)"(%1) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.map "i8(min(max(x0, -128), 127))"(%2) : (tensor<4xf32>) -> tensor<4xi8>
  func.return %3 : tensor<4xi8>
}

// CHECK:      func.func @other_zero(%x: tensor<4xi8>) -> tensor<4xi8> {
// CHECK-NEXT: %0 = graph.map "f32(i32(x0) - 3) * 0.5"(%x) : (tensor<4xi8>) -> tensor<4xf32>
// CHECK-NEXT: %1 = graph.map "round((x0 * 2.0))"(%0) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %2 = graph.map "x0 + f32(4)"(%1) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %3 = graph.map "i8(min(max(x0, -128), 127))"(%2) : (tensor<4xf32>) -> tensor<4xi8>
// CHECK-NEXT: func.return %3 : tensor<4xi8>
