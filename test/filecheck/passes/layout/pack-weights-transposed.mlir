// RUN: mlc-opt %s --for-target x86-64-v4:vector_bits=64 -p 'pack-weights,decompose-pack' | filecheck %s

// A transposed right operand that is computed at run time, for eight rows and for seven.

func.func @main(%x: tensor<8x5xf32>, %y: tensor<7x5xf32>, %w: tensor<12x5xf32>) -> (tensor<8x12xf32>, tensor<7x12xf32>) {
  %0 = graph.contract "mk,nk->mn"(%x, %w) : (tensor<8x5xf32>, tensor<12x5xf32>) -> tensor<8x12xf32>
  %1 = graph.contract "mk,nk->mn"(%y, %w) : (tensor<7x5xf32>, tensor<12x5xf32>) -> tensor<7x12xf32>
  func.return %0, %1 : tensor<8x12xf32>, tensor<7x12xf32>
}

// CHECK:      func.func @main(%x: tensor<8x5xf32>, %y: tensor<7x5xf32>, %w: tensor<12x5xf32>) -> (tensor<8x12xf32>, tensor<7x12xf32>) {
// CHECK-NEXT: %0 = graph.transpose(%w) {perm = array<i64: 1, 0>} : (tensor<12x5xf32>) -> tensor<5x12xf32>
// CHECK-NEXT: %1 = graph.reshape(%0) {shape = ["5", "3", "4"]} : (tensor<5x12xf32>) -> tensor<5x3x4xf32>
// CHECK-NEXT: %2 = graph.transpose(%1) {perm = array<i64: 1, 0, 2>} : (tensor<5x3x4xf32>) -> tensor<3x5x4xf32>
// CHECK-NEXT: %3 = graph.contract "mk,kn->mn"(%x, %2) {layouts = [#graph.layout<"ab">, #graph.layout<"Ba4b">, #graph.layout<"ab">]} : (tensor<8x5xf32>, tensor<3x5x4xf32>) -> tensor<8x12xf32>
// CHECK-NEXT: %4 = graph.contract "mk,nk->mn"(%y, %w) : (tensor<7x5xf32>, tensor<12x5xf32>) -> tensor<7x12xf32>
// CHECK-NEXT: func.return %3, %4 : tensor<8x12xf32>, tensor<7x12xf32>
