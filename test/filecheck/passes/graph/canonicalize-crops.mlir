// RUN: mlc-opt %s -p canonicalize-graph --split-input-file | filecheck %s

// A slice of a padding pads less, and one of a convolution computes less: together, a smaller padding is left.

func.func @crops(%x: tensor<1x2x5xf32>, %w: tensor<3x2x3xf32>, %y: tensor<4x6xf32>) -> (tensor<1x3x5xf32>, tensor<3x4xf32>) {
  %0 = graph.pad(%x) {graph.node = ["/pad"], low = ["0", "0", "2"], high = ["0", "0", "2"], interior = array<i64: 0, 0, 0>, value = "0"} : (tensor<1x2x5xf32>) -> tensor<1x2x9xf32>
  %1 = graph.conv(%0, %w) {graph.node = ["/conv"], strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x2x9xf32>, tensor<3x2x3xf32>) -> tensor<1x3x7xf32>
  %2 = graph.slice(%1) {graph.node = ["/crop"], starts = ["0", "0", "1"], sizes = ["1", "3", "5"], steps = array<i64: 1, 1, 1>} : (tensor<1x3x7xf32>) -> tensor<1x3x5xf32>
  %3 = graph.pad(%y) {graph.node = ["/pad"], low = ["0", "1"], high = ["1", "0"], interior = array<i64: 0, 0>, value = "7"} : (tensor<4x6xf32>) -> tensor<5x7xf32>
  %4 = graph.slice(%3) {graph.node = ["/part"], starts = ["2", "0"], sizes = ["3", "4"], steps = array<i64: 1, 1>} : (tensor<5x7xf32>) -> tensor<3x4xf32>
  func.return %2, %4 : tensor<1x3x5xf32>, tensor<3x4xf32>
}

// CHECK:      func.func @crops(%x: tensor<1x2x5xf32>, %w: tensor<3x2x3xf32>, %y: tensor<4x6xf32>) -> (tensor<1x3x5xf32>, tensor<3x4xf32>) {
// CHECK-NEXT: %0 = graph.pad(%x) {graph.node = ["/pad"], low = ["0", "0", "1"], high = ["0", "0", "1"], interior = array<i64: 0, 0, 0>, value = "0"} : (tensor<1x2x5xf32>) -> tensor<1x2x7xf32>
// CHECK-NEXT: %1 = graph.conv(%0, %w) {graph.node = ["/conv"], strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x2x7xf32>, tensor<3x2x3xf32>) -> tensor<1x3x5xf32>
// CHECK-NEXT: %2 = graph.slice(%y) {graph.node = ["/part"], starts = ["2", "0"], sizes = ["2", "3"], steps = array<i64: 1, 1>} : (tensor<4x6xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %3 = graph.pad(%2) {graph.node = ["/pad"], low = ["0", "1"], high = ["1", "0"], interior = array<i64: 0, 0>, value = "7"} : (tensor<2x3xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: func.return %1, %3 : tensor<1x3x5xf32>, tensor<3x4xf32>

// -----

// Filters are taken too; a step; what is between elements; padding alone.

func.func @no_crops(%x: tensor<1x2x7xf32>, %w: tensor<3x2x3xf32>, %y: tensor<4xf32>) -> (tensor<1x2x5xf32>, tensor<1x3x3xf32>, tensor<3xf32>, tensor<2xf32>) {
  %0 = graph.conv(%x, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x2x7xf32>, tensor<3x2x3xf32>) -> tensor<1x3x5xf32>
  %1 = graph.slice(%0) {starts = ["0", "1", "0"], sizes = ["1", "2", "5"], steps = array<i64: 1, 1, 1>} : (tensor<1x3x5xf32>) -> tensor<1x2x5xf32>
  %2 = graph.slice(%0) {starts = ["0", "0", "0"], sizes = ["1", "3", "3"], steps = array<i64: 1, 1, 2>} : (tensor<1x3x5xf32>) -> tensor<1x3x3xf32>
  %3 = graph.pad(%y) {low = ["2"], high = ["0"], interior = array<i64: 1>, value = "7"} : (tensor<4xf32>) -> tensor<9xf32>
  %4 = graph.slice(%3) {starts = ["1"], sizes = ["3"], steps = array<i64: 1>} : (tensor<9xf32>) -> tensor<3xf32>
  %5 = graph.pad(%y) {low = ["3"], high = ["0"], interior = array<i64: 0>, value = "7"} : (tensor<4xf32>) -> tensor<7xf32>
  %6 = graph.slice(%5) {starts = ["0"], sizes = ["2"], steps = array<i64: 1>} : (tensor<7xf32>) -> tensor<2xf32>
  func.return %1, %2, %4, %6 : tensor<1x2x5xf32>, tensor<1x3x3xf32>, tensor<3xf32>, tensor<2xf32>
}

