// RUN: mlc-opt %s -p hoist-invariants | filecheck %s

func.func @main(%x: tensor<2x3xf32>, %v: tensor<2x1xf32>) -> tensor<2x3xf32> {
  %0 = graph.map "(x0 - x1) * rsqrt(x1 + 1.0)"(%x, %v) {graph.node = ["/norm"]} : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}

// CHECK:      func.func @main(%x: tensor<2x3xf32>, %v: tensor<2x1xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT: %0 = graph.map "rsqrt((x0 + 1.0))"(%v) {graph.node = ["/norm"]} : (tensor<2x1xf32>) -> tensor<2x1xf32>
// CHECK-NEXT: %1 = graph.map "((x0 - x1) * x2)"(%x, %v, %0) {graph.node = ["/norm"]} : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: func.return %1 : tensor<2x3xf32>
