// RUN: mlc-opt %s --for-target cuda:sm_80 -p split-reductions --split-input-file | filecheck %s

// A product of one tile with a long sum: parts of it, and a kernel that adds them and computes what follows.
// CHECK-LABEL: kernel.func @product_parts
// CHECK-SAME: (%{{.*}}: memref<32x4096xf32>, %{{.*}}: memref<4096x32xf32>, %[[P:.*]]: memref<64x32x32xf32>)
// CHECK: outs(%[[P]] : memref<64x32x32xf32>) {domain = #poly.domain<"0 <= part < 64 and 0 <= m < 32 and 0 <= n < 32 and 0 <= k < 64">
// CHECK-SAME: #poly.access<"b0[m, k + 64*part]">, #poly.access<"b1[k + 64*part, n]">, #poly.access<"b2[part, m, n]">
// CHECK-LABEL: kernel.func @product(
// CHECK-SAME: %[[P:.*]]: memref<64x32x32xf32>, %[[C:.*]]: memref<32xf32>, %[[Y:.*]]: memref<32x32xf32>)
// CHECK: poly.statement "S0" ins(%[[P]] : memref<64x32x32xf32>)
// CHECK-SAME: accesses = [#poly.access<"b0[part, m, n]">, #poly.access<"t0[m, n]">], monoid = "add"
// CHECK: poly.statement "S1"
// CHECK-SAME: accesses = [#poly.access<"t0[m, n]">, #poly.access<"b1[n]">, #poly.access<"b2[m, n]">]
// CHECK: %[[PARTS:.*]] = kernel.call @product_parts(%a, %b)
// CHECK: kernel.call @product(%[[PARTS]], %c)
kernel.func @product(%a: memref<32x4096xf32>, %b: memref<4096x32xf32>, %c: memref<32xf32>, %y: memref<32x32xf32>) {
  %t = kernel.local : memref<32x32xf32>
  poly.statement "S0" ins(%a, %b : memref<32x4096xf32>, memref<4096x32xf32>) outs(%t : memref<32x32xf32>) {domain = #poly.domain<"0 <= m < 32 and 0 <= n < 32 and 0 <= k < 4096">, accesses = [#poly.access<"b0[m, k]">, #poly.access<"b1[k, n]">, #poly.access<"t0[m, n]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%p: f32, %q: f32):
    %z = arith.mulf %p, %q : f32
    poly.yield %z : f32
  }
  poly.statement "S1" ins(%t, %c : memref<32x32xf32>, memref<32xf32>) outs(%y : memref<32x32xf32>) {domain = #poly.domain<"0 <= m < 32 and 0 <= n < 32">, accesses = [#poly.access<"t0[m, n]">, #poly.access<"b2[n]">, #poly.access<"b3[m, n]">]} do {
  ^bb0(%p: f32, %q: f32):
    %z = arith.addf %p, %q : f32
    poly.yield %z : f32
  }
  kernel.return
}
func.func @main(%a: tensor<32x4096xf32>, %b: tensor<4096x32xf32>, %c: tensor<32xf32>) -> tensor<32x32xf32> {
  %y = kernel.call @product(%a, %b, %c) : (tensor<32x4096xf32>, tensor<4096x32xf32>, tensor<32xf32>) -> tensor<32x32xf32>
  func.return %y : tensor<32x32xf32>
}

// -----

// A short sum, and one of 16 bits, of which a part in memory would be rounded: as they are.
// CHECK-LABEL: kernel.func @short
// CHECK-NOT: part
// CHECK-LABEL: kernel.func @half
// CHECK-NOT: part
kernel.func @short(%a: memref<32x64xf32>, %b: memref<64x32xf32>, %y: memref<32x32xf32>) {
  poly.statement "S0" ins(%a, %b : memref<32x64xf32>, memref<64x32xf32>) outs(%y : memref<32x32xf32>) {domain = #poly.domain<"0 <= m < 32 and 0 <= n < 32 and 0 <= k < 64">, accesses = [#poly.access<"b0[m, k]">, #poly.access<"b1[k, n]">, #poly.access<"b2[m, n]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%p: f32, %q: f32):
    %z = arith.mulf %p, %q : f32
    poly.yield %z : f32
  }
  kernel.return
}
kernel.func @half(%a: memref<32x4096xf16>, %b: memref<4096x32xf16>, %y: memref<32x32xf16>) {
  poly.statement "S0" ins(%a, %b : memref<32x4096xf16>, memref<4096x32xf16>) outs(%y : memref<32x32xf16>) {domain = #poly.domain<"0 <= m < 32 and 0 <= n < 32 and 0 <= k < 4096">, accesses = [#poly.access<"b0[m, k]">, #poly.access<"b1[k, n]">, #poly.access<"b2[m, n]">], monoid = "add", init = 0.0 : f16} do {
  ^bb0(%p: f16, %q: f16):
    %z = arith.mulf %p, %q : f16
    poly.yield %z : f16
  }
  kernel.return
}
