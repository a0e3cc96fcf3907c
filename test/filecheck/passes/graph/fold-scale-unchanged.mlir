// RUN: mlc-opt %s -p fold-scale --split-input-file | filecheck %s

// A weight of run time, and numbers that are no floats: a product of whole numbers wraps.
func.func @weights(%x: tensor<1x2x5xf32>, %w: tensor<4x2x2xf32>, %y: tensor<1x2x5xi32>) -> (tensor<1x4x4xf32>, tensor<1x4x4xi32>) {
  %0 = graph.conv(%x, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x2x5xf32>, tensor<4x2x2xf32>) -> tensor<1x4x4xf32>
  %1 = graph.map "x0 * 0.5"(%0) : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %v = graph.weight "v" : tensor<4x2x2xi32>
  %2 = graph.conv(%y, %v) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x2x5xi32>, tensor<4x2x2xi32>) -> tensor<1x4x4xi32>
  %3 = graph.map "x0 * 3"(%2) : (tensor<1x4x4xi32>) -> tensor<1x4x4xi32>
  func.return %1, %3 : tensor<1x4x4xf32>, tensor<1x4x4xi32>
}

// CHECK:      func.func @weights(%x: tensor<1x2x5xf32>, %w: tensor<4x2x2xf32>, %y: tensor<1x2x5xi32>) -> (tensor<1x4x4xf32>, tensor<1x4x4xi32>) {
// CHECK-NEXT: %v = graph.weight "v" : tensor<4x2x2xi32>
// CHECK-NEXT: %0 = graph.conv(%x, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x2x5xf32>, tensor<4x2x2xf32>) -> tensor<1x4x4xf32>
// CHECK-NEXT: %1 = graph.map "x0 * 0.5"(%0) : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
// CHECK-NEXT: %2 = graph.conv(%y, %v) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x2x5xi32>, tensor<4x2x2xi32>) -> tensor<1x4x4xi32>
// CHECK-NEXT: %3 = graph.map "x0 * 3"(%2) : (tensor<1x4x4xi32>) -> tensor<1x4x4xi32>
// CHECK-NEXT: func.return %1, %3 : tensor<1x4x4xf32>, tensor<1x4x4xi32>

// -----

// No multiple and no sum: a function, a square, a divisor.
func.func @not_affine(%x: tensor<1x2x5xf32>) -> (tensor<1x4x4xf32>, tensor<1x4x3xf32>, tensor<1x4x2xf32>) {
  %w = graph.weight "w" : tensor<4x2x2xf32>
  %0 = graph.conv(%x, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x2x5xf32>, tensor<4x2x2xf32>) -> tensor<1x4x4xf32>
  %1 = graph.map "exp(x0) * 2.0"(%0) : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %2 = graph.conv(%1, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 2 : i64} : (tensor<1x4x4xf32>, tensor<4x2x2xf32>) -> tensor<1x4x3xf32>
  %3 = graph.map "x0 * x0"(%2) : (tensor<1x4x3xf32>) -> tensor<1x4x3xf32>
  %4 = graph.conv(%3, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 2 : i64} : (tensor<1x4x3xf32>, tensor<4x2x2xf32>) -> tensor<1x4x2xf32>
  %5 = graph.map "2.0 / x0"(%4) : (tensor<1x4x2xf32>) -> tensor<1x4x2xf32>
  func.return %1, %3, %5 : tensor<1x4x4xf32>, tensor<1x4x3xf32>, tensor<1x4x2xf32>
}

