// RUN: mlc-opt %s --verify-diagnostics --split-input-file | filecheck %s

// Operands of contractions, convolutions and pools that do not fit each other or the attributes.

func.func @contract_elements(%x: tensor<2x3xf32>, %y: tensor<3x5xf64>) {
  %0 = graph.contract "mk,kn->mn"(%x, %y) : (tensor<2x3xf32>, tensor<3x5xf64>) -> tensor<2x5xf32>
  func.return
}

// CHECK:      graph.contract: operands are f32 and f64

// -----

func.func @contract_unknown_letter(%x: tensor<2x3xf32>, %y: tensor<3x5xf32>) {
  %0 = graph.contract "mk,kn->mq"(%x, %y) : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  func.return
}

// CHECK:      graph.contract: result 'mq' of 'mk,kn->mq' has dimensions that no operand has

// -----

func.func @contract_letter_twice(%x: tensor<2x3xf32>, %y: tensor<3x5xf32>) {
  %0 = graph.contract "mk,kn->mm"(%x, %y) : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x2xf32>
  func.return
}

// CHECK:      graph.contract: result 'mm' of 'mk,kn->mm' has dimensions that no operand has

// -----

func.func @conv_rank(%x: tensor<1x8x9xf32>, %w: tensor<4x8x2x2xf32>) {
  %0 = graph.conv(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x9xf32>, tensor<4x8x2x2xf32>) -> tensor<1x4x8x9xf32>
  func.return
}

// CHECK:      graph.conv: 2 strides take operands of rank 4, not 3 and 4

// -----

func.func @conv_lanes(%x: tensor<1x2x9x4xf32>, %w: tensor<3x2x2x5x4xf32>) {
  %0 = graph.conv(%x, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64, layouts = [#graph.layout<"aBc4b">, #graph.layout<"ABc5b4a">, #graph.layout<"aBc4b">]} : (tensor<1x2x9x4xf32>, tensor<3x2x2x5x4xf32>) -> tensor<1x3x8x4xf32>
  func.return
}

// CHECK:      graph.conv: channels of input (1, 8, 9) and weight (12, 10, 2) with 1 groups do not match

// -----

func.func @conv_depthwise(%x: tensor<1x2x9x4xf32>, %w: tensor<3x1x2x4xf32>) {
  %0 = graph.conv(%x, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 12 : i64, layouts = [#graph.layout<"aBc4b">, #graph.layout<"Abc4a">, #graph.layout<"aBc4b">]} : (tensor<1x2x9x4xf32>, tensor<3x1x2x4xf32>) -> tensor<1x3x8x4xf32>
  func.return
}

// CHECK:      graph.conv: channels of input (1, 8, 9) and weight (12, 1, 2) with 12 groups do not match
