// RUN: mlc-opt %s --verify-diagnostics --split-input-file | filecheck %s

// Winograd's transforms take tiles of 2 or 4 outputs, and whole ones on the way in.

func.func @tile_of_three(%x: tensor<1x3x5x8x2xf32>) {
  %0 = graph.winograd_input(%x) {m = 3 : i64} : (tensor<1x3x5x8x2xf32>) -> tensor<1x75x2x2xf32>
  func.return
}

// CHECK:      graph.winograd_input takes [N, C, H, W, b] and m of 2 or 4, not (1, 3, 5, 8, 2) and 3

// -----

func.func @cut_tile(%x: tensor<1x3x6x9x2xf32>) {
  %0 = graph.winograd_input(%x) {m = 4 : i64} : (tensor<1x3x6x9x2xf32>) -> tensor<1x108x2x2xf32>
  func.return
}

// CHECK:      graph.winograd_input: an extent of 9 is no whole number of tiles of 4, plus 2

// -----

func.func @other_tiles(%q: tensor<1x16x5x4xf32>) {
  %0 = graph.winograd_output "x0"(%q) {m = 2 : i64, extents = array<i64: 3, 5>} : (tensor<1x16x5x4xf32>) -> tensor<1x1x3x5x4xf32>
  func.return
}

// CHECK:      graph.winograd_output: (1, 16, 5, 4) does not hold tiles of 2 for outputs of (3, 5)

// -----

func.func @result(%x: tensor<1x3x6x10x2xf32>) {
  %0 = graph.winograd_input(%x) {m = 2 : i64} : (tensor<1x3x6x10x2xf32>) -> tensor<1x108x2x2xf32>
  func.return
}

// CHECK:      graph.winograd_input: the result type is tensor<1x108x2x2xf32>, the operands give tensor<1x48x8x2xf32>
