// RUN: mlc-opt %s --verify-diagnostics --split-input-file | filecheck %s

// Winograd's transforms take tiles of 2 or 4 outputs, and whole ones on the way in.

func.func @tile_of_three(%x: tensor<1x3x5x8x2xf32>) {
  %0 = graph.winograd_rows(%x) {m = 3 : i64} : (tensor<1x3x5x8x2xf32>) -> tensor<1x3x1x5x8x2xf32>
  func.return
}

// CHECK:      graph.winograd_rows takes [N, C, H, W, b] and m of 2 or 4, not (1, 3, 5, 8, 2) and 3

// -----

func.func @cut_rows(%x: tensor<1x3x9x6x2xf32>) {
  %0 = graph.winograd_rows(%x) {m = 4 : i64} : (tensor<1x3x9x6x2xf32>) -> tensor<1x3x2x6x6x2xf32>
  func.return
}

// CHECK:      graph.winograd_rows: an extent of 9 is no whole number of tiles of 4, plus 2

// -----

func.func @not_rows(%x: tensor<1x3x6x10x2xf32>) {
  %0 = graph.winograd_input(%x) {m = 4 : i64} : (tensor<1x3x6x10x2xf32>) -> tensor<1x108x2x2xf32>
  func.return
}

// CHECK:      graph.winograd_input takes [N, C, th, m + 2, W, b] and m of 2 or 4, not (1, 3, 6, 10, 2) and 4

// -----

func.func @products(%q: tensor<1x16x5x4xf32>) {
  %0 = graph.winograd_sums(%q) {m = 2 : i64, extents = array<i64: 3, 5>} : (tensor<1x16x5x4xf32>) -> tensor<1x1x2x2x3x4x4xf32>
  func.return
}

// CHECK:      graph.winograd_sums: (1, 16, 5, 4) does not hold tiles of 2 for outputs of (3, 5)

// -----

func.func @one_extent(%q: tensor<1x16x6x4xf32>) {
  %0 = graph.winograd_sums(%q) {m = 2 : i64, extents = array<i64: 3>} : (tensor<1x16x6x4xf32>) -> tensor<1x1x2x2x3x4x4xf32>
  func.return
}

// CHECK:      graph.winograd_sums takes m of 2 or 4 and two extents, not 2 and (3,)

// -----

func.func @cut_tile(%x: tensor<1x3x1x6x9x2xf32>) {
  %0 = graph.winograd_input(%x) {m = 4 : i64} : (tensor<1x3x1x6x9x2xf32>) -> tensor<1x108x2x2xf32>
  func.return
}

// CHECK:      graph.winograd_input: an extent of 9 is no whole number of tiles of 4, plus 2

// -----

func.func @other_tiles(%q: tensor<1x1x2x2x2x4x4xf32>) {
  %0 = graph.winograd_output "x0"(%q) {m = 2 : i64, extents = array<i64: 3, 5>} : (tensor<1x1x2x2x2x4x4xf32>) -> tensor<1x1x3x5x4xf32>
  func.return
}

// CHECK:      graph.winograd_output: (1, 1, 2, 2, 2, 4, 4) does not hold tiles of 2 for outputs of (3, 5)

// -----

func.func @result(%x: tensor<1x3x2x4x10x2xf32>) {
  %0 = graph.winograd_input(%x) {m = 2 : i64} : (tensor<1x3x2x4x10x2xf32>) -> tensor<1x48x2x2xf32>
  func.return
}

// CHECK:      graph.winograd_input: the result type is tensor<1x48x2x2xf32>, inferred from the operands tensor<1x48x2x4x2xf32>

// -----

func.func @no_expression(%q: tensor<1x1x2x2x3x4x4xf32>) {
  %0 = graph.winograd_output "x0 +"(%q) {m = 2 : i64, extents = array<i64: 4, 6>} : (tensor<1x1x2x2x3x4x4xf32>) -> tensor<1x1x4x6x4xf32>
  func.return
}

// CHECK:      graph.winograd_output: 'x0 +' is not a scalar expression: invalid syntax

// -----

func.func @missing_operand(%q: tensor<1x1x2x2x3x4x4xf32>) {
  %0 = graph.winograd_output "x0 + x1"(%q) {m = 2 : i64, extents = array<i64: 4, 6>} : (tensor<1x1x2x2x3x4x4xf32>) -> tensor<1x1x4x6x4xf32>
  func.return
}

// CHECK:      graph.winograd_output: x0 + x1 reads x1 of 1 operands

// -----

func.func @element(%q: tensor<1x1x2x2x3x4x4xf32>) {
  %0 = graph.winograd_output "x0[i0, i1]"(%q) {m = 2 : i64, extents = array<i64: 4, 6>} : (tensor<1x1x2x2x3x4x4xf32>) -> tensor<1x1x4x6x4xf32>
  func.return
}

