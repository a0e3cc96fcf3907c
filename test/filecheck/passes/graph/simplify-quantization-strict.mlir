// RUN: mlc-opt %s -p 'simplify-quantization{numerics=strict}' --split-input-file | filecheck %s

func.func @main(%x: tensor<1x4x6x6xi8>, %y: tensor<8xf32>) -> (tensor<1x4x3x3xi8>, tensor<8xf32>, tensor<8xf32>) {
  %0 = graph.map "i32(x0) - i32(-3)"(%x) : (tensor<1x4x6x6xi8>) -> tensor<1x4x6x6xi32>
  %1 = graph.map "f32(x0) * 0.1"(%0) : (tensor<1x4x6x6xi32>) -> tensor<1x4x6x6xf32>
  %2 = graph.pad(%1) {low = ["0", "0", "0", "0"], high = ["0", "0", "1", "1"], interior = array<i64: 0, 0, 0, 0>, value = "-inf"} : (tensor<1x4x6x6xf32>) -> tensor<1x4x7x7xf32>
  %3 = graph.pool "max"(%2) {graph.node = ["/pool"], kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>} : (tensor<1x4x7x7xf32>) -> tensor<1x4x3x3xf32>
  %4 = graph.map "round(x0 / 0.1)"(%3) {graph.node = ["/q"]} : (tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  %5 = graph.map "x0 + f32(-3)"(%4) {graph.node = ["/q"]} : (tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  %6 = graph.map "i8(min(max(x0, -128), 127))"(%5) {graph.node = ["/q"]} : (tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xi8>
  %7 = graph.map "exp(x0)"(%y) : (tensor<8xf32>) -> tensor<8xf32>
  %8 = graph.map "round(x0 / 0.1)"(%7) : (tensor<8xf32>) -> tensor<8xf32>
  %9 = graph.map "round(x0 / 0.1)"(%y) : (tensor<8xf32>) -> tensor<8xf32>
  func.return %6, %8, %9 : tensor<1x4x3x3xi8>, tensor<8xf32>, tensor<8xf32>
}

// CHECK:      func.func @main(%x: tensor<1x4x6x6xi8>, %y: tensor<8xf32>) -> (tensor<1x4x3x3xi8>, tensor<8xf32>, tensor<8xf32>) {
// CHECK-NEXT: %0 = graph.pad(%x) {graph.node = ["/pool"], low = ["0", "0", "0", "0"], high = ["0", "0", "1", "1"], interior = array<i64: 0, 0, 0, 0>, value = "-128"} : (tensor<1x4x6x6xi8>) -> tensor<1x4x7x7xi8>
// CHECK-NEXT: %1 = graph.pool "max"(%0) {graph.node = ["/pool"], kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>} : (tensor<1x4x7x7xi8>) -> tensor<1x4x3x3xi8>
// CHECK-NEXT: %2 = graph.map "(f32((i32(x0) - -3)) * 0.10000000149011612)"(%1) {graph.node = ["/pool"]} : (tensor<1x4x3x3xi8>) -> tensor<1x4x3x3xf32>
// CHECK-NEXT: %3 = graph.map "round(x0 / 0.1)"(%2) {graph.node = ["/q"]} : (tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
// CHECK-NEXT: %4 = graph.map "x0 + f32(-3)"(%3) {graph.node = ["/q"]} : (tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
// CHECK-NEXT: %5 = graph.map "i8(min(max(x0, -128), 127))"(%4) {graph.node = ["/q"]} : (tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xi8>
// CHECK-NEXT: %6 = graph.map "exp(x0)"(%y) : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %7 = graph.map "round(x0 / 0.1)"(%6) : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %8 = graph.map "round(x0 / 0.1)"(%y) : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: func.return %5, %7, %8 : tensor<1x4x3x3xi8>, tensor<8xf32>, tensor<8xf32>

// -----

// Another scale or zero point stays.
func.func @others(%x: tensor<4xi8>) -> (tensor<4xi8>, tensor<4xi8>) {
  %0 = graph.map "f32(i32(x0) - 3) * 0.1"(%x) : (tensor<4xi8>) -> tensor<4xf32>
  %1 = graph.map "round(x0 / 0.2)"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.map "x0 + f32(3)"(%1) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.map "i8(min(max(x0, -128), 127))"(%2) : (tensor<4xf32>) -> tensor<4xi8>
  %4 = graph.map "round(x0 / 0.1)"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %5 = graph.map "i8(min(max(x0, -128), 127))"(%4) : (tensor<4xf32>) -> tensor<4xi8>
  func.return %3, %5 : tensor<4xi8>, tensor<4xi8>
}

// CHECK:      func.func @others(%x: tensor<4xi8>) -> (tensor<4xi8>, tensor<4xi8>) {
// CHECK-NEXT: %0 = graph.map "f32(i32(x0) - 3) * 0.1"(%x) : (tensor<4xi8>) -> tensor<4xf32>
// CHECK-NEXT: %1 = graph.map "round(x0 / 0.2)"(%0) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %2 = graph.map "x0 + f32(3)"(%1) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %3 = graph.map "i8(min(max(x0, -128), 127))"(%2) : (tensor<4xf32>) -> tensor<4xi8>
// CHECK-NEXT: %4 = graph.map "round(x0 / 0.1)"(%0) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %5 = graph.map "i8(min(max(x0, -128), 127))"(%4) : (tensor<4xf32>) -> tensor<4xi8>
// CHECK-NEXT: func.return %3, %5 : tensor<4xi8>, tensor<4xi8>
