// RUN: mlc-opt %s -p delay-updates --verify-diagnostics --split-input-file | filecheck %s

// The update of %p runs after the kernel that reads %p; a kernel that reads the update stays after it.

func.func @main(%p: tensor<4xf32>, %g: tensor<4xf32>) -> (tensor<4xf32> {graph.alias = 0 : i64}, tensor<4xf32>, tensor<4xf32>) {
  %0 = kernel.call @update(%p, %g) {graph.node = ["a"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.reshape(%p) {graph.node = ["b"], shape = ["2", "2"]} : (tensor<4xf32>) -> tensor<2x2xf32>
  %2 = kernel.call @read(%1) {graph.node = ["c"]} : (tensor<2x2xf32>) -> tensor<4xf32>
  %3 = kernel.call @other(%0) {graph.node = ["d"]} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
kernel.func @update(%p: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.map "(x0 - x1)"(%p, %g) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  kernel.return %0 : tensor<4xf32>
}
kernel.func @read(%p: tensor<2x2xf32>) -> tensor<4xf32> {
  %0 = graph.reshape(%p) {shape = ["4"]} : (tensor<2x2xf32>) -> tensor<4xf32>
  kernel.return %0 : tensor<4xf32>
}
kernel.func @other(%p: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.map "exp(x0)"(%p) : (tensor<4xf32>) -> tensor<4xf32>
  kernel.return %0 : tensor<4xf32>
}

// CHECK:      %0 = graph.reshape(%p)
// CHECK-NEXT: %1 = kernel.call @read(%0)
// CHECK-NEXT: %2 = kernel.call @update(%p, %g)
// CHECK-NEXT: %3 = kernel.call @other(%2)
// CHECK-NEXT: func.return %2, %1, %3

// -----

// A reader that depends on the update keeps the order as it is.

func.func @main(%p: tensor<4xf32>) -> (tensor<4xf32> {graph.alias = 0 : i64}, tensor<4xf32>) {
  %0 = kernel.call @update(%p) {graph.node = ["a"]} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = kernel.call @both(%0, %p) {graph.node = ["b"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
kernel.func @update(%p: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.map "exp(x0)"(%p) : (tensor<4xf32>) -> tensor<4xf32>
  kernel.return %0 : tensor<4xf32>
}
kernel.func @both(%p: tensor<4xf32>, %q: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.map "(x0 - x1)"(%p, %q) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  kernel.return %0 : tensor<4xf32>
}

// CHECK:      %0 = kernel.call @update(%p)
// CHECK-NEXT: %1 = kernel.call @both(%0, %p)