// CHECK:      func.func @not_affine(%x: tensor<1x2x5xf32>) -> (tensor<1x4x4xf32>, tensor<1x4x3xf32>, tensor<1x4x2xf32>) {
// CHECK-NEXT: %w = graph.weight "w" : tensor<4x2x2xf32>
// CHECK-NEXT: %0 = graph.conv(%x, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x2x5xf32>, tensor<4x2x2xf32>) -> tensor<1x4x4xf32>
// CHECK-NEXT: %1 = graph.map "exp(x0) * 2.0"(%0) : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
// CHECK-NEXT: %2 = graph.conv(%1, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 2 : i64} : (tensor<1x4x4xf32>, tensor<4x2x2xf32>) -> tensor<1x4x3xf32>
// CHECK-NEXT: %3 = graph.map "x0 * x0"(%2) : (tensor<1x4x3xf32>) -> tensor<1x4x3xf32>
// CHECK-NEXT: %4 = graph.conv(%3, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 2 : i64} : (tensor<1x4x3xf32>, tensor<4x2x2xf32>) -> tensor<1x4x2xf32>
// CHECK-NEXT: %5 = graph.map "2.0 / x0"(%4) : (tensor<1x4x2xf32>) -> tensor<1x4x2xf32>
// CHECK-NEXT: func.return %1, %3, %5 : tensor<1x4x4xf32>, tensor<1x4x3xf32>, tensor<1x4x2xf32>

// -----

// A factor of each position, and of each image; one that makes the result larger.
func.func @other_axes(%x: tensor<4x2x5xf32>, %y: tensor<1x2x5xf32>) -> (tensor<4x4x4xf32>, tensor<4x4x4xf32>, tensor<3x4x4xf32>) {
  %w = graph.weight "w" : tensor<4x2x2xf32>
  %s = graph.weight "s" : tensor<4xf32>
  %t = graph.weight "t" : tensor<4x1x1xf32>
  %u = graph.weight "u" : tensor<3x4x1xf32>
  %0 = graph.conv(%x, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<4x2x5xf32>, tensor<4x2x2xf32>) -> tensor<4x4x4xf32>
  %1 = graph.map "x0 * x1"(%0, %s) : (tensor<4x4x4xf32>, tensor<4xf32>) -> tensor<4x4x4xf32>
  %2 = graph.conv(%x, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<4x2x5xf32>, tensor<4x2x2xf32>) -> tensor<4x4x4xf32>
  %3 = graph.map "x0 * x1"(%2, %t) : (tensor<4x4x4xf32>, tensor<4x1x1xf32>) -> tensor<4x4x4xf32>
  %4 = graph.conv(%y, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x2x5xf32>, tensor<4x2x2xf32>) -> tensor<1x4x4xf32>
  %5 = graph.map "x0 * x1"(%4, %u) : (tensor<1x4x4xf32>, tensor<3x4x1xf32>) -> tensor<3x4x4xf32>
  func.return %1, %3, %5 : tensor<4x4x4xf32>, tensor<4x4x4xf32>, tensor<3x4x4xf32>
}

// CHECK:      func.func @other_axes(%x: tensor<4x2x5xf32>, %y: tensor<1x2x5xf32>) -> (tensor<4x4x4xf32>, tensor<4x4x4xf32>, tensor<3x4x4xf32>) {
// CHECK-NEXT: %w = graph.weight "w" : tensor<4x2x2xf32>
// CHECK-NEXT: %s = graph.weight "s" : tensor<4xf32>
// CHECK-NEXT: %t = graph.weight "t" : tensor<4x1x1xf32>
// CHECK-NEXT: %u = graph.weight "u" : tensor<3x4x1xf32>
// CHECK-NEXT: %0 = graph.conv(%x, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<4x2x5xf32>, tensor<4x2x2xf32>) -> tensor<4x4x4xf32>
// CHECK-NEXT: %1 = graph.map "x0 * x1"(%0, %s) : (tensor<4x4x4xf32>, tensor<4xf32>) -> tensor<4x4x4xf32>
// CHECK-NEXT: %2 = graph.conv(%x, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<4x2x5xf32>, tensor<4x2x2xf32>) -> tensor<4x4x4xf32>
// CHECK-NEXT: %3 = graph.map "x0 * x1"(%2, %t) : (tensor<4x4x4xf32>, tensor<4x1x1xf32>) -> tensor<4x4x4xf32>
// CHECK-NEXT: %4 = graph.conv(%y, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x2x5xf32>, tensor<4x2x2xf32>) -> tensor<1x4x4xf32>
// CHECK-NEXT: %5 = graph.map "x0 * x1"(%4, %u) : (tensor<1x4x4xf32>, tensor<3x4x1xf32>) -> tensor<3x4x4xf32>
// CHECK-NEXT: func.return %1, %3, %5 : tensor<4x4x4xf32>, tensor<4x4x4xf32>, tensor<3x4x4xf32>

