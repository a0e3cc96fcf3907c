// RUN: mlc-opt %s -p canonicalize-graph --verify-diagnostics --split-input-file | filecheck %s

// Slices, pads and concatenations of each other become one; what lies in one part is read there.

func.func @slices(%x: tensor<9x7xf32>) -> tensor<2x3xf32> {
  %0 = graph.slice(%x) {graph.node = ["/a"], starts = ["1", "6"], sizes = ["4", "7"], steps = array<i64: 2, -1>} : (tensor<9x7xf32>) -> tensor<4x7xf32>
  %1 = graph.slice(%0) {graph.node = ["/b"], starts = ["1", "0"], sizes = ["2", "3"], steps = array<i64: 2, 2>} : (tensor<4x7xf32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// CHECK:      func.func @slices(%x: tensor<9x7xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT: %0 = graph.slice(%x) {graph.node = ["/b"], starts = ["3", "6"], sizes = ["2", "3"], steps = array<i64: 4, -2>} : (tensor<9x7xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: func.return %0 : tensor<2x3xf32>

// -----

func.func @slice_of_concat(%x: tensor<2x3xf32>, %y: tensor<2x5xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = graph.concat(%x, %y) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>
  %1 = graph.slice(%0) {graph.node = ["/in_y"], starts = ["0", "4"], sizes = ["2", "4"], steps = array<i64: 1, 1>} : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %2 = graph.slice(%0) {graph.node = ["/in_both"], starts = ["0", "1"], sizes = ["2", "4"], steps = array<i64: 1, 1>} : (tensor<2x8xf32>) -> tensor<2x4xf32>
  func.return %1, %2 : tensor<2x4xf32>, tensor<2x4xf32>
}

// CHECK:      func.func @slice_of_concat(%x: tensor<2x3xf32>, %y: tensor<2x5xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
// CHECK-NEXT: %0 = graph.concat(%x, %y) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>
// CHECK-NEXT: %1 = graph.slice(%y) {graph.node = ["/in_y"], starts = ["0", "1"], sizes = ["2", "4"], steps = array<i64: 1, 1>} : (tensor<2x5xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: %2 = graph.slice(%0) {graph.node = ["/in_both"], starts = ["0", "1"], sizes = ["2", "4"], steps = array<i64: 1, 1>} : (tensor<2x8xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: func.return %1, %2 : tensor<2x4xf32>, tensor<2x4xf32>

// -----

func.func @pads(%x: tensor<2x3xf32>) -> (tensor<5x4xf32>, tensor<5x3xf32>) {
  %0 = graph.pad(%x) {low = ["1", "0"], high = ["0", "0"], interior = array<i64: 0, 0>, value = "0"} : (tensor<2x3xf32>) -> tensor<3x3xf32>
  %1 = graph.pad(%0) {low = ["0", "1"], high = ["2", "0"], interior = array<i64: 0, 0>, value = "0"} : (tensor<3x3xf32>) -> tensor<5x4xf32>
  %2 = graph.pad(%0) {low = ["0", "0"], high = ["2", "0"], interior = array<i64: 0, 0>, value = "1"} : (tensor<3x3xf32>) -> tensor<5x3xf32>
  func.return %1, %2 : tensor<5x4xf32>, tensor<5x3xf32>
}

// CHECK:      func.func @pads(%x: tensor<2x3xf32>) -> (tensor<5x4xf32>, tensor<5x3xf32>) {
// CHECK-NEXT: %0 = graph.pad(%x) {low = ["1", "0"], high = ["0", "0"], interior = array<i64: 0, 0>, value = "0"} : (tensor<2x3xf32>) -> tensor<3x3xf32>
// CHECK-NEXT: %1 = graph.pad(%x) {low = ["1", "1"], high = ["2", "0"], interior = array<i64: 0, 0>, value = "0"} : (tensor<2x3xf32>) -> tensor<5x4xf32>
// CHECK-NEXT: %2 = graph.pad(%0) {low = ["0", "0"], high = ["2", "0"], interior = array<i64: 0, 0>, value = "1"} : (tensor<3x3xf32>) -> tensor<5x3xf32>
// CHECK-NEXT: func.return %1, %2 : tensor<5x4xf32>, tensor<5x3xf32>

// -----

func.func @concats(%x: tensor<2x3xf32>, %none: tensor<2x0xf32>, %y: tensor<2x5xf32>) -> (tensor<2x11xf32>, tensor<2x3xf32>) {
  %0 = graph.concat(%x, %none) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x0xf32>) -> tensor<2x3xf32>
  %1 = graph.concat(%x, %y) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>
  %2 = graph.concat(%1, %x) {axis = 1 : i64} : (tensor<2x8xf32>, tensor<2x3xf32>) -> tensor<2x11xf32>
  func.return %2, %0 : tensor<2x11xf32>, tensor<2x3xf32>
}

// CHECK:      func.func @concats(%x: tensor<2x3xf32>, %none: tensor<2x0xf32>, %y: tensor<2x5xf32>) -> (tensor<2x11xf32>, tensor<2x3xf32>) {
// CHECK-NEXT: %0 = graph.concat(%x, %y, %x) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x5xf32>, tensor<2x3xf32>) -> tensor<2x11xf32>
// CHECK-NEXT: func.return %0, %x : tensor<2x11xf32>, tensor<2x3xf32>

// -----

// Matrices of heads are read and written where they lie.

func.func @heads(%q: tensor<7x5x8xf32>, %k: tensor<5x8x9xf32>, %v: tensor<9x5x6xf32>) -> tensor<7x5x6xf32> {
  %0 = graph.transpose(%q) {perm = array<i64: 1, 0, 2>} : (tensor<7x5x8xf32>) -> tensor<5x7x8xf32>
  %1 = graph.transpose(%v) {perm = array<i64: 1, 0, 2>} : (tensor<9x5x6xf32>) -> tensor<5x9x6xf32>
  %2 = graph.contract "bmk,bkn->bmn"(%0, %k) : (tensor<5x7x8xf32>, tensor<5x8x9xf32>) -> tensor<5x7x9xf32>
  %3 = graph.contract "bmk,bkn->bmn"(%2, %1) : (tensor<5x7x9xf32>, tensor<5x9x6xf32>) -> tensor<5x7x6xf32>
  %4 = graph.transpose(%3) {perm = array<i64: 1, 0, 2>} : (tensor<5x7x6xf32>) -> tensor<7x5x6xf32>
  func.return %4 : tensor<7x5x6xf32>
}

// CHECK:      func.func @heads(%q: tensor<7x5x8xf32>, %k: tensor<5x8x9xf32>, %v: tensor<9x5x6xf32>) -> tensor<7x5x6xf32> {
// CHECK-NEXT: %0 = graph.contract "mbk,bkn->bmn"(%q, %k) : (tensor<7x5x8xf32>, tensor<5x8x9xf32>) -> tensor<5x7x9xf32>
// CHECK-NEXT: %1 = graph.contract "bmk,kbn->mbn"(%0, %v) : (tensor<5x7x9xf32>, tensor<9x5x6xf32>) -> tensor<7x5x6xf32>
// CHECK-NEXT: func.return %1 : tensor<7x5x6xf32>

// -----

// What changes the last axis, is read twice, or is of one matrix for all, stays.

func.func @stays(%q: tensor<5x8x7xf32>, %k: tensor<8x5x9xf32>, %w: tensor<9x6xf32>) -> (tensor<7x5x6xf32>, tensor<5x8x9xf32>) {
  %0 = graph.transpose(%q) {perm = array<i64: 0, 2, 1>} : (tensor<5x8x7xf32>) -> tensor<5x7x8xf32>
  %1 = graph.transpose(%k) {perm = array<i64: 1, 0, 2>} : (tensor<8x5x9xf32>) -> tensor<5x8x9xf32>
  %2 = graph.contract "bmk,bkn->bmn"(%0, %1) : (tensor<5x7x8xf32>, tensor<5x8x9xf32>) -> tensor<5x7x9xf32>
  %3 = graph.contract "bmk,kn->bmn"(%2, %w) : (tensor<5x7x9xf32>, tensor<9x6xf32>) -> tensor<5x7x6xf32>
  %4 = graph.transpose(%3) {perm = array<i64: 1, 0, 2>} : (tensor<5x7x6xf32>) -> tensor<7x5x6xf32>
  func.return %4, %1 : tensor<7x5x6xf32>, tensor<5x8x9xf32>
}

// CHECK:      func.func @stays(%q: tensor<5x8x7xf32>, %k: tensor<8x5x9xf32>, %w: tensor<9x6xf32>) -> (tensor<7x5x6xf32>, tensor<5x8x9xf32>) {
// CHECK-NEXT: %0 = graph.transpose(%q) {perm = array<i64: 0, 2, 1>} : (tensor<5x8x7xf32>) -> tensor<5x7x8xf32>
// CHECK-NEXT: %1 = graph.transpose(%k) {perm = array<i64: 1, 0, 2>} : (tensor<8x5x9xf32>) -> tensor<5x8x9xf32>
// CHECK-NEXT: %2 = graph.contract "bmk,bkn->bmn"(%0, %1) : (tensor<5x7x8xf32>, tensor<5x8x9xf32>) -> tensor<5x7x9xf32>
// CHECK-NEXT: %3 = graph.contract "bmk,kn->bmn"(%2, %w) : (tensor<5x7x9xf32>, tensor<9x6xf32>) -> tensor<5x7x6xf32>
// CHECK-NEXT: %4 = graph.transpose(%3) {perm = array<i64: 1, 0, 2>} : (tensor<5x7x6xf32>) -> tensor<7x5x6xf32>
// CHECK-NEXT: func.return %4, %1 : tensor<7x5x6xf32>, tensor<5x8x9xf32>