// CHECK:      func.func @no_crops(%x: tensor<1x2x7xf32>, %w: tensor<3x2x3xf32>, %y: tensor<4xf32>) -> (tensor<1x2x5xf32>, tensor<1x3x3xf32>, tensor<3xf32>, tensor<2xf32>) {
// CHECK-NEXT: %0 = graph.conv(%x, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x2x7xf32>, tensor<3x2x3xf32>) -> tensor<1x3x5xf32>
// CHECK-NEXT: %1 = graph.slice(%0) {starts = ["0", "1", "0"], sizes = ["1", "2", "5"], steps = array<i64: 1, 1, 1>} : (tensor<1x3x5xf32>) -> tensor<1x2x5xf32>
// CHECK-NEXT: %2 = graph.slice(%0) {starts = ["0", "0", "0"], sizes = ["1", "3", "3"], steps = array<i64: 1, 1, 2>} : (tensor<1x3x5xf32>) -> tensor<1x3x3xf32>
// CHECK-NEXT: %3 = graph.pad(%y) {low = ["2"], high = ["0"], interior = array<i64: 1>, value = "7"} : (tensor<4xf32>) -> tensor<9xf32>
// CHECK-NEXT: %4 = graph.slice(%3) {starts = ["1"], sizes = ["3"], steps = array<i64: 1>} : (tensor<9xf32>) -> tensor<3xf32>
// CHECK-NEXT: %5 = graph.pad(%y) {low = ["3"], high = ["0"], interior = array<i64: 0>, value = "7"} : (tensor<4xf32>) -> tensor<7xf32>
// CHECK-NEXT: %6 = graph.slice(%5) {starts = ["0"], sizes = ["2"], steps = array<i64: 1>} : (tensor<7xf32>) -> tensor<2xf32>
// CHECK-NEXT: func.return %1, %2, %4, %6 : tensor<1x2x5xf32>, tensor<1x3x3xf32>, tensor<3xf32>, tensor<2xf32>

// -----

// Of the first window alone, a stride beyond the image leaves it whole.

func.func @first_window(%x: tensor<2x3x8x7xf32>, %w: tensor<5x3x4x3xf32>) -> tensor<2x5x1x2xf32> {
  %0 = graph.conv(%x, %w) {graph.node = ["/conv"], strides = array<i64: 1, 1>, dilations = array<i64: 2, 2>, groups = 1 : i64} : (tensor<2x3x8x7xf32>, tensor<5x3x4x3xf32>) -> tensor<2x5x2x3xf32>
  %1 = graph.slice(%0) {graph.node = ["/crop"], starts = ["0", "0", "0", "1"], sizes = ["2", "5", "1", "2"], steps = array<i64: 1, 1, 1, 1>} : (tensor<2x5x2x3xf32>) -> tensor<2x5x1x2xf32>
  func.return %1 : tensor<2x5x1x2xf32>
}

// CHECK:      func.func @first_window
// CHECK-NEXT: %0 = graph.slice(%x) {graph.node = ["/crop"], starts = ["0", "0", "0", "1"], sizes = ["2", "3", "8", "6"], steps = array<i64: 1, 1, 1, 1>} : (tensor<2x3x8x7xf32>) -> tensor<2x3x8x6xf32>
// CHECK-NEXT: %1 = graph.conv(%0, %w) {graph.node = ["/conv"], strides = array<i64: 2, 1>, dilations = array<i64: 2, 2>, groups = 1 : i64} : (tensor<2x3x8x6xf32>, tensor<5x3x4x3xf32>) -> tensor<2x5x1x2xf32>
// CHECK-NEXT: func.return %1 : tensor<2x5x1x2xf32>
