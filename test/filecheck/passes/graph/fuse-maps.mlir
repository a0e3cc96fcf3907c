// RUN: mlc-opt %s -p fuse-maps --split-input-file | filecheck %s

func.func @main(%x: tensor<2x3xf32>, %bias: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = graph.map "x0 + x1"(%x, %bias) {graph.node = ["/add"]} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = graph.map "max(x0, 0)"(%0) {graph.node = ["/relu"]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// CHECK:      func.func @main(%x: tensor<2x3xf32>, %bias: tensor<3xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT: %0 = graph.map "max((x0 + x1), 0)"(%x, %bias) {graph.node = ["/add", "/relu"]} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: func.return %0 : tensor<2x3xf32>

// -----

func.func @expensive_and_stretched(%x: tensor<2x3xf32>, %v: tensor<2x1xf32>) -> tensor<2x3xf32> {
  %0 = graph.map "rsqrt(x0)"(%v) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %1 = graph.map "x0 * x1"(%x, %0) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// CHECK:      func.func @expensive_and_stretched(%x: tensor<2x3xf32>, %v: tensor<2x1xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT: %0 = graph.map "rsqrt(x0)"(%v) : (tensor<2x1xf32>) -> tensor<2x1xf32>
// CHECK-NEXT: %1 = graph.map "x0 * x1"(%x, %0) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: func.return %1 : tensor<2x3xf32>
