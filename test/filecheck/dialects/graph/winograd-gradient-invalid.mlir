// RUN: mlc-opt %s --verify-diagnostics --split-input-file | filecheck %s

// Tiles of an adjoint do not overlap; points and taps have the extents of the tile.

func.func @cut_rows(%y: tensor<5x7x6x8x2xf32>) {
  %0 = graph.winograd_rows(%y) {m = 4 : i64, adjoint} : (tensor<5x7x6x8x2xf32>) -> tensor<5x7x1x6x8x2xf32>
  func.return
}

// CHECK:      graph.winograd_rows: an extent of 6 is no whole number of tiles of 4, plus 0

// -----

func.func @other_tile(%t: tensor<5x3x1x6x10x2xf32>) {
  %0 = graph.winograd_points(%t) {m = 2 : i64} : (tensor<5x3x1x6x10x2xf32>) -> tensor<16x3x5x1x4x2xf32>
  func.return
}

// CHECK:      graph.winograd_points takes [N, C, th, m + 2, W, b] and m of 2 or 4, not (5, 3, 1, 6, 10, 2) and 2

// -----

func.func @points(%q: tensor<3x7x35x2x2xf32>) {
  %0 = graph.winograd_tap_rows(%q) {m = 4 : i64} : (tensor<3x7x35x2x2xf32>) -> tensor<3x7x2x3x6x2xf32>
  func.return
}

// CHECK:      graph.winograd_tap_rows takes [C, F, (m + 2)², c, f] and m of 2 or 4, not (3, 7, 35, 2, 2) and 4

// -----

func.func @rows(%s: tensor<3x7x2x4x6x2xf32>) {
  %0 = graph.winograd_taps(%s) {m = 4 : i64} : (tensor<3x7x2x4x6x2xf32>) -> tensor<3x7x3x3x2x2xf32>
  func.return
}

// CHECK:      graph.winograd_taps takes [C, F, c, 3, m + 2, f] and m of 2 or 4, not (3, 7, 2, 4, 6, 2) and 4