// CHECK:      graph.winograd_output reads whole operands (x0), not elements (x0[i])

// -----

func.func @mixed(%q: tensor<1x1x2x2x3x4x4xf32>, %b: tensor<4xf64>) {
  %0 = graph.winograd_output "x0 + x1"(%q, %b) {m = 2 : i64, extents = array<i64: 4, 6>} : (tensor<1x1x2x2x3x4x4xf32>, tensor<4xf64>) -> tensor<1x1x4x6x4xf32>
  func.return
}

// CHECK:      graph.winograd_output: (x0 + x1) mixes ['f32', 'f64']; insert a cast

// -----

func.func @other_element(%q: tensor<1x1x2x2x3x4x4xf32>) {
  %0 = graph.winograd_output "f64(x0)"(%q) {m = 2 : i64, extents = array<i64: 4, 6>} : (tensor<1x1x2x2x3x4x4xf32>) -> tensor<1x1x4x6x4xf32>
  func.return
}

// CHECK:      graph.winograd_output: f64(x0) is f64 of products of f32; write a graph.map after it

// -----

func.func @bias(%q: tensor<1x1x2x2x3x4x4xf32>, %b: tensor<3xf32>) {
  %0 = graph.winograd_output "x0 + x1"(%q, %b) {m = 2 : i64, extents = array<i64: 4, 6>} : (tensor<1x1x2x2x3x4x4xf32>, tensor<3xf32>) -> tensor<1x1x4x6x4xf32>
  func.return
}

// CHECK:      shapes (1, 1, 4, 6, 4), (3,) do not broadcast at axis 4

// -----

func.func @larger(%q: tensor<1x1x2x2x3x4x4xf32>, %b: tensor<5x1x1x1x4xf32>) {
  %0 = graph.winograd_output "x0 + x1"(%q, %b) {m = 2 : i64, extents = array<i64: 4, 6>} : (tensor<1x1x2x2x3x4x4xf32>, tensor<5x1x1x1x4xf32>) -> tensor<1x1x4x6x4xf32>
  func.return
}

// CHECK:      graph.winograd_output: an operand of shape (5, 1, 1, 1, 4) is larger than the result (1, 1, 4, 6, 4)

// -----

func.func @nothing() {
  %0 = graph.winograd_output "0.0"() {m = 2 : i64, extents = array<i64: 4, 6>} : () -> tensor<1x1x4x6x4xf32>
  func.return
}

// CHECK:      graph.winograd_output takes graph.winograd_sums first, m of 2 or 4 and two extents, not 0 operands, m of 2 and 2 extents

// -----

func.func @tile_of_five(%q: tensor<1x1x2x2x3x4x4xf32>) {
  %0 = graph.winograd_output "x0"(%q) {m = 5 : i64, extents = array<i64: 4, 6>} : (tensor<1x1x2x2x3x4x4xf32>) -> tensor<1x1x4x6x4xf32>
  func.return
}

// CHECK:      graph.winograd_output takes graph.winograd_sums first, m of 2 or 4 and two extents, not 1 operands, m of 5 and 2 extents

// -----

func.func @flat(%x: tensor<1x3x2x4x10x2xf32>) {
  %0 = graph.winograd_input(%x) {m = 2 : i64} : (tensor<1x3x2x4x10x2xf32>) -> tensor<1x48x8x2xf32>
  func.return
}

// CHECK:      graph.winograd_input: the result type is tensor<1x48x8x2xf32>, inferred from the operands tensor<1x48x2x4x2xf32>

// -----

func.func @columns_before_rows(%q: tensor<1x16x3x2x4xf32>) {
  %0 = graph.winograd_sums(%q) {m = 2 : i64, extents = array<i64: 3, 5>} : (tensor<1x16x3x2x4xf32>) -> tensor<1x1x2x2x3x4x4xf32>
  func.return
}

// CHECK:      graph.winograd_sums: (1, 16, 3, 2, 4) does not hold tiles of 2 for outputs of (3, 5)

// -----

func.func @positions(%q: tensor<1x15x2x3x4xf32>) {
  %0 = graph.winograd_sums(%q) {m = 2 : i64, extents = array<i64: 3, 5>} : (tensor<1x15x2x3x4xf32>) -> tensor<1x1x2x2x3x4x4xf32>
  func.return
}

// CHECK:      graph.winograd_sums: (1, 15, 2, 3, 4) does not hold tiles of 2 for outputs of (3, 5)

// -----

func.func @flat_products(%q: tensor<1x16x6xf32>) {
  %0 = graph.winograd_sums(%q) {m = 2 : i64, extents = array<i64: 3, 5>} : (tensor<1x16x6xf32>) -> tensor<1x1x2x2x3x4x4xf32>
  func.return
}

// CHECK:      graph.winograd_sums: (1, 16, 6) does not hold tiles of 2 for outputs of (3, 5)
