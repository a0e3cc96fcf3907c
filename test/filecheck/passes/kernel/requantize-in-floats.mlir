// RUN: mlc-opt %s -p 'requantize-in-floats' --split-input-file | filecheck %s

func.func @main(%x: tensor<8xf32>, %y: tensor<8xi8>) -> (tensor<8xf32>, tensor<8xui8>, tensor<8xf32>) {
  %0 = graph.map "f32(i32(i8(min(max((round(x0 * 8.0) + f32(3)), -128), 127))) - 3) * 0.125"(%x) {graph.node = ["/q"]} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = graph.map "ui8(i32(i8(min(max(round(x0), -128), 127))) + 128)"(%x) : (tensor<8xf32>) -> tensor<8xui8>
  %2 = graph.map "f32(i32(x0) - 3) * 0.125"(%y) : (tensor<8xi8>) -> tensor<8xf32>
  func.return %0, %1, %2 : tensor<8xf32>, tensor<8xui8>, tensor<8xf32>
}

// CHECK:      func.func @main(%x: tensor<8xf32>, %y: tensor<8xi8>) -> (tensor<8xf32>, tensor<8xui8>, tensor<8xf32>) {
// CHECK-NEXT: %0 = graph.map "(min(max((round((x0 * 8.0)) + 0.0), -131.0), 124.0) * 0.125)"(%x) {graph.node = ["/q"]} : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %1 = graph.map "ui8(min(max((round(x0) + 128.0), 0.0), 255.0))"(%x) : (tensor<8xf32>) -> tensor<8xui8>
// CHECK-NEXT: %2 = graph.map "f32(i32(x0) - 3) * 0.125"(%y) : (tensor<8xi8>) -> tensor<8xf32>
// CHECK-NEXT: func.return %0, %1, %2 : tensor<8xf32>, tensor<8xui8>, tensor<8xf32>
