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

// CHECK:      graph.contract: result 'mq' of 'mk,kn->mq' is not made of operand dimensions

// -----

func.func @contract_letter_twice(%x: tensor<2x3xf32>, %y: tensor<3x5xf32>) {
  %0 = graph.contract "mk,kn->mm"(%x, %y) : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x2xf32>
  func.return
}

// CHECK:      graph.contract: result 'mm' of 'mk,kn->mm' is not made of operand dimensions

// -----

func.func @conv_rank(%x: tensor<1x8x9xf32>, %w: tensor<4x8x2x2xf32>) {
  %0 = graph.conv(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, layout = "NCX"} : (tensor<1x8x9xf32>, tensor<4x8x2x2xf32>) -> tensor<1x4x8x9xf32>
  func.return
}

// CHECK:      graph.conv: NCX takes operands of rank (4, 4), not 3 and 4

// -----

func.func @conv_lanes(%x: tensor<1x2x9x4xf32>, %w: tensor<3x2x2x5x4xf32>) {
  %0 = graph.conv(%x, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64, layout = "NCXc"} : (tensor<1x2x9x4xf32>, tensor<3x2x2x5x4xf32>) -> tensor<1x3x8x4xf32>
  func.return
}

// CHECK:      graph.conv: channels of input (1, 2, 9, 4) and weight (3, 2, 2, 5, 4) with 1 groups do not match

// -----

func.func @conv_depthwise(%x: tensor<1x2x9x4xf32>, %w: tensor<3x2x4xf32>) {
  %0 = graph.conv(%x, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 8 : i64, layout = "NCXc_depthwise"} : (tensor<1x2x9x4xf32>, tensor<3x2x4xf32>) -> tensor<1x3x8x4xf32>
  func.return
}

// CHECK:      graph.conv: channels of input (1, 2, 9, 4) and weight (3, 2, 4) with 8 groups do not match
