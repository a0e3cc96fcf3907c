// RUN: mlc-opt %s --for-target x86-64-v4:vector_bits=128 -p 'pack-weights,decompose-pack' | filecheck %s

func.func @main(%x: tensor<3x35xbf16>) -> tensor<3x9xf32> {
  %w = graph.weight "w" : tensor<9x35xbf16>
  %0 = graph.contract "mk,nk->mn"(%x, %w) {graph.node = ["/m"], product = "f32(x0) * f32(x1)"} : (tensor<3x35xbf16>, tensor<9x35xbf16>) -> tensor<3x9xf32>
  func.return %0 : tensor<3x9xf32>
}

// CHECK:      func.func @main(%x: tensor<3x35xbf16>) -> tensor<3x9xf32> {
// CHECK-NEXT: %w = graph.weight "w" : tensor<9x35xbf16>
// CHECK-NEXT: %0 = graph.transpose(%w) {graph.node = ["/m"], perm = array<i64: 1, 0>} : (tensor<9x35xbf16>) -> tensor<35x9xbf16>
// CHECK-NEXT: %1 = graph.pad(%x) {graph.node = ["/m"], low = ["0", "0"], high = ["0", "1"], interior = array<i64: 0, 0>, value = "0"} : (tensor<3x35xbf16>) -> tensor<3x36xbf16>
// CHECK-NEXT: %2 = graph.bitcast(%1) {graph.node = ["/m"], element = "i32"} : (tensor<3x36xbf16>) -> tensor<3x18xi32>
// CHECK-NEXT: %3 = graph.transpose(%0) {graph.node = ["/m"], perm = array<i64: 1, 0>} : (tensor<35x9xbf16>) -> tensor<9x35xbf16>
// CHECK-NEXT: %4 = graph.pad(%3) {graph.node = ["/m"], low = ["0", "0"], high = ["0", "1"], interior = array<i64: 0, 0>, value = "0"} : (tensor<9x35xbf16>) -> tensor<9x36xbf16>
// CHECK-NEXT: %5 = graph.bitcast(%4) {graph.node = ["/m"], element = "i32"} : (tensor<9x36xbf16>) -> tensor<9x18xi32>
// CHECK-NEXT: %6 = graph.transpose(%5) {graph.node = ["/m"], perm = array<i64: 1, 0>} : (tensor<9x18xi32>) -> tensor<18x9xi32>
// CHECK-NEXT: %7 = graph.pad(%6) {graph.node = ["/m"], low = ["0", "0"], high = ["0", "7"], interior = array<i64: 0, 0>, value = "0"} : (tensor<18x9xi32>) -> tensor<18x16xi32>
// CHECK-NEXT: %8 = graph.reshape(%7) {graph.node = ["/m"], shape = ["18", "2", "8"]} : (tensor<18x16xi32>) -> tensor<18x2x8xi32>
// CHECK-NEXT: %9 = graph.transpose(%8) {graph.node = ["/m"], perm = array<i64: 1, 0, 2>} : (tensor<18x2x8xi32>) -> tensor<2x18x8xi32>
// CHECK-NEXT: %10 = graph.contract "mk,kn->mn"(%2, %9) {graph.node = ["/m"], product = "dot2(x0, x1)", layouts = [#graph.layout<"ab">, #graph.layout<"Ba8b", padding = [7]>, #graph.layout<"ab">]} : (tensor<3x18xi32>, tensor<2x18x8xi32>) -> tensor<3x9xf32>
// CHECK-NEXT: func.return %10 : tensor<3x9xf32>
