// RUN: mlc-opt %s | mlc-opt | filecheck %s
// RUN: mlc-opt %s --print-op-generic | mlc-opt | filecheck %s

// The transforms of a filter gradient: points of an image and of an adjoint, and taps of their products.

func.func @main(%x: tensor<5x3x6x10x2xf32>, %y: tensor<5x7x4x8x2xf32>, %q: tensor<3x7x36x2x2xf32>) -> () {
  %t = graph.winograd_rows(%x) {m = 4 : i64} : (tensor<5x3x6x10x2xf32>) -> tensor<5x3x1x6x10x2xf32>
  %v = graph.winograd_points(%t) {m = 4 : i64} : (tensor<5x3x1x6x10x2xf32>) -> tensor<36x3x5x1x2x2xf32>
  %r = graph.winograd_rows(%y) {m = 4 : i64, adjoint} : (tensor<5x7x4x8x2xf32>) -> tensor<5x7x1x6x8x2xf32>
  %u = graph.winograd_points(%r) {m = 4 : i64, adjoint} : (tensor<5x7x1x6x8x2xf32>) -> tensor<36x7x5x1x2x2xf32>
  %s = graph.winograd_tap_rows(%q) {m = 4 : i64} : (tensor<3x7x36x2x2xf32>) -> tensor<3x7x2x3x6x2xf32>
  %g = graph.winograd_taps(%s) {m = 4 : i64} : (tensor<3x7x2x3x6x2xf32>) -> tensor<3x7x3x3x2x2xf32>
  func.return
}

// CHECK:      %t = graph.winograd_rows(%x) {m = 4 : i64} : (tensor<5x3x6x10x2xf32>) -> tensor<5x3x1x6x10x2xf32>
// CHECK-NEXT: %v = graph.winograd_points(%t) {m = 4 : i64} : (tensor<5x3x1x6x10x2xf32>) -> tensor<36x3x5x1x2x2xf32>
// CHECK-NEXT: %r = graph.winograd_rows(%y) {m = 4 : i64, adjoint} : (tensor<5x7x4x8x2xf32>) -> tensor<5x7x1x6x8x2xf32>
// CHECK-NEXT: %u = graph.winograd_points(%r) {m = 4 : i64, adjoint} : (tensor<5x7x1x6x8x2xf32>) -> tensor<36x7x5x1x2x2xf32>
// CHECK-NEXT: %s = graph.winograd_tap_rows(%q) {m = 4 : i64} : (tensor<3x7x36x2x2xf32>) -> tensor<3x7x2x3x6x2xf32>
// CHECK-NEXT: %g = graph.winograd_taps(%s) {m = 4 : i64} : (tensor<3x7x2x3x6x2xf32>) -> tensor<3x7x3x3x2x2xf32>
