// RUN: mlc-opt %s -p form-kernels --split-input-file | filecheck %s

// The transforms and the products between them are one kernel.

func.func @one(%x: tensor<1x1x6x10x4xf32>, %w: tensor<16x1x1x1x4x4xf32>, %r: tensor<1x1x4x8x4xf32>) -> tensor<1x1x4x8x4xf32> {
  %t = graph.winograd_rows(%x) {m = 2 : i64} : (tensor<1x1x6x10x4xf32>) -> tensor<1x1x2x4x10x4xf32>
  %v = graph.winograd_input(%t) {m = 2 : i64} : (tensor<1x1x2x4x10x4xf32>) -> tensor<1x16x2x4x4xf32>
  %q = graph.conv(%v, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 16 : i64, layouts = [#graph.layout<"aBcd4b">, #graph.layout<"ABcd4b4a">, #graph.layout<"aBcd4b">]} : (tensor<1x16x2x4x4xf32>, tensor<16x1x1x1x4x4xf32>) -> tensor<1x16x2x4x4xf32>
  %s = graph.winograd_sums(%q) {m = 2 : i64, extents = array<i64: 4, 8>} : (tensor<1x16x2x4x4xf32>) -> tensor<1x1x2x2x4x4x4xf32>
  %y = graph.winograd_output "x0 + x1"(%s, %r) {m = 2 : i64, extents = array<i64: 4, 8>} : (tensor<1x1x2x2x4x4x4xf32>, tensor<1x1x4x8x4xf32>) -> tensor<1x1x4x8x4xf32>
  func.return %y : tensor<1x1x4x8x4xf32>
}

// CHECK:      func.func @one
// CHECK-NEXT: %y = kernel.call @winograd_rows_0(%x, %w, %r)
// CHECK-NEXT: func.return %y

// -----

// Two products of the same tiles: the second needs, through a maximum, what the first gives. The tiles are a kernel.

func.func @two(%x: tensor<1x1x6x10x4xf32>, %w: tensor<16x1x1x1x4x4xf32>, %u: tensor<16x1x1x1x4x4xf32>) -> tensor<1x1x4x8x4xf32> {
  %t = graph.winograd_rows(%x) {m = 2 : i64} : (tensor<1x1x6x10x4xf32>) -> tensor<1x1x2x4x10x4xf32>
  %v = graph.winograd_input(%t) {m = 2 : i64} : (tensor<1x1x2x4x10x4xf32>) -> tensor<1x16x2x4x4xf32>
  %q = graph.conv(%v, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 16 : i64, layouts = [#graph.layout<"aBcd4b">, #graph.layout<"ABcd4b4a">, #graph.layout<"aBcd4b">]} : (tensor<1x16x2x4x4xf32>, tensor<16x1x1x1x4x4xf32>) -> tensor<1x16x2x4x4xf32>
  %s = graph.winograd_sums(%q) {m = 2 : i64, extents = array<i64: 4, 8>} : (tensor<1x16x2x4x4xf32>) -> tensor<1x1x2x2x4x4x4xf32>
  %y = graph.winograd_output "x0"(%s) {m = 2 : i64, extents = array<i64: 4, 8>} : (tensor<1x1x2x2x4x4x4xf32>) -> tensor<1x1x4x8x4xf32>
  %p = graph.pool "max"(%y) {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x1x4x8x4xf32>) -> tensor<1x1x4x8x4xf32>
  %q2 = graph.conv(%v, %u) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 16 : i64, layouts = [#graph.layout<"aBcd4b">, #graph.layout<"ABcd4b4a">, #graph.layout<"aBcd4b">]} : (tensor<1x16x2x4x4xf32>, tensor<16x1x1x1x4x4xf32>) -> tensor<1x16x2x4x4xf32>
  %s2 = graph.winograd_sums(%q2) {m = 2 : i64, extents = array<i64: 4, 8>} : (tensor<1x16x2x4x4xf32>) -> tensor<1x1x2x2x4x4x4xf32>
  %y2 = graph.winograd_output "x0 + x1"(%s2, %p) {m = 2 : i64, extents = array<i64: 4, 8>} : (tensor<1x1x2x2x4x4x4xf32>, tensor<1x1x4x8x4xf32>) -> tensor<1x1x4x8x4xf32>
  func.return %y2 : tensor<1x1x4x8x4xf32>
}

// CHECK:      func.func @two
// CHECK-NEXT: %v = kernel.call @winograd_rows_0(%x)
// CHECK-NEXT: %y = kernel.call @conv_1(%v, %w)
// CHECK-NEXT: %p = kernel.call @pool_2(%y)
// CHECK-NEXT: %y2 = kernel.call @conv_3(%v, %u, %p)
// CHECK-NEXT: func.return %y2