// -----

// The last axis is no column of the weight: each row of the operand has one of its own, or the result is transposed.
func.func @columns(%x: tensor<4x3xf32>) -> (tensor<4xf32>, tensor<5x4xf32>) {
  %w = graph.weight "w" : tensor<3x4xf32>
  %v = graph.weight "v" : tensor<3x5xf32>
  %s = graph.weight "s" : tensor<4xf32>
  %0 = graph.contract "mk,km->m"(%x, %w) : (tensor<4x3xf32>, tensor<3x4xf32>) -> tensor<4xf32>
  %1 = graph.map "x0 * x1"(%0, %s) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.contract "mk,kn->nm"(%x, %v) : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<5x4xf32>
  %3 = graph.map "x0 * x1"(%2, %s) : (tensor<5x4xf32>, tensor<4xf32>) -> tensor<5x4xf32>
  func.return %1, %3 : tensor<4xf32>, tensor<5x4xf32>
}

// CHECK:      func.func @columns(%x: tensor<4x3xf32>) -> (tensor<4xf32>, tensor<5x4xf32>) {
// CHECK-NEXT: %w = graph.weight "w" : tensor<3x4xf32>
// CHECK-NEXT: %v = graph.weight "v" : tensor<3x5xf32>
// CHECK-NEXT: %s = graph.weight "s" : tensor<4xf32>
// CHECK-NEXT: %0 = graph.contract "mk,km->m"(%x, %w) : (tensor<4x3xf32>, tensor<3x4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %1 = graph.map "x0 * x1"(%0, %s) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %2 = graph.contract "mk,kn->nm"(%x, %v) : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<5x4xf32>
// CHECK-NEXT: %3 = graph.map "x0 * x1"(%2, %s) : (tensor<5x4xf32>, tensor<4xf32>) -> tensor<5x4xf32>
// CHECK-NEXT: func.return %1, %3 : tensor<4xf32>, tensor<5x4xf32>

// -----

// By channel, but of another rank.
func.func @another_rank(%x: tensor<1x2x5xf32>) -> tensor<1x1x4x4xf32> {
  %w = graph.weight "w" : tensor<4x2x2xf32>
  %s = graph.weight "s" : tensor<1x1x4x1xf32>
  %0 = graph.conv(%x, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x2x5xf32>, tensor<4x2x2xf32>) -> tensor<1x4x4xf32>
  %1 = graph.map "x0 * x1"(%0, %s) : (tensor<1x4x4xf32>, tensor<1x1x4x1xf32>) -> tensor<1x1x4x4xf32>
  func.return %1 : tensor<1x1x4x4xf32>
}

// CHECK:      func.func @another_rank(%x: tensor<1x2x5xf32>) -> tensor<1x1x4x4xf32> {
// CHECK-NEXT: %w = graph.weight "w" : tensor<4x2x2xf32>
// CHECK-NEXT: %s = graph.weight "s" : tensor<1x1x4x1xf32>
// CHECK-NEXT: %0 = graph.conv(%x, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x2x5xf32>, tensor<4x2x2xf32>) -> tensor<1x4x4xf32>
// CHECK-NEXT: %1 = graph.map "x0 * x1"(%0, %s) : (tensor<1x4x4xf32>, tensor<1x1x4x1xf32>) -> tensor<1x1x4x4xf32>
// CHECK-NEXT: func.return %1 : tensor<1x1x4x4xf32>
