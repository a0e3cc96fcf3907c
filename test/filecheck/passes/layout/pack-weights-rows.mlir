// RUN: mlc-opt %s --for-target x86-64-v3 -p 'pack-weights,decompose-pack' --split-input-file | filecheck %s

// One or two rows: panels of 32 columns.

func.func @one(%x: tensor<1x5xf32>) -> tensor<1x256xf32> {
  %w = graph.weight "w" : tensor<5x256xf32>
  %0 = graph.contract "mk,kn->mn"(%x, %w) : (tensor<1x5xf32>, tensor<5x256xf32>) -> tensor<1x256xf32>
  func.return %0 : tensor<1x256xf32>
}

// CHECK: func.func @one(
// CHECK: graph.contract {{.*}}"Ba32b"{{.*}} : (tensor<1x5xf32>, tensor<8x5x32xf32>) -> tensor<1x256xf32>

// -----

func.func @several(%x: tensor<3x1x5xf32>) -> tensor<3x1x256xf32> {
  %w = graph.weight "w" : tensor<5x256xf32>
  %0 = graph.contract "bmk,kn->bmn"(%x, %w) : (tensor<3x1x5xf32>, tensor<5x256xf32>) -> tensor<3x1x256xf32>
  func.return %0 : tensor<3x1x256xf32>
}

// CHECK: func.func @several(
// CHECK: graph.contract {{.*}}"Ba16b"{{.*}} : (tensor<3x1x5xf32>, tensor<16x5x16xf32>) -> tensor<3x1x256xf32>

// -----

// Too few panels for several threads.

func.func @few_panels(%x: tensor<1x600xf32>) -> tensor<1x128xf32> {
  %w = graph.weight "w" : tensor<600x128xf32>
  %0 = graph.contract "mk,kn->mn"(%x, %w) : (tensor<1x600xf32>, tensor<600x128xf32>) -> tensor<1x128xf32>
  func.return %0 : tensor<1x128xf32>
}

// CHECK: func.func @few_panels(
// CHECK: graph.contract {{.*}}"Ba16b"{{.*}} : (tensor<1x600xf32>, tensor<8x600x16xf32>) -> tensor<1x128xf32>

// -----

// One thread does as few products before another could help.

func.func @small(%x: tensor<1x5xf32>) -> tensor<1x128xf32> {
  %w = graph.weight "w" : tensor<5x128xf32>
  %0 = graph.contract "mk,kn->mn"(%x, %w) : (tensor<1x5xf32>, tensor<5x128xf32>) -> tensor<1x128xf32>
  func.return %0 : tensor<1x128xf32>
}

// CHECK: func.func @small(
// CHECK: graph.contract {{.*}}"Ba32b"{{.*}} : (tensor<1x5xf32>, tensor<4x5x32xf32>) -> tensor<1x128xf32>

// -----

// Columns of one vector, stored by columns, are dot products in one row, and a panel in three.

func.func @narrow(%x: tensor<1x5xf32>, %y: tensor<3x5xf32>) -> (tensor<1x16xf32>, tensor<1x16xf32>, tensor<3x16xf32>) {
  %w = graph.weight "w" : tensor<16x5xf32>
  %v = graph.weight "v" : tensor<5x16xf32>
  %0 = graph.contract "mk,nk->mn"(%x, %w) : (tensor<1x5xf32>, tensor<16x5xf32>) -> tensor<1x16xf32>
  %1 = graph.contract "mk,kn->mn"(%x, %v) : (tensor<1x5xf32>, tensor<5x16xf32>) -> tensor<1x16xf32>
  %2 = graph.contract "mk,nk->mn"(%y, %w) : (tensor<3x5xf32>, tensor<16x5xf32>) -> tensor<3x16xf32>
  func.return %0, %1, %2 : tensor<1x16xf32>, tensor<1x16xf32>, tensor<3x16xf32>
}

// CHECK: func.func @narrow(
// CHECK: graph.contract "mk,nk->mn"(%x, %w) : (tensor<1x5xf32>, tensor<16x5xf32>) -> tensor<1x16xf32>
// CHECK: graph.contract {{.*}}"Ba16b"{{.*}} : (tensor<1x5xf32>, tensor<1x5x16xf32>) -> tensor<1x16xf32>
// CHECK: graph.contract {{.*}}"Ba16b"{{.*}} : (tensor<3x5xf32>, tensor<1x5x16xf32>) -> tensor<3x16xf32>
