// RUN: mlc-opt %s -p 'fuse-maps{operands=3}' --verify-diagnostics | filecheck %s
// RUN: mlc-opt %s -p fuse-maps --verify-diagnostics | filecheck %s --check-prefix MANY

// A fused map has at most so many operands.

func.func @main(%a: tensor<3xf32>, %b: tensor<3xf32>, %c: tensor<3xf32>, %d: tensor<3xf32>) -> tensor<3xf32> {
  %0 = graph.map "x0 + x1"(%a, %b) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %1 = graph.map "x0 * x1"(%0, %c) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %2 = graph.map "x0 - x1"(%1, %d) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return %2 : tensor<3xf32>
}

// CHECK:      func.func @main(
// CHECK-NEXT: %0 = graph.map "((x1 + x2) * x0)"(%c, %a, %b)
// CHECK-NEXT: %1 = graph.map "x0 - x1"(%0, %d)
// CHECK-NEXT: func.return %1 : tensor<3xf32>

// MANY:      func.func @main(
// MANY-NEXT: %0 = graph.map "(((x2 + x3) * x1) - x0)"(%d, %c, %a, %b)
// MANY-NEXT: func.return %0 : tensor<3xf32>
