// RUN: mlc-opt %s -p scale-weights --split-input-file | filecheck %s
// RUN: mlc-opt %s -p 'scale-weights{numerics=strict}' --split-input-file | filecheck %s --check-prefix STRICT

// Two blocks of four channels, gated: the weight has 48 elements and the image 288. What the gate is made of stays apart.

func.func @blocked(%x: tensor<1x2x6x6x4xf32>, %g: tensor<1x2x1x1x4xf32>, %w: tensor<1x2x1x4x6xf32>) -> tensor<1x1x36x6xf32> {
  %m = graph.map "x0 * sigmoid(x1) * 2.0"(%x, %g) {graph.node = ["/gate"]} : (tensor<1x2x6x6x4xf32>, tensor<1x2x1x1x4xf32>) -> tensor<1x2x6x6x4xf32>
  %r = graph.reshape(%m) {shape = ["1", "2", "36", "4"]} : (tensor<1x2x6x6x4xf32>) -> tensor<1x2x36x4xf32>
  %y = graph.conv(%r, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64, layouts = [#graph.layout<"aBc4b">, #graph.layout<"ABc4b6a">, #graph.layout<"aBc6b">]} : (tensor<1x2x36x4xf32>, tensor<1x2x1x4x6xf32>) -> tensor<1x1x36x6xf32>
  func.return %y : tensor<1x1x36x6xf32>
}

// CHECK:      func.func @blocked
// CHECK-NEXT: %0 = graph.map "(sigmoid(x0) * 2.0)"(%g) {graph.node = ["/gate"]} : (tensor<1x2x1x1x4xf32>) -> tensor<1x2x1x1x4xf32>
// CHECK-NEXT: %1 = graph.reshape(%0) {graph.node = ["/gate"], shape = ["1", "2", "1", "4", "1"]} : (tensor<1x2x1x1x4xf32>) -> tensor<1x2x1x4x1xf32>
// CHECK-NEXT: %2 = graph.map "(x0 * x1)"(%w, %1) {graph.node = ["/gate"]} : (tensor<1x2x1x4x6xf32>, tensor<1x2x1x4x1xf32>) -> tensor<1x2x1x4x6xf32>
// CHECK-NEXT: %3 = graph.reshape(%x) {graph.node = ["/gate"], shape = ["1", "2", "36", "4"]} : (tensor<1x2x6x6x4xf32>) -> tensor<1x2x36x4xf32>
// CHECK-NEXT: %y = graph.conv(%3, %2)
// CHECK-NEXT: func.return

// STRICT:      func.func @blocked
// STRICT-NEXT: %m = graph.map "x0 * sigmoid(x1) * 2.0"(%x, %g)
// STRICT-NEXT: %r = graph.reshape(%m)
// STRICT-NEXT: %y = graph.conv(%r, %w)

// -----

// Plain channels, and a window of several positions.

func.func @plain(%x: tensor<1x3x9x9xf32>, %g: tensor<1x3x1x1xf32>, %w: tensor<2x3x3x3xf32>) -> tensor<1x2x7x7xf32> {
  %m = graph.map "x0 * x1"(%g, %x) : (tensor<1x3x1x1xf32>, tensor<1x3x9x9xf32>) -> tensor<1x3x9x9xf32>
  %y = graph.conv(%m, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x9x9xf32>, tensor<2x3x3x3xf32>) -> tensor<1x2x7x7xf32>
  func.return %y : tensor<1x2x7x7xf32>
}

// CHECK:      func.func @plain
// CHECK:      %[[G:.*]] = graph.reshape(%{{.*}}) {shape = ["1", "3", "1", "1"]}
// CHECK-NEXT: %[[W:.*]] = graph.map "(x0 * x1)"(%w, %[[G]])
// CHECK-NEXT: %y = graph.conv(%x, %[[W]])

// -----

// Two images have two gates; there are more weights than pixels; something else reads the scaled image; a shift is no
// factor; a group's weight has not each channel; neighbours in the image become channels; the
// factor is a constant.

func.func @stay(%x: tensor<2x3x9x9xf32>, %a: tensor<2x3x1x1xf32>, %g: tensor<1x3x1x1xf32>, %w: tensor<2x3x1x1xf32>, %s: tensor<1x3x1x1xf32>, %z: tensor<1x3x4x4xf32>, %v: tensor<2x1x1x1xf32>, %q: tensor<1x2x4x4xf32>, %h: tensor<1x2x1x1xf32>, %u: tensor<2x8x1x1xf32>, %j: tensor<2x2x1x1xf32>) -> (tensor<2x2x9x9xf32>, tensor<1x2x1x1xf32>, tensor<1x2x4x4xf32>, tensor<1x3x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x2x2xf32>, tensor<1x2x4x4xf32>) {
  %0 = graph.map "x0 * x1"(%a, %x) : (tensor<2x3x1x1xf32>, tensor<2x3x9x9xf32>) -> tensor<2x3x9x9xf32>
  %1 = graph.conv(%0, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<2x3x9x9xf32>, tensor<2x3x1x1xf32>) -> tensor<2x2x9x9xf32>
  %2 = graph.map "x0 * x1"(%g, %s) : (tensor<1x3x1x1xf32>, tensor<1x3x1x1xf32>) -> tensor<1x3x1x1xf32>
  %3 = graph.conv(%2, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x1x1xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x1x1xf32>
  %4 = graph.map "x0 * x1"(%g, %z) : (tensor<1x3x1x1xf32>, tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  %5 = graph.conv(%4, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x4x4xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x4x4xf32>
  %6 = graph.map "x0 * x1 + x1"(%z, %g) : (tensor<1x3x4x4xf32>, tensor<1x3x1x1xf32>) -> tensor<1x3x4x4xf32>
  %7 = graph.conv(%6, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x4x4xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x4x4xf32>
  %8 = graph.map "x0 * x1"(%h, %q) : (tensor<1x2x1x1xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %9 = graph.conv(%8, %v) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x2x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %10 = graph.map "x0 * x1"(%h, %9) : (tensor<1x2x1x1xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %11 = graph.reshape(%10) {shape = ["1", "8", "2", "2"]} : (tensor<1x2x4x4xf32>) -> tensor<1x8x2x2xf32>
  %12 = graph.conv(%11, %u) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x2x2xf32>, tensor<2x8x1x1xf32>) -> tensor<1x2x2x2xf32>
  %13 = graph.map "x0 * 2.0"(%9) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %14 = graph.conv(%13, %j) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  func.return %1, %3, %5, %4, %7, %12, %14 : tensor<2x2x9x9xf32>, tensor<1x2x1x1xf32>, tensor<1x2x4x4xf32>, tensor<1x3x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x2x2xf32>, tensor<1x2x4x4xf32>
}

// CHECK: func.func @stay
// CHECK: graph.conv(%0, %w)
// CHECK: graph.conv(%2, %w)
// CHECK: graph.conv(%4, %w)
// CHECK: graph.conv(%6, %w)
// CHECK: graph.conv(%8, %v)
// CHECK: graph.conv(%11, %u)
// CHECK: graph.conv(%13, %j)
