// RUN: mlc-opt %s -p canonicalize-graph --verify-diagnostics --split-input-file | filecheck %s

// Broadcasts and transpositions of each other become one, contractions stretch themselves, reductions of nothing go.

func.func @broadcasts(%x: tensor<3x1xf32>, %y: tensor<4x5xf32>) -> tensor<2x3x5xf32> {
  %0 = graph.broadcast(%x) {shape = ["3", "4"]} : (tensor<3x1xf32>) -> tensor<3x4xf32>
  %1 = graph.broadcast(%0) {shape = ["2", "3", "4"]} : (tensor<3x4xf32>) -> tensor<2x3x4xf32>
  %2 = graph.contract "bmk,kn->bmn"(%1, %y) : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>
  func.return %2 : tensor<2x3x5xf32>
}

// CHECK:      func.func @broadcasts(%x: tensor<3x1xf32>, %y: tensor<4x5xf32>) -> tensor<2x3x5xf32> {
// CHECK-NEXT: %0 = graph.broadcast(%x) {shape = ["2", "3", "4"]} : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: %1 = graph.contract "bmk,kn->bmn"(%0, %y) : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT: func.return %1 : tensor<2x3x5xf32>

// -----

func.func @stretched_contraction(%x: tensor<1x3x4xf32>, %y: tensor<2x4x5xf32>) -> tensor<2x3x5xf32> {
  %0 = graph.broadcast(%x) {shape = ["2", "3", "4"]} : (tensor<1x3x4xf32>) -> tensor<2x3x4xf32>
  %1 = graph.contract "bmk,bkn->bmn"(%0, %y) : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  func.return %1 : tensor<2x3x5xf32>
}

// CHECK:      func.func @stretched_contraction(%x: tensor<1x3x4xf32>, %y: tensor<2x4x5xf32>) -> tensor<2x3x5xf32> {
// CHECK-NEXT: %0 = graph.contract "bmk,bkn->bmn"(%x, %y) : (tensor<1x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT: func.return %0 : tensor<2x3x5xf32>

// -----

func.func @reduction_of_nothing(%x: tensor<2x1x3xf32>) -> (tensor<2x3xf32>, tensor<2x1x3xf32>) {
  %0 = graph.reduce "max"(%x) {axes = array<i64: 1>, keepdims = false} : (tensor<2x1x3xf32>) -> tensor<2x3xf32>
  %1 = graph.reduce "add"(%x) {axes = array<i64: 1>, keepdims = true} : (tensor<2x1x3xf32>) -> tensor<2x1x3xf32>
  func.return %0, %1 : tensor<2x3xf32>, tensor<2x1x3xf32>
}

// CHECK:      func.func @reduction_of_nothing(%x: tensor<2x1x3xf32>) -> (tensor<2x3xf32>, tensor<2x1x3xf32>) {
// CHECK-NEXT: %0 = graph.reshape(%x) {shape = ["2", "3"]} : (tensor<2x1x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: func.return %0, %x : tensor<2x3xf32>, tensor<2x1x3xf32>

// -----

func.func @transposes(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
  %0 = graph.transpose(%x) {perm = array<i64: 1, 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %1 = graph.transpose(%0) {perm = array<i64: 2, 1, 0>} : (tensor<3x2x4xf32>) -> tensor<4x2x3xf32>
  func.return %1 : tensor<4x2x3xf32>
}

// CHECK:      func.func @transposes(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
// CHECK-NEXT: %0 = graph.transpose(%x) {perm = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
// CHECK-NEXT: func.return %0 : tensor<4x2x3xf32>

// -----

func.func @transposes_back(%x: tensor<2x3x4x5xf32>) -> tensor<2x3x20xf32> {
  %0 = graph.transpose(%x) {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = graph.reshape(%0) {shape = ["2", "20", "3"]} : (tensor<2x4x5x3xf32>) -> tensor<2x20x3xf32>
  %2 = graph.transpose(%1) {perm = array<i64: 0, 2, 1>} : (tensor<2x20x3xf32>) -> tensor<2x3x20xf32>
  func.return %2 : tensor<2x3x20xf32>
}

// CHECK:      func.func @transposes_back(%x: tensor<2x3x4x5xf32>) -> tensor<2x3x20xf32> {
// CHECK-NEXT: %0 = graph.reshape(%x) {shape = ["2", "3", "20"]} : (tensor<2x3x4x5xf32>) -> tensor<2x3x20xf32>
// CHECK-NEXT: func.return %0 : tensor<2x3x20xf32>

// -----

// A product of one row reads what was transposed for it as it is; one of many rows does not, nor do others that read it.

func.func @one_row(%x: tensor<4x1x64xf32>, %y: tensor<4x9x64xf32>) -> tensor<4x1x9xf32> {
  %0 = graph.transpose(%y) {perm = array<i64: 0, 2, 1>} : (tensor<4x9x64xf32>) -> tensor<4x64x9xf32>
  %1 = graph.contract "bmk,bkn->bmn"(%x, %0) : (tensor<4x1x64xf32>, tensor<4x64x9xf32>) -> tensor<4x1x9xf32>
  func.return %1 : tensor<4x1x9xf32>
}

// CHECK:      func.func @one_row(
// CHECK-NEXT: %0 = graph.contract "bmk,bnk->bmn"(%x, %y) : (tensor<4x1x64xf32>, tensor<4x9x64xf32>) -> tensor<4x1x9xf32>
// CHECK-NEXT: func.return %0

func.func @many_rows(%x: tensor<4x8x64xf32>, %y: tensor<4x9x64xf32>) -> tensor<4x8x9xf32> {
  %0 = graph.transpose(%y) {perm = array<i64: 0, 2, 1>} : (tensor<4x9x64xf32>) -> tensor<4x64x9xf32>
  %1 = graph.contract "bmk,bkn->bmn"(%x, %0) : (tensor<4x8x64xf32>, tensor<4x64x9xf32>) -> tensor<4x8x9xf32>
  func.return %1 : tensor<4x8x9xf32>
}

// CHECK:      func.func @many_rows(
// CHECK-NEXT: graph.transpose
