// RUN: mlc-opt %s --for-target x86-64-v3 -p "lower-kernels,skip-borders" --split-input-file | filecheck %s

// A dilated window reads a border of zeros at three quarters of its taps. No condition bounds the columns below: they have
// no border there.

func.func @main(%x: tensor<1x2x8x8x8xf32>, %w: tensor<2x2x3x3x8x8xf32>) -> tensor<1x2x8x8x8xf32> {
  %p = kernel.call @pad(%x) : (tensor<1x2x8x8x8xf32>) -> tensor<1x2x20x20x8xf32>
  %y = kernel.call @conv(%p, %w) : (tensor<1x2x20x20x8xf32>, tensor<2x2x3x3x8x8xf32>) -> tensor<1x2x8x8x8xf32>
  func.return %y : tensor<1x2x8x8x8xf32>
}
kernel.func @pad(%x: tensor<1x2x8x8x8xf32>) -> tensor<1x2x20x20x8xf32> {
  %0 = graph.pad(%x) {low = ["0", "0", "6", "12", "0"], high = ["0", "0", "6", "0", "0"], interior = array<i64: 0, 0, 0, 0, 0>, value = "0"} : (tensor<1x2x8x8x8xf32>) -> tensor<1x2x20x20x8xf32>
  kernel.return %0 : tensor<1x2x20x20x8xf32>
}
kernel.func @conv(%x: tensor<1x2x20x20x8xf32>, %w: tensor<2x2x3x3x8x8xf32>) -> tensor<1x2x8x8x8xf32> {
  %0 = graph.conv(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 6, 6>, groups = 1 : i64, layouts = [#graph.layout<"aBcd8b">, #graph.layout<"ABcd8b8a">, #graph.layout<"aBcd8b">]} : (tensor<1x2x20x20x8xf32>, tensor<2x2x3x3x8x8xf32>) -> tensor<1x2x8x8x8xf32>
  kernel.return %0 : tensor<1x2x8x8x8xf32>
}

// CHECK:      kernel.func @conv
// CHECK:      poly.statement "S0"
// CHECK-SAME: conditions = ["6*k0+y0-6", "-6*k0-y0+13", "6*k1+y1-12"]

// -----

// A border of ones is none, and neither is one that another call does not have. A window of neighbours reads too few zeros.

func.func @main(%x: tensor<1x2x8x8x8xf32>, %z: tensor<1x2x20x20x8xf32>, %w: tensor<2x2x3x3x8x8xf32>) -> (tensor<1x2x8x8x8xf32>, tensor<1x2x8x8x8xf32>, tensor<1x2x8x8x8xf32>, tensor<1x2x8x8x8xf32>) {
  %o = kernel.call @ones(%x) : (tensor<1x2x8x8x8xf32>) -> tensor<1x2x20x20x8xf32>
  %p = kernel.call @zeros(%x) : (tensor<1x2x8x8x8xf32>) -> tensor<1x2x20x20x8xf32>
  %n = kernel.call @near(%x) : (tensor<1x2x8x8x8xf32>) -> tensor<1x2x10x10x8xf32>
  %0 = kernel.call @a(%o, %w) : (tensor<1x2x20x20x8xf32>, tensor<2x2x3x3x8x8xf32>) -> tensor<1x2x8x8x8xf32>
  %1 = kernel.call @b(%p, %w) : (tensor<1x2x20x20x8xf32>, tensor<2x2x3x3x8x8xf32>) -> tensor<1x2x8x8x8xf32>
  %2 = kernel.call @b(%z, %w) : (tensor<1x2x20x20x8xf32>, tensor<2x2x3x3x8x8xf32>) -> tensor<1x2x8x8x8xf32>
  %3 = kernel.call @c(%n, %w) : (tensor<1x2x10x10x8xf32>, tensor<2x2x3x3x8x8xf32>) -> tensor<1x2x8x8x8xf32>
  func.return %0, %1, %2, %3 : tensor<1x2x8x8x8xf32>, tensor<1x2x8x8x8xf32>, tensor<1x2x8x8x8xf32>, tensor<1x2x8x8x8xf32>
}
kernel.func @ones(%x: tensor<1x2x8x8x8xf32>) -> tensor<1x2x20x20x8xf32> {
  %0 = graph.pad(%x) {low = ["0", "0", "6", "6", "0"], high = ["0", "0", "6", "6", "0"], interior = array<i64: 0, 0, 0, 0, 0>, value = "1"} : (tensor<1x2x8x8x8xf32>) -> tensor<1x2x20x20x8xf32>
  kernel.return %0 : tensor<1x2x20x20x8xf32>
}
kernel.func @zeros(%x: tensor<1x2x8x8x8xf32>) -> tensor<1x2x20x20x8xf32> {
  %0 = graph.pad(%x) {low = ["0", "0", "6", "6", "0"], high = ["0", "0", "6", "6", "0"], interior = array<i64: 0, 0, 0, 0, 0>, value = "0"} : (tensor<1x2x8x8x8xf32>) -> tensor<1x2x20x20x8xf32>
  kernel.return %0 : tensor<1x2x20x20x8xf32>
}
kernel.func @near(%x: tensor<1x2x8x8x8xf32>) -> tensor<1x2x10x10x8xf32> {
  %0 = graph.pad(%x) {low = ["0", "0", "1", "1", "0"], high = ["0", "0", "1", "1", "0"], interior = array<i64: 0, 0, 0, 0, 0>, value = "0"} : (tensor<1x2x8x8x8xf32>) -> tensor<1x2x10x10x8xf32>
  kernel.return %0 : tensor<1x2x10x10x8xf32>
}
kernel.func @a(%x: tensor<1x2x20x20x8xf32>, %w: tensor<2x2x3x3x8x8xf32>) -> tensor<1x2x8x8x8xf32> {
  %0 = graph.conv(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 6, 6>, groups = 1 : i64, layouts = [#graph.layout<"aBcd8b">, #graph.layout<"ABcd8b8a">, #graph.layout<"aBcd8b">]} : (tensor<1x2x20x20x8xf32>, tensor<2x2x3x3x8x8xf32>) -> tensor<1x2x8x8x8xf32>
  kernel.return %0 : tensor<1x2x8x8x8xf32>
}
kernel.func @b(%x: tensor<1x2x20x20x8xf32>, %w: tensor<2x2x3x3x8x8xf32>) -> tensor<1x2x8x8x8xf32> {
  %0 = graph.conv(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 6, 6>, groups = 1 : i64, layouts = [#graph.layout<"aBcd8b">, #graph.layout<"ABcd8b8a">, #graph.layout<"aBcd8b">]} : (tensor<1x2x20x20x8xf32>, tensor<2x2x3x3x8x8xf32>) -> tensor<1x2x8x8x8xf32>
  kernel.return %0 : tensor<1x2x8x8x8xf32>
}
kernel.func @c(%x: tensor<1x2x10x10x8xf32>, %w: tensor<2x2x3x3x8x8xf32>) -> tensor<1x2x8x8x8xf32> {
  %0 = graph.conv(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, layouts = [#graph.layout<"aBcd8b">, #graph.layout<"ABcd8b8a">, #graph.layout<"aBcd8b">]} : (tensor<1x2x10x10x8xf32>, tensor<2x2x3x3x8x8xf32>) -> tensor<1x2x8x8x8xf32>
  kernel.return %0 : tensor<1x2x8x8x8xf32>
}

// CHECK:     func.func @main
// CHECK-NOT: conditions
