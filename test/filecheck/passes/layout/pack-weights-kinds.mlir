// RUN: mlc-opt %s --for-target x86-64-v4:vector_bits=64 -p 'pack-weights,decompose-pack' --verify-diagnostics --split-input-file | filecheck %s

// A constant on the left is moved to the right, doubles get half the columns; variables and integers are not packed.

func.func @constant_on_the_left(%x: tensor<2x5x3xf32>) -> tensor<2x9x3xf32> {
  %w = graph.weight "w" : tensor<9x5xf32>
  %0 = graph.contract "mk,bkn->bmn"(%w, %x) {graph.node = ["/matmul"]} : (tensor<9x5xf32>, tensor<2x5x3xf32>) -> tensor<2x9x3xf32>
  func.return %0 : tensor<2x9x3xf32>
}

// CHECK:      func.func @constant_on_the_left(%x: tensor<2x5x3xf32>) -> tensor<2x9x3xf32> {
// CHECK-NEXT: %w = graph.weight "w" : tensor<9x5xf32>
// CHECK-NEXT: %0 = graph.transpose(%x) {graph.node = ["/matmul"], perm = array<i64: 0, 2, 1>} : (tensor<2x5x3xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT: %1 = graph.transpose(%w) {graph.node = ["/matmul"], perm = array<i64: 1, 0>} : (tensor<9x5xf32>) -> tensor<5x9xf32>
// CHECK-NEXT: %2 = graph.pad(%1) {graph.node = ["/matmul"], low = ["0", "0"], high = ["0", "3"], interior = array<i64: 0, 0>, value = "0"} : (tensor<5x9xf32>) -> tensor<5x12xf32>
// CHECK-NEXT: %3 = graph.reshape(%2) {graph.node = ["/matmul"], shape = ["5", "3", "4"]} : (tensor<5x12xf32>) -> tensor<5x3x4xf32>
// CHECK-NEXT: %4 = graph.transpose(%3) {graph.node = ["/matmul"], perm = array<i64: 1, 0, 2>} : (tensor<5x3x4xf32>) -> tensor<3x5x4xf32>
// CHECK-NEXT: %5 = graph.contract "bnk,km->bnm"(%0, %4) {graph.node = ["/matmul"], layouts = [#graph.layout<"abc">, #graph.layout<"Ba4b", padding = [3]>, #graph.layout<"abc">]} : (tensor<2x3x5xf32>, tensor<3x5x4xf32>) -> tensor<2x3x9xf32>
// CHECK-NEXT: %6 = graph.transpose(%5) {graph.node = ["/matmul"], perm = array<i64: 0, 2, 1>} : (tensor<2x3x9xf32>) -> tensor<2x9x3xf32>
// CHECK-NEXT: func.return %6 : tensor<2x9x3xf32>

// -----

func.func @doubles(%x: tensor<3x5xf64>) -> tensor<3x9xf64> {
  %w = graph.weight "w" : tensor<5x9xf64>
  %0 = graph.contract "mk,kn->mn"(%x, %w) : (tensor<3x5xf64>, tensor<5x9xf64>) -> tensor<3x9xf64>
  func.return %0 : tensor<3x9xf64>
}

// CHECK:      func.func @doubles(%x: tensor<3x5xf64>) -> tensor<3x9xf64> {
// CHECK-NEXT: %w = graph.weight "w" : tensor<5x9xf64>
// CHECK-NEXT: %0 = graph.pad(%w) {low = ["0", "0"], high = ["0", "1"], interior = array<i64: 0, 0>, value = "0"} : (tensor<5x9xf64>) -> tensor<5x10xf64>
// CHECK-NEXT: %1 = graph.reshape(%0) {shape = ["5", "5", "2"]} : (tensor<5x10xf64>) -> tensor<5x5x2xf64>
// CHECK-NEXT: %2 = graph.transpose(%1) {perm = array<i64: 1, 0, 2>} : (tensor<5x5x2xf64>) -> tensor<5x5x2xf64>
// CHECK-NEXT: %3 = graph.contract "mk,kn->mn"(%x, %2) {layouts = [#graph.layout<"ab">, #graph.layout<"Ba2b", padding = [1]>, #graph.layout<"ab">]} : (tensor<3x5xf64>, tensor<5x5x2xf64>) -> tensor<3x9xf64>
// CHECK-NEXT: func.return %3 : tensor<3x9xf64>

// -----

func.func @stays(%x: tensor<3x5xf32>, %y: tensor<5x9xf32>, %n: tensor<3x5xi32>) -> (tensor<3x9xf32>, tensor<3x9xi32>) {
  %w = graph.weight "w" : tensor<5x9xi32>
  %0 = graph.contract "mk,kn->mn"(%x, %y) : (tensor<3x5xf32>, tensor<5x9xf32>) -> tensor<3x9xf32>
  %1 = graph.contract "mk,kn->mn"(%n, %w) : (tensor<3x5xi32>, tensor<5x9xi32>) -> tensor<3x9xi32>
  func.return %0, %1 : tensor<3x9xf32>, tensor<3x9xi32>
}

// CHECK:      func.func @stays(%x: tensor<3x5xf32>, %y: tensor<5x9xf32>, %n: tensor<3x5xi32>) -> (tensor<3x9xf32>, tensor<3x9xi32>) {
// CHECK-NEXT: %w = graph.weight "w" : tensor<5x9xi32>
// CHECK-NEXT: %0 = graph.contract "mk,kn->mn"(%x, %y) : (tensor<3x5xf32>, tensor<5x9xf32>) -> tensor<3x9xf32>
// CHECK-NEXT: %1 = graph.contract "mk,kn->mn"(%n, %w) : (tensor<3x5xi32>, tensor<5x9xi32>) -> tensor<3x9xi32>
// CHECK-NEXT: func.return %0, %1 : tensor<3x9xf32>, tensor<3x9xi32>
