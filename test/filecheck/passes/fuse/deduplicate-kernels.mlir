// RUN: mlc-opt %s -p deduplicate-kernels --verify-diagnostics | filecheck %s

func.func @main(%x: tensor<3x5xf32>, %y: tensor<5x3xf32>) -> (tensor<3x5xf32>, tensor<5x3xf32>) {
  %0 = kernel.call @a(%x) : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %1 = kernel.call @b(%0) : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %2 = kernel.call @other_shape(%y) : (tensor<5x3xf32>) -> tensor<5x3xf32>
  func.return %1, %2 : tensor<3x5xf32>, tensor<5x3xf32>
}
kernel.func @a(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = graph.map "exp(x0)"(%x) : (tensor<3x5xf32>) -> tensor<3x5xf32>
  kernel.return %0 : tensor<3x5xf32>
}
kernel.func @b(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = graph.map "exp(x0)"(%x) : (tensor<3x5xf32>) -> tensor<3x5xf32>
  kernel.return %0 : tensor<3x5xf32>
}
kernel.func @other_shape(%x: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %0 = graph.map "exp(x0)"(%x) : (tensor<5x3xf32>) -> tensor<5x3xf32>
  kernel.return %0 : tensor<5x3xf32>
}

// CHECK:      %0 = kernel.call @a(%x) : (tensor<3x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: %1 = kernel.call @a(%0) : (tensor<3x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: %2 = kernel.call @other_shape(%y) : (tensor<5x3xf32>) -> tensor<5x3xf32>
// CHECK:      kernel.func @a(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
// CHECK:      kernel.func @other_shape(%x: tensor<5x3xf32>) -> tensor<5x3xf32> {
