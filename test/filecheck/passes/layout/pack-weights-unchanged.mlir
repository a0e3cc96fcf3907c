// RUN: mlc-opt %s --for-target x86-64-v4:vector_bits=64 -p 'pack-weights,decompose-pack' --split-input-file | filecheck %s

// No matrix of columns: computed at run time in a product of few rows, a weight for each of a batch, a column that the
// left operand has too, a transposed result, bytes.
func.func @main(%x: tensor<3x8xf32>, %y: tensor<8x10xf32>, %b: tensor<2x3x8xf32>, %i: tensor<3x8xi8>) -> (tensor<3x10xf32>, tensor<2x3x10xf32>, tensor<3xf32>, tensor<10x3xf32>, tensor<3x10xi8>) {
  %w = graph.weight "w" : tensor<2x8x10xf32>
  %v = graph.weight "v" : tensor<8x3xf32>
  %u = graph.weight "u" : tensor<8x10xf32>
  %t = graph.weight "t" : tensor<8x10xi8>
  %0 = graph.contract "mk,kn->mn"(%x, %y) : (tensor<3x8xf32>, tensor<8x10xf32>) -> tensor<3x10xf32>
  %1 = graph.contract "bmk,bkn->bmn"(%b, %w) : (tensor<2x3x8xf32>, tensor<2x8x10xf32>) -> tensor<2x3x10xf32>
  %2 = graph.contract "mk,km->m"(%x, %v) : (tensor<3x8xf32>, tensor<8x3xf32>) -> tensor<3xf32>
  %3 = graph.contract "mk,kn->nm"(%x, %u) : (tensor<3x8xf32>, tensor<8x10xf32>) -> tensor<10x3xf32>
  %4 = graph.contract "mk,kn->mn"(%i, %t) : (tensor<3x8xi8>, tensor<8x10xi8>) -> tensor<3x10xi8>
  func.return %0, %1, %2, %3, %4 : tensor<3x10xf32>, tensor<2x3x10xf32>, tensor<3xf32>, tensor<10x3xf32>, tensor<3x10xi8>
}

// CHECK:      func.func @main(%x: tensor<3x8xf32>, %y: tensor<8x10xf32>, %b: tensor<2x3x8xf32>, %i: tensor<3x8xi8>) -> (tensor<3x10xf32>, tensor<2x3x10xf32>, tensor<3xf32>, tensor<10x3xf32>, tensor<3x10xi8>) {
// CHECK-NEXT: %w = graph.weight "w" : tensor<2x8x10xf32>
// CHECK-NEXT: %v = graph.weight "v" : tensor<8x3xf32>
// CHECK-NEXT: %u = graph.weight "u" : tensor<8x10xf32>
// CHECK-NEXT: %t = graph.weight "t" : tensor<8x10xi8>
// CHECK-NEXT: %0 = graph.contract "mk,kn->mn"(%x, %y) : (tensor<3x8xf32>, tensor<8x10xf32>) -> tensor<3x10xf32>
// CHECK-NEXT: %1 = graph.contract "bmk,bkn->bmn"(%b, %w) : (tensor<2x3x8xf32>, tensor<2x8x10xf32>) -> tensor<2x3x10xf32>
// CHECK-NEXT: %2 = graph.contract "mk,km->m"(%x, %v) : (tensor<3x8xf32>, tensor<8x3xf32>) -> tensor<3xf32>
// CHECK-NEXT: %3 = graph.contract "mk,kn->nm"(%x, %u) : (tensor<3x8xf32>, tensor<8x10xf32>) -> tensor<10x3xf32>
// CHECK-NEXT: %4 = graph.contract "mk,kn->mn"(%i, %t) : (tensor<3x8xi8>, tensor<8x10xi8>) -> tensor<3x10xi8>
// CHECK-NEXT: func.return %0, %1, %2, %3, %4 : tensor<3x10xf32>, tensor<2x3x10xf32>, tensor<3xf32>, tensor<10x3xf32>, tensor<3x10xi8>
