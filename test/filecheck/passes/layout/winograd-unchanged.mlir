// RUN: mlc-opt %s -p 'winograd{gain=0.0}' --split-input-file | filecheck %s

// Strides and dilations; taps that are no 3 by 3; floats of 64 bits; an image that is not blocked.

func.func @windows(%x: tensor<1x2x14x16x4xf32>) -> (tensor<1x3x6x14x4xf32>, tensor<1x3x12x12x4xf32>, tensor<1x3x10x14x4xf32>) {
  %w = graph.weight "w" : tensor<3x2x3x3x4x4xf32>
  %v = graph.weight "v" : tensor<3x2x5x3x4x4xf32>
  %0 = graph.conv(%x, %w) {strides = array<i64: 2, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, layouts = [#graph.layout<"aBcd4b">, #graph.layout<"ABcd4b4a">, #graph.layout<"aBcd4b">]} : (tensor<1x2x14x16x4xf32>, tensor<3x2x3x3x4x4xf32>) -> tensor<1x3x6x14x4xf32>
  %1 = graph.conv(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 2>, groups = 1 : i64, layouts = [#graph.layout<"aBcd4b">, #graph.layout<"ABcd4b4a">, #graph.layout<"aBcd4b">]} : (tensor<1x2x14x16x4xf32>, tensor<3x2x3x3x4x4xf32>) -> tensor<1x3x12x12x4xf32>
  %2 = graph.conv(%x, %v) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, layouts = [#graph.layout<"aBcd4b">, #graph.layout<"ABcd4b4a">, #graph.layout<"aBcd4b">]} : (tensor<1x2x14x16x4xf32>, tensor<3x2x5x3x4x4xf32>) -> tensor<1x3x10x14x4xf32>
  func.return %0, %1, %2 : tensor<1x3x6x14x4xf32>, tensor<1x3x12x12x4xf32>, tensor<1x3x10x14x4xf32>
}

// CHECK:      func.func @windows(%x: tensor<1x2x14x16x4xf32>) -> (tensor<1x3x6x14x4xf32>, tensor<1x3x12x12x4xf32>, tensor<1x3x10x14x4xf32>) {
// CHECK-NEXT: %w = graph.weight "w" : tensor<3x2x3x3x4x4xf32>
// CHECK-NEXT: %v = graph.weight "v" : tensor<3x2x5x3x4x4xf32>
// CHECK-NEXT: %0 = graph.conv(%x, %w) {strides = array<i64: 2, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, layouts = [#graph.layout<"aBcd4b">, #graph.layout<"ABcd4b4a">, #graph.layout<"aBcd4b">]} : (tensor<1x2x14x16x4xf32>, tensor<3x2x3x3x4x4xf32>) -> tensor<1x3x6x14x4xf32>
// CHECK-NEXT: %1 = graph.conv(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 2>, groups = 1 : i64, layouts = [#graph.layout<"aBcd4b">, #graph.layout<"ABcd4b4a">, #graph.layout<"aBcd4b">]} : (tensor<1x2x14x16x4xf32>, tensor<3x2x3x3x4x4xf32>) -> tensor<1x3x12x12x4xf32>
// CHECK-NEXT: %2 = graph.conv(%x, %v) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, layouts = [#graph.layout<"aBcd4b">, #graph.layout<"ABcd4b4a">, #graph.layout<"aBcd4b">]} : (tensor<1x2x14x16x4xf32>, tensor<3x2x5x3x4x4xf32>) -> tensor<1x3x10x14x4xf32>
// CHECK-NEXT: func.return %0, %1, %2 : tensor<1x3x6x14x4xf32>, tensor<1x3x12x12x4xf32>, tensor<1x3x10x14x4xf32>

// -----

func.func @values(%y: tensor<1x2x14x16x4xf64>, %z: tensor<1x8x14x16xf32>) -> (tensor<1x3x12x14x4xf64>, tensor<1x12x12x14xf32>) {
  %v = graph.weight "v" : tensor<3x2x3x3x4x4xf64>
  %u = graph.weight "u" : tensor<12x8x3x3xf32>
  %0 = graph.conv(%y, %v) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, layouts = [#graph.layout<"aBcd4b">, #graph.layout<"ABcd4b4a">, #graph.layout<"aBcd4b">]} : (tensor<1x2x14x16x4xf64>, tensor<3x2x3x3x4x4xf64>) -> tensor<1x3x12x14x4xf64>
  %1 = graph.conv(%z, %u) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x14x16xf32>, tensor<12x8x3x3xf32>) -> tensor<1x12x12x14xf32>
  func.return %0, %1 : tensor<1x3x12x14x4xf64>, tensor<1x12x12x14xf32>
}

// CHECK:      func.func @values(%y: tensor<1x2x14x16x4xf64>, %z: tensor<1x8x14x16xf32>) -> (tensor<1x3x12x14x4xf64>, tensor<1x12x12x14xf32>) {
// CHECK-NEXT: %v = graph.weight "v" : tensor<3x2x3x3x4x4xf64>
// CHECK-NEXT: %u = graph.weight "u" : tensor<12x8x3x3xf32>
// CHECK-NEXT: %0 = graph.conv(%y, %v) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, layouts = [#graph.layout<"aBcd4b">, #graph.layout<"ABcd4b4a">, #graph.layout<"aBcd4b">]} : (tensor<1x2x14x16x4xf64>, tensor<3x2x3x3x4x4xf64>) -> tensor<1x3x12x14x4xf64>
// CHECK-NEXT: %1 = graph.conv(%z, %u) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x14x16xf32>, tensor<12x8x3x3xf32>) -> tensor<1x12x12x14xf32>
// CHECK-NEXT: func.return %0, %1 : tensor<1x3x12x14x4xf64>, tensor<1x12x12x14xf32>


// -----

func.func @groups(%x: tensor<1x2x14x16x4xf32>) -> tensor<1x2x12x14x4xf32> {
  %w = graph.weight "w" : tensor<2x1x3x3x4x4xf32>
  %0 = graph.conv(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64, layouts = [#graph.layout<"aBcd4b">, #graph.layout<"ABcd4b4a">, #graph.layout<"aBcd4b">]} : (tensor<1x2x14x16x4xf32>, tensor<2x1x3x3x4x4xf32>) -> tensor<1x2x12x14x4xf32>
  func.return %0 : tensor<1x2x12x14x4xf32>
}

// CHECK:      func.func @groups(%x: tensor<1x2x14x16x4xf32>) -> tensor<1x2x12x14x4xf32> {
// CHECK-NEXT: %w = graph.weight "w" : tensor<2x1x3x3x4x4xf32>
// CHECK-NEXT: %0 = graph.conv(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64, layouts = [#graph.layout<"aBcd4b">, #graph.layout<"ABcd4b4a">, #graph.layout<"aBcd4b">]} : (tensor<1x2x14x16x4xf32>, tensor<2x1x3x3x4x4xf32>) -> tensor<1x2x12x14x4xf32>
// CHECK-NEXT: func.return %0 : tensor<1x2x12x14x4xf32>
