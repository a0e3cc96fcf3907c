// RUN: mlc-opt %s -p hoist-invariants --verify-diagnostics --split-input-file | filecheck %s

// Only the largest expensive parts that are the same along a dimension get a map of their own.

func.func @cheap_or_full(%x: tensor<2x3xf32>, %v: tensor<2x1xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = graph.map "x0 * (x1 + 1.0)"(%x, %v) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %1 = graph.map "x0 / exp(x0 + x1)"(%x, %v) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  func.return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK:      func.func @cheap_or_full(%x: tensor<2x3xf32>, %v: tensor<2x1xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
// CHECK-NEXT: %0 = graph.map "x0 * (x1 + 1.0)"(%x, %v) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %1 = graph.map "x0 / exp(x0 + x1)"(%x, %v) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: func.return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>

// -----

func.func @two_parts(%x: tensor<2x3xf32>, %v: tensor<2x1xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = graph.map "x0 * exp(x1) + sqrt(x2) / (x2 + 3.0)"(%x, %v, %b) {graph.node = ["/n"]} : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}

// CHECK:      func.func @two_parts(%x: tensor<2x3xf32>, %v: tensor<2x1xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT: %0 = graph.map "exp(x0)"(%v) {graph.node = ["/n"]} : (tensor<2x1xf32>) -> tensor<2x1xf32>
// CHECK-NEXT: %1 = graph.map "(sqrt(x0) / (x0 + 3.0))"(%b) {graph.node = ["/n"]} : (tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT: %2 = graph.map "((x0 * x1) + x2)"(%x, %0, %1) {graph.node = ["/n"]} : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: func.return %2 : tensor<2x3xf32>
