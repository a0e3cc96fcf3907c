// RUN: mlc-opt %s --for-target x86-64-v4:vector_bits=64 -p 'pack-operands,decompose-pack' --split-input-file | filecheck %s

// A transposed right operand that is computed at run time, for eight rows and for seven.

func.func @transposed(%x: tensor<8x5xf32>, %y: tensor<7x5xf32>, %w: tensor<12x5xf32>) -> (tensor<8x12xf32>, tensor<7x12xf32>) {
  %0 = graph.contract "mk,nk->mn"(%x, %w) : (tensor<8x5xf32>, tensor<12x5xf32>) -> tensor<8x12xf32>
  %1 = graph.contract "mk,nk->mn"(%y, %w) : (tensor<7x5xf32>, tensor<12x5xf32>) -> tensor<7x12xf32>
  func.return %0, %1 : tensor<8x12xf32>, tensor<7x12xf32>
}

// CHECK:      func.func @transposed(%x: tensor<8x5xf32>, %y: tensor<7x5xf32>, %w: tensor<12x5xf32>) -> (tensor<8x12xf32>, tensor<7x12xf32>) {
// CHECK-NEXT: %0 = graph.transpose(%w) {perm = array<i64: 1, 0>} : (tensor<12x5xf32>) -> tensor<5x12xf32>
// CHECK-NEXT: %1 = graph.reshape(%0) {shape = ["5", "3", "4"]} : (tensor<5x12xf32>) -> tensor<5x3x4xf32>
// CHECK-NEXT: %2 = graph.transpose(%1) {perm = array<i64: 1, 0, 2>} : (tensor<5x3x4xf32>) -> tensor<3x5x4xf32>
// CHECK-NEXT: %3 = graph.contract "mk,kn->mn"(%x, %2) {layouts = [#graph.layout<"ab">, #graph.layout<"Ba4b">, #graph.layout<"ab">]} : (tensor<8x5xf32>, tensor<3x5x4xf32>) -> tensor<8x12xf32>
// CHECK-NEXT: %4 = graph.contract "mk,nk->mn"(%y, %w) : (tensor<7x5xf32>, tensor<12x5xf32>) -> tensor<7x12xf32>
// CHECK-NEXT: func.return %3, %4 : tensor<8x12xf32>, tensor<7x12xf32>

// -----

// The derivative by a matrix: rows of the left operand are contiguous, and two letters of the sum become one.

func.func @derivative(%x: tensor<4x9x256xf32>, %g: tensor<4x9x12xf32>) -> tensor<256x12xf32> {
  %0 = graph.contract "bsk,bsn->kn"(%x, %g) : (tensor<4x9x256xf32>, tensor<4x9x12xf32>) -> tensor<256x12xf32>
  func.return %0 : tensor<256x12xf32>
}

// CHECK:      func.func @derivative(%x: tensor<4x9x256xf32>, %g: tensor<4x9x12xf32>) -> tensor<256x12xf32> {
// CHECK-NEXT: %0 = graph.reshape(%g) {shape = ["36", "12"]} : (tensor<4x9x12xf32>) -> tensor<36x12xf32>
// CHECK-NEXT: %1 = graph.reshape(%0) {shape = ["36", "3", "4"]} : (tensor<36x12xf32>) -> tensor<36x3x4xf32>
// CHECK-NEXT: %2 = graph.transpose(%1) {perm = array<i64: 1, 0, 2>} : (tensor<36x3x4xf32>) -> tensor<3x36x4xf32>
// CHECK-NEXT: %3 = graph.reshape(%x) {shape = ["36", "256"]} : (tensor<4x9x256xf32>) -> tensor<36x256xf32>
// CHECK-NEXT: %4 = graph.contract "bk,bn->kn"(%3, %2) {layouts = [#graph.layout<"ab">, #graph.layout<"Ba4b">, #graph.layout<"ab">]} : (tensor<36x256xf32>, tensor<3x36x4xf32>) -> tensor<256x12xf32>
// CHECK-NEXT: func.return %4 : tensor<256x12xf32>

// -----

// The same derivative with its operands in the other order: they are swapped, and the result's columns are packed.

func.func @commuted(%g: tensor<36x12xf32>, %x: tensor<36x256xf32>) -> tensor<256x12xf32> {
  %0 = graph.contract "sn,sk->kn"(%g, %x) : (tensor<36x12xf32>, tensor<36x256xf32>) -> tensor<256x12xf32>
  func.return %0 : tensor<256x12xf32>
}

// CHECK:      func.func @commuted(%g: tensor<36x12xf32>, %x: tensor<36x256xf32>) -> tensor<256x12xf32> {
// CHECK-NEXT: %0 = graph.reshape(%g) {shape = ["36", "3", "4"]} : (tensor<36x12xf32>) -> tensor<36x3x4xf32>
// CHECK-NEXT: %1 = graph.transpose(%0) {perm = array<i64: 1, 0, 2>} : (tensor<36x3x4xf32>) -> tensor<3x36x4xf32>
// CHECK-NEXT: %2 = graph.contract "sk,sn->kn"(%x, %1) {layouts = [#graph.layout<"ab">, #graph.layout<"Ba4b">, #graph.layout<"ab">]} : (tensor<36x256xf32>, tensor<3x36x4xf32>) -> tensor<256x12xf32>
// CHECK-NEXT: func.return %2 : tensor<256x12xf32>

// -----

// A matrix for each of a batch, 255 rows; a transposed result of seven rows.

func.func @unchanged(%x: tensor<2x256x5xf32>, %w: tensor<2x5x12xf32>, %z: tensor<255x5xf32>, %v: tensor<5x12xf32>, %u: tensor<5x7xf32>) -> (tensor<2x256x12xf32>, tensor<255x12xf32>, tensor<7x255xf32>) {
  %0 = graph.contract "bmk,bkn->bmn"(%x, %w) : (tensor<2x256x5xf32>, tensor<2x5x12xf32>) -> tensor<2x256x12xf32>
  %1 = graph.contract "mk,kn->mn"(%z, %v) : (tensor<255x5xf32>, tensor<5x12xf32>) -> tensor<255x12xf32>
  %2 = graph.contract "mk,kn->nm"(%z, %u) : (tensor<255x5xf32>, tensor<5x7xf32>) -> tensor<7x255xf32>
  func.return %0, %1, %2 : tensor<2x256x12xf32>, tensor<255x12xf32>, tensor<7x255xf32>
}

// CHECK:      func.func @unchanged
// CHECK-NEXT: %0 = graph.contract "bmk,bkn->bmn"(%x, %w) : (tensor<2x256x5xf32>, tensor<2x5x12xf32>) -> tensor<2x256x12xf32>
// CHECK-NEXT: %1 = graph.contract "mk,kn->mn"(%z, %v) : (tensor<255x5xf32>, tensor<5x12xf32>) -> tensor<255x12xf32>
// CHECK-NEXT: %2 = graph.contract "kn,mk->nm"(%u, %z) : (tensor<5x7xf32>, tensor<255x5xf32>) -> tensor<7x255xf32>
// CHECK-NEXT: func.return %0, %1, %2
