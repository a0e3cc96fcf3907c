// RUN: mlc-opt %s -p 'pack-weights{block=16 wide=16}' --split-input-file | filecheck %s

// One or two rows: panels of 32 columns.

func.func @one(%x: tensor<1x5xf32>) -> tensor<1x256xf32> {
  %w = graph.weight "w" : tensor<5x256xf32>
  %0 = graph.contract "mk,kn->mn"(%x, %w) : (tensor<1x5xf32>, tensor<5x256xf32>) -> tensor<1x256xf32>
  func.return %0 : tensor<1x256xf32>
}

// CHECK: func.func @one(
// CHECK: graph.contract {{.*}}block = 32 : i64} : (tensor<1x5xf32>, tensor<8x5x32xf32>) -> tensor<1x256xf32>

// -----

func.func @several(%x: tensor<3x1x5xf32>) -> tensor<3x1x256xf32> {
  %w = graph.weight "w" : tensor<5x256xf32>
  %0 = graph.contract "bmk,kn->bmn"(%x, %w) : (tensor<3x1x5xf32>, tensor<5x256xf32>) -> tensor<3x1x256xf32>
  func.return %0 : tensor<3x1x256xf32>
}

// CHECK: func.func @several(
// CHECK: graph.contract {{.*}}block = 16 : i64} : (tensor<3x1x5xf32>, tensor<16x5x16xf32>) -> tensor<3x1x256xf32>

// -----

// Too few panels for several threads.

func.func @few_panels(%x: tensor<1x5xf32>) -> tensor<1x128xf32> {
  %w = graph.weight "w" : tensor<5x128xf32>
  %0 = graph.contract "mk,kn->mn"(%x, %w) : (tensor<1x5xf32>, tensor<5x128xf32>) -> tensor<1x128xf32>
  func.return %0 : tensor<1x128xf32>
}

// CHECK: func.func @few_panels(
// CHECK: graph.contract {{.*}}block = 16 : i64} : (tensor<1x5xf32>, tensor<8x5x16xf32>) -> tensor<1x128xf32>
