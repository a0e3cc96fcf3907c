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

// -----

// A running reduction of 1024 keys that 4 queries read (split-KV): each part has its maximum, sum and product, which a
// second kernel combines, rescaled by exp(maximum of the part - maximum).
// The fuse stage has decided the number of parts; both kernels are still streamed.
// CHECK-LABEL: kernel.func @attention_parts
// CHECK-SAME: memref<2x4x16xf32>, %{{.*}}: memref<2x1024x16xf32>, %{{.*}}: memref<2x1024x16xf32>, %[[M:.*]]: memref<8x2x4xf32>, %[[S:.*]]: memref<8x2x4xf32>, %[[O:.*]]: memref<8x2x4x16xf32>)
// CHECK: poly.statement "S0" {{.*}} {domain = #poly.domain<"0 <= part < 8 and 0 <= h < 2 and 0 <= m < 4 and 0 <= n < 128 and 0 <= k < 16">
// CHECK-SAME: #poly.access<"b1[h, n + 128*part, k]">, #poly.access<"t0[part, h, m, n]">
// CHECK: poly.statement "S1" {{.*}} monoid = "max"
// CHECK: poly.statement "S2"
// CHECK: arith.maximumf
// CHECK: poly.statement "S1p" {{.*}} outs(%[[M]] :
// CHECK: poly.statement "S3p" {{.*}} outs(%[[S]] :
// CHECK: poly.statement "S4p" {{.*}} outs(%[[O]] :
// CHECK-LABEL: kernel.func @attention(
// CHECK-SAME: %[[M:.*]]: memref<8x2x4xf32>, %[[S:.*]]: memref<8x2x4xf32>, %[[O:.*]]: memref<8x2x4x16xf32>, %[[Y:.*]]: memref<2x4x16xf32>)
// CHECK: poly.statement "S1" {{.*}} #poly.access<"t0[h, m]">], monoid = "max"
// CHECK: poly.statement "S1w"
// CHECK: arith.maximumf
// CHECK: arith.maximumf
// CHECK: math.exp
// CHECK: poly.statement "S3" ins(%[[S]], {{.*}} monoid = "add"
// CHECK: arith.mulf
// CHECK: poly.statement "S4" ins(%[[O]], {{.*}} monoid = "add"
// CHECK: poly.statement "S5" {{.*}} outs(%[[Y]] :
// CHECK: %[[A:.*]], %[[B:.*]], %[[C:.*]] = kernel.call @attention_parts(%q, %k, %v)
// CHECK: kernel.call @attention(%[[A]], %[[B]], %[[C]])
kernel.func @attention(%q: memref<2x4x16xf32>, %k: memref<2x1024x16xf32>, %v: memref<2x1024x16xf32>, %y: memref<2x4x16xf32>) attributes {fusion = #kernel.fusion<form = "attention", streamed, parts = 8>} {
  %s = kernel.local : memref<2x4x1024xf32>
  poly.statement "S0" ins(%q, %k : memref<2x4x16xf32>, memref<2x1024x16xf32>) outs(%s : memref<2x4x1024xf32>) {domain = #poly.domain<"0 <= h < 2 and 0 <= m < 4 and 0 <= n < 1024 and 0 <= k < 16">, accesses = [#poly.access<"b0[h, m, k]">, #poly.access<"b1[h, n, k]">, #poly.access<"t0[h, m, n]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%a: f32, %b: f32):
    %z = arith.mulf %a, %b : f32
    poly.yield %z : f32
  }
  %m = kernel.local : memref<2x4xf32>
  poly.statement "S1" ins(%s : memref<2x4x1024xf32>) outs(%m : memref<2x4xf32>) {domain = #poly.domain<"0 <= h < 2 and 0 <= m < 4 and 0 <= n < 1024">, accesses = [#poly.access<"t0[h, m, n]">, #poly.access<"t1[h, m]">], monoid = "max", init = 0xff800000 : f32} do {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  %p = kernel.local : memref<2x4x1024xf32>
  poly.statement "S2" ins(%s, %m : memref<2x4x1024xf32>, memref<2x4xf32>) outs(%p : memref<2x4x1024xf32>) {domain = #poly.domain<"0 <= h < 2 and 0 <= m < 4 and 0 <= n < 1024">, accesses = [#poly.access<"t0[h, m, n]">, #poly.access<"t1[h, m]">, #poly.access<"t2[h, m, n]">]} do {
  ^bb0(%a: f32, %b: f32):
    %d = arith.subf %a, %b : f32
    %z = math.exp %d : f32
    poly.yield %z : f32
  }
  %t = kernel.local : memref<2x4xf32>
  poly.statement "S3" ins(%p : memref<2x4x1024xf32>) outs(%t : memref<2x4xf32>) {domain = #poly.domain<"0 <= h < 2 and 0 <= m < 4 and 0 <= n < 1024">, accesses = [#poly.access<"t2[h, m, n]">, #poly.access<"t3[h, m]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  %o = kernel.local : memref<2x4x16xf32>
  poly.statement "S4" ins(%p, %v : memref<2x4x1024xf32>, memref<2x1024x16xf32>) outs(%o : memref<2x4x16xf32>) {domain = #poly.domain<"0 <= h < 2 and 0 <= m < 4 and 0 <= v < 16 and 0 <= n < 1024">, accesses = [#poly.access<"t2[h, m, n]">, #poly.access<"b2[h, n, v]">, #poly.access<"t4[h, m, v]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%a: f32, %b: f32):
    %z = arith.mulf %a, %b : f32
    poly.yield %z : f32
  }
  poly.statement "S5" ins(%o, %t : memref<2x4x16xf32>, memref<2x4xf32>) outs(%y : memref<2x4x16xf32>) {domain = #poly.domain<"0 <= h < 2 and 0 <= m < 4 and 0 <= v < 16">, accesses = [#poly.access<"t4[h, m, v]">, #poly.access<"t3[h, m]">, #poly.access<"b3[h, m, v]">]} do {
  ^bb0(%a: f32, %b: f32):
    %z = arith.divf %a, %b : f32
    poly.yield %z : f32
  }
  kernel.return
}
func.func @main(%q: tensor<2x4x16xf32>, %k: tensor<2x1024x16xf32>, %v: tensor<2x1024x16xf32>) -> tensor<2x4x16xf32> {
  %y = kernel.call @attention(%q, %k, %v) : (tensor<2x4x16xf32>, tensor<2x1024x16xf32>, tensor<2x1024x16xf32>) -> tensor<2x4x16xf32>
  func.return %y : tensor<2x4x16xf32>
}

// -----

// The sum of all elements of a matrix with symbolic extents: a part for each row.
// CHECK-LABEL: kernel.func @total_parts
// CHECK-SAME: (%{{.*}}: memref<?x?xf32, #graph.dims<["n", "m"]>>, %[[P:.*]]: memref<?xf32, #graph.dims<["n"]>>)
// CHECK: {domain = #poly.domain<"0 <= part < n and 0 <= j < m">, accesses = [#poly.access<"b0[part, j]">, #poly.access<"b1[part]">], monoid = "add"
// CHECK-LABEL: kernel.func @total(
// CHECK: {domain = #poly.domain<"0 <= part < n">, accesses = [#poly.access<"b0[part]">, #poly.access<"b1[]">], monoid = "add"
kernel.func @total(%a: memref<?x?xf32, #graph.dims<["n", "m"]>>, %y: memref<f32>) {
  poly.statement "S0" ins(%a : memref<?x?xf32, #graph.dims<["n", "m"]>>) outs(%y : memref<f32>) {domain = #poly.domain<"0 <= i < n and 0 <= j < m">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%p: f32):
    poly.yield %p : f32
  }
  kernel.return
}
func.func @main(%a: tensor<?x?xf32, #graph.dims<["n", "m"]>>) -> tensor<f32> {
  %y = kernel.call @total(%a) : (tensor<?x?xf32, #graph.dims<["n", "m"]>>) -> tensor<f32>
  func.return %y : tensor<f32>
}

// -----

// The sum of an array with a symbolic extent: one block else, so parts of 4096 elements.
// CHECK-LABEL: kernel.func @array_parts
// CHECK: {domain = #poly.domain<"0 <= part < ((n+4095)//(4096)) and 0 <= i < min(4096, n-4096*part)">, accesses = [#poly.access<"b0[i + 4096*part]">, #poly.access<"b1[part]">], monoid = "add"
// CHECK-LABEL: kernel.func @array(
// CHECK: {domain = #poly.domain<"0 <= part < ((n+4095)//(4096))">, accesses = [#poly.access<"b0[part]">, #poly.access<"b1[]">], monoid = "add"
kernel.func @array(%a: memref<?xf32, #graph.dims<["n"]>>, %y: memref<f32>) {
  poly.statement "S0" ins(%a : memref<?xf32, #graph.dims<["n"]>>) outs(%y : memref<f32>) {domain = #poly.domain<"0 <= i < n">, accesses = [#poly.access<"b0[i]">, #poly.access<"b1[]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%p: f32):
    poly.yield %p : f32
  }
  kernel.return
}
func.func @main(%a: tensor<?xf32, #graph.dims<["n"]>>) -> tensor<f32> {
  %y = kernel.call @array(%a) : (tensor<?xf32, #graph.dims<["n"]>>) -> tensor<f32>
  func.return %y : tensor<f32>
}

// -----

// A product of one row with a symbolic number of terms: parts of 256 terms, the last one of fewer. Columns of a number
// that fills the GPU: as they are.
// CHECK-LABEL: kernel.func @row_parts
// CHECK-SAME: (%{{.*}}: memref<?xf32, #graph.dims<["k"]>>, %{{.*}}: memref<?x64xf32, #graph.dims<["k", "64"]>>, %[[P:.*]]: memref<?x64xf32, #graph.dims<["((k+255)//(256))", "64"]>>)
// CHECK: {domain = #poly.domain<"0 <= part < ((k+255)//(256)) and 0 <= n < 64 and 0 <= i < min(256, k-256*part)">
// CHECK-SAME: accesses = [#poly.access<"b0[i + 256*part]">, #poly.access<"b1[i + 256*part, n]">, #poly.access<"b2[part, n]">]
// CHECK-LABEL: kernel.func @row(
// CHECK: {domain = #poly.domain<"0 <= n < 64 and 0 <= part < ((k+255)//(256))">, accesses = [#poly.access<"b0[part, n]">, #poly.access<"b1[n]">], monoid = "add"
// CHECK-LABEL: kernel.func @wide
// CHECK-NOT: part
// CHECK-LABEL: func.func @main
kernel.func @row(%a: memref<?xf32, #graph.dims<["k"]>>, %b: memref<?x64xf32, #graph.dims<["k", "64"]>>, %y: memref<64xf32>) {
  poly.statement "S0" ins(%a, %b : memref<?xf32, #graph.dims<["k"]>>, memref<?x64xf32, #graph.dims<["k", "64"]>>) outs(%y : memref<64xf32>) {domain = #poly.domain<"0 <= n < 64 and 0 <= i < k">, accesses = [#poly.access<"b0[i]">, #poly.access<"b1[i, n]">, #poly.access<"b2[n]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%p: f32, %q: f32):
    %z = arith.mulf %p, %q : f32
    poly.yield %z : f32
  }
  kernel.return
}
kernel.func @wide(%a: memref<?xf32, #graph.dims<["k"]>>, %b: memref<?x50000xf32, #graph.dims<["k", "50000"]>>, %y: memref<50000xf32>) {
  poly.statement "S0" ins(%a, %b : memref<?xf32, #graph.dims<["k"]>>, memref<?x50000xf32, #graph.dims<["k", "50000"]>>) outs(%y : memref<50000xf32>) {domain = #poly.domain<"0 <= n < 50000 and 0 <= i < k">, accesses = [#poly.access<"b0[i]">, #poly.access<"b1[i, n]">, #poly.access<"b2[n]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%p: f32, %q: f32):
    %z = arith.mulf %p, %q : f32
    poly.yield %z : f32
  }
  kernel.return
}
func.func @main(%a: tensor<?xf32, #graph.dims<["k"]>>, %b: tensor<?x64xf32, #graph.dims<["k", "64"]>>) -> tensor<64xf32> {
  %y = kernel.call @row(%a, %b) : (tensor<?xf32, #graph.dims<["k"]>>, tensor<?x64xf32, #graph.dims<["k", "64"]>>) -> tensor<64xf32>
  func.return %y : tensor<64xf32>
}
