// RUN: mlc-opt %s --verify-diagnostics --split-input-file | filecheck %s

// Convolutions and pools whose windows, groups or elements do not fit.

func.func @dilations(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x3x3xf32>) {
  %0 = graph.conv(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1, 1>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// CHECK:      graph.conv: strides [1, 1] and dilations [1, 1, 1] must be at least 1, one for each of 2 dimensions

// -----

func.func @stride(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x3x3xf32>) {
  %0 = graph.conv(%x, %w) {strides = array<i64: 0, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// CHECK:      graph.conv: strides [0, 1] and dilations [1, 1] must be at least 1, one for each of 2 dimensions

// -----

func.func @dilation(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x3x3xf32>) {
  %0 = graph.conv(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, -1>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// CHECK:      graph.conv: strides [1, 1] and dilations [1, -1] must be at least 1

// -----

func.func @pool(%x: tensor<1x3x8x8xf32>) {
  %0 = graph.pool "max"(%x) {kernel = array<i64: 3, 3>, strides = array<i64: 1>, dilations = array<i64: 1, 1>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x6x6xf32>
  func.return
}

// CHECK:      graph.pool: strides [1] and dilations [1, 1] must be at least 1, one for each of 2 dimensions

// -----

func.func @elements(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x3x3xf64>) {
  %0 = graph.conv(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf64>) -> tensor<1x4x6x6xf32>
  func.return
}

// CHECK:      graph.conv: operands are f32 and f64; insert a cast

// -----

func.func @filters(%x: tensor<1x4x8x8xf32>, %w: tensor<5x2x3x3xf32>) {
  %0 = graph.conv(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<5x2x3x3xf32>) -> tensor<1x5x6x6xf32>
  func.return
}

// CHECK:      graph.conv: 5 filters do not divide into 2 equal groups

// -----

func.func @no_groups(%x: tensor<1x0x8x8xf32>, %w: tensor<4x4x3x3xf32>) {
  %0 = graph.conv(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 0 : i64} : (tensor<1x0x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// CHECK:      graph.conv: 4 filters do not divide into 0 equal groups
