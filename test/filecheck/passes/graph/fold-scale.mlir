// RUN: mlc-opt %s -p fold-scale | filecheck %s
// RUN: mlc-opt %s -p 'fold-scale{numerics="strict"}' | filecheck %s --check-prefix STRICT

func.func @main(%x: tensor<1x2x5xf32>) -> tensor<1x4x4xf32> {
  %w = graph.weight "w" : tensor<4x2x2xf32>
  %0 = graph.conv(%x, %w) {graph.node = ["/conv"], strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x2x5xf32>, tensor<4x2x2xf32>) -> tensor<1x4x4xf32>
  %mean = graph.weight "mean" : tensor<4x1xf32>
  %scale = graph.weight "scale" : tensor<4x1xf32>
  %1 = graph.map "(x0 - x1) * x2"(%0, %mean, %scale) {graph.node = ["/norm"]} : (tensor<1x4x4xf32>, tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<1x4x4xf32>
  %2 = graph.map "max(x0, 0)"(%1) {graph.node = ["/relu"]} : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  func.return %2 : tensor<1x4x4xf32>
}

// STRICT: graph.conv(%x, %w)
// STRICT: graph.map "(x0 - x1) * x2"

// CHECK:      func.func @main(%x: tensor<1x2x5xf32>) -> tensor<1x4x4xf32> {
// CHECK-NEXT: %w = graph.weight "w" : tensor<4x2x2xf32>
// CHECK-NEXT: %mean = graph.weight "mean" : tensor<4x1xf32>
// CHECK-NEXT: %scale = graph.weight "scale" : tensor<4x1xf32>
// CHECK-NEXT: %0 = graph.map "x0"(%scale) {graph.node = ["/conv", "/norm"]} : (tensor<4x1xf32>) -> tensor<4x1xf32>
// CHECK-NEXT: %1 = graph.reshape(%0) {graph.node = ["/conv", "/norm"], shape = ["4", "1", "1"]} : (tensor<4x1xf32>) -> tensor<4x1x1xf32>
// CHECK-NEXT: %2 = graph.map "(x0 * x1)"(%w, %1) {graph.node = ["/conv", "/norm"]} : (tensor<4x2x2xf32>, tensor<4x1x1xf32>) -> tensor<4x2x2xf32>
// CHECK-NEXT: %3 = graph.conv(%x, %2) {graph.node = ["/conv"], strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x2x5xf32>, tensor<4x2x2xf32>) -> tensor<1x4x4xf32>
// CHECK-NEXT: %4 = graph.map "(neg(x0) * x1)"(%mean, %scale) {graph.node = ["/norm"]} : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
// CHECK-NEXT: %5 = graph.map "(x0 + x1)"(%3, %4) {graph.node = ["/norm"]} : (tensor<1x4x4xf32>, tensor<4x1xf32>) -> tensor<1x4x4xf32>
// CHECK-NEXT: %6 = graph.map "max(x0, 0)"(%5) {graph.node = ["/relu"]} : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
// CHECK-NEXT: func.return %6 : tensor<1x4x4xf32>
