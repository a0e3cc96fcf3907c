// RUN: mlc-opt %s -p hoist-invariants --split-input-file | filecheck %s

// What is cheap, what varies along all dimensions, and a result that is no larger than what it reads.
func.func @main(%x: tensor<2x3xf32>, %v: tensor<2x1xf32>, %b: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x1xf32>) {
  %0 = graph.map "x0 + x1 * 2.0"(%x, %v) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %1 = graph.map "exp(x1 + x2) * x0"(%x, %v, %b) : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %2 = graph.map "exp(x0) + 1.0"(%v) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  func.return %0, %1, %2 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x1xf32>
}

// CHECK:      func.func @main(%x: tensor<2x3xf32>, %v: tensor<2x1xf32>, %b: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x1xf32>) {
// CHECK-NEXT: %0 = graph.map "x0 + x1 * 2.0"(%x, %v) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %1 = graph.map "exp(x1 + x2) * x0"(%x, %v, %b) : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %2 = graph.map "exp(x0) + 1.0"(%v) : (tensor<2x1xf32>) -> tensor<2x1xf32>
// CHECK-NEXT: func.return %0, %1, %2 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x1xf32>
