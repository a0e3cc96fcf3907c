// RUN: mlc-opt %s --for-target cuda:sm_90 -p 'transpose-operands{numerics="relaxed"}' | filecheck %s
// RUN: mlc-opt %s --for-target cuda:sm_90 -p transpose-operands | filecheck %s --check-prefix=DEFAULT
// RUN: mlc-opt %s --for-target cuda:sm_80 -p 'transpose-operands{numerics="relaxed"}' | filecheck %s --check-prefix=WARPS

// Floats of 8 bits with relaxed numerics, and bytes in all; not what two products read, an input, or halves.
// CHECK:      %[[W:.*]] = graph.transpose(%w) {graph.node = ["/fc"], perm = array<i64: 1, 0>} : (tensor<64x40xf8E4M3FN>) -> tensor<40x64xf8E4M3FN>
// CHECK-NEXT: graph.contract "mk,nk->mn"(%x, %[[W]]) {graph.node = ["/fc"], product = "f32(x0) * f32(x1)"}
// CHECK-NEXT: %[[V:.*]] = graph.transpose(%v) {perm = array<i64: 0, 2, 1>} : (tensor<3x64x40xi8>) -> tensor<3x40x64xi8>
// CHECK-NEXT: graph.contract "bmk,bnk->bmn"(%y, %[[V]])
// CHECK-NEXT: graph.contract "mk,kn->mn"(%x, %u)
// CHECK-NEXT: graph.contract "mk,kn->mn"(%x, %u)
// CHECK-NEXT: graph.contract "mk,kn->mn"(%x, %z)
// CHECK-NEXT: graph.contract "mk,kn->mn"(%h, %t)
// DEFAULT:      graph.contract "mk,kn->mn"(%x, %w)
// DEFAULT-NEXT: graph.transpose(%v)
// DEFAULT-NOT:  graph.transpose
// WARPS-NOT:  graph.transpose
func.func @main(%x: tensor<33x64xf8E4M3FN>, %y: tensor<3x33x64xui8>, %z: tensor<64x40xf8E4M3FN>, %h: tensor<33x64xf16>) -> (tensor<33x40xf32>, tensor<3x33x40xi32>, tensor<33x40xf32>, tensor<33x40xf32>, tensor<33x40xf32>, tensor<33x40xf32>) {
  %w = graph.weight "w" : tensor<64x40xf8E4M3FN>
  %v = graph.weight "v" : tensor<3x64x40xi8>
  %u = graph.weight "u" : tensor<64x40xf8E4M3FN>
  %t = graph.weight "t" : tensor<64x40xf16>
  %0 = graph.contract "mk,kn->mn"(%x, %w) {graph.node = ["/fc"], product = "f32(x0) * f32(x1)"} : (tensor<33x64xf8E4M3FN>, tensor<64x40xf8E4M3FN>) -> tensor<33x40xf32>
  %1 = graph.contract "bmk,bkn->bmn"(%y, %v) {product = "i32(x0) * i32(x1)"} : (tensor<3x33x64xui8>, tensor<3x64x40xi8>) -> tensor<3x33x40xi32>
  %2 = graph.contract "mk,kn->mn"(%x, %u) {product = "f32(x0) * f32(x1)"} : (tensor<33x64xf8E4M3FN>, tensor<64x40xf8E4M3FN>) -> tensor<33x40xf32>
  %3 = graph.contract "mk,kn->mn"(%x, %u) {product = "f32(x0) * f32(x1)"} : (tensor<33x64xf8E4M3FN>, tensor<64x40xf8E4M3FN>) -> tensor<33x40xf32>
  %4 = graph.contract "mk,kn->mn"(%x, %z) {product = "f32(x0) * f32(x1)"} : (tensor<33x64xf8E4M3FN>, tensor<64x40xf8E4M3FN>) -> tensor<33x40xf32>
  %5 = graph.contract "mk,kn->mn"(%h, %t) {product = "f32(x0) * f32(x1)"} : (tensor<33x64xf16>, tensor<64x40xf16>) -> tensor<33x40xf32>
  func.return %0, %1, %2, %3, %4, %5 : tensor<33x40xf32>, tensor<3x33x40xi32>, tensor<33x40xf32>, tensor<33x40xf32>, tensor<33x40xf32>, tensor<33x40xf32>
}
