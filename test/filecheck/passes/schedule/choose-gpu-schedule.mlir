// RUN: mlc-opt %s --for-target cuda -p choose-gpu-schedule --split-input-file | filecheck %s

// Tiles are what a thread block computes: they are padded, not partitioned exactly.
// CHECK: kernel.func @product{{.*}}schedule = #poly.schedule<"contraction: S0 | m/128p n/128vp | k">
kernel.func @product(%a: memref<4000x70xf32>, %b: memref<70x4000xf32>, %c: memref<4000x4000xf32>) {
  poly.statement "S0" ins(%a, %b : memref<4000x70xf32>, memref<70x4000xf32>) outs(%c : memref<4000x4000xf32>) {domain = #poly.domain<"0 <= m < 4000 and 0 <= n < 4000 and 0 <= k < 70">, accesses = [#poly.access<"b0[m, k]">, #poly.access<"b1[k, n]">, #poly.access<"b2[m, n]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%x: f32, %y: f32):
    %z = arith.mulf %x, %y : f32
    poly.yield %z : f32
  }
  kernel.return
}

// -----

// Smaller tiles where larger ones would leave multiprocessors without a block.
// CHECK: kernel.func @small{{.*}}schedule = #poly.schedule<"contraction: S0 | m/64p n/64vp | k">
kernel.func @small(%a: memref<512x70xf32>, %b: memref<70x512xf32>, %c: memref<512x512xf32>) {
  poly.statement "S0" ins(%a, %b : memref<512x70xf32>, memref<70x512xf32>) outs(%c : memref<512x512xf32>) {domain = #poly.domain<"0 <= m < 512 and 0 <= n < 512 and 0 <= k < 70">, accesses = [#poly.access<"b0[m, k]">, #poly.access<"b1[k, n]">, #poly.access<"b2[m, n]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%x: f32, %y: f32):
    %z = arith.mulf %x, %y : f32
    poly.yield %z : f32
  }
  kernel.return
}

// -----

// A row of a matrix times its columns: a block has 2 results, for each of which 4 warps sum contiguous elements.
// CHECK: kernel.func @row{{.*}}schedule = #poly.schedule<"strips: S0 | n/2vp | k/700v">
kernel.func @row(%a: memref<700xf32>, %b: memref<300x700xf32>, %c: memref<300xf32>) {
  poly.statement "S0" ins(%a, %b : memref<700xf32>, memref<300x700xf32>) outs(%c : memref<300xf32>) {domain = #poly.domain<"0 <= n < 300 and 0 <= k < 700">, accesses = [#poly.access<"b0[k]">, #poly.access<"b1[n, k]">, #poly.access<"b2[n]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%x: f32, %y: f32):
    %z = arith.mulf %x, %y : f32
    poly.yield %z : f32
  }
  kernel.return
}

// -----

// CHECK: kernel.func @pointwise{{.*}}schedule = #poly.schedule<"elementwise: S0 | i/4p j/50vp | ">
kernel.func @pointwise(%a: memref<3000x50xf32>, %c: memref<3000x50xf32>) {
  poly.statement "S0" ins(%a : memref<3000x50xf32>) outs(%c : memref<3000x50xf32>) {domain = #poly.domain<"0 <= i < 3000 and 0 <= j < 50">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    %z = math.exp %x : f32
    poly.yield %z : f32
  }
  kernel.return
}

// -----

// Few sums along an axis that is not contiguous: neighbouring sums, of which each warp has a part.
// CHECK: kernel.func @columns{{.*}}schedule = #poly.schedule<"strips: S0 | n/32vp | k/64v">
kernel.func @columns(%a: memref<700x300xf32>, %c: memref<300xf32>) {
  poly.statement "S0" ins(%a : memref<700x300xf32>) outs(%c : memref<300xf32>) {domain = #poly.domain<"0 <= n < 300 and 0 <= k < 700">, accesses = [#poly.access<"b0[k, n]">, #poly.access<"b1[n]">], monoid = "max", init = 0.0 : f32} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// -----

// Blocks of rows and of keys, which run one after another with running maxima and sums.
// CHECK: kernel.func @streamed{{.*}}schedule = #poly.schedule<"contraction: S0 | m@2t b@4 n@2s b m/40 n/50v | k & rows: S1
kernel.func @streamed(%q: memref<4x80x8xf32>, %k: memref<4x8x100xf32>, %v: memref<4x100x6xf32>, %o: memref<4x80x6xf32>) attributes {fusion = #kernel.fusion<form = "attention", streamed>} {
  %s = kernel.local : memref<4x80x100xf32>
  poly.statement "S0" ins(%q, %k : memref<4x80x8xf32>, memref<4x8x100xf32>) outs(%s : memref<4x80x100xf32>) {domain = #poly.domain<"0 <= b < 4 and 0 <= m < 80 and 0 <= n < 100 and 0 <= k < 8">, accesses = [#poly.access<"b0[b, m, k]">, #poly.access<"b1[b, k, n]">, #poly.access<"t0[b, m, n]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%0: f32, %1: f32):
    %2 = arith.mulf %0, %1 : f32
    poly.yield %2 : f32
  }
  %t = kernel.local : memref<4x80xf32>
  poly.statement "S1" ins(%s : memref<4x80x100xf32>) outs(%t : memref<4x80xf32>) {domain = #poly.domain<"0 <= b < 4 and 0 <= m < 80 and 0 <= n < 100">, accesses = [#poly.access<"t0[b, m, n]">, #poly.access<"t1[b, m]">], monoid = "max", init = 0xff800000 : f32} do {
  ^bb0(%0: f32):
    poly.yield %0 : f32
  }
  %p = kernel.local : memref<4x80x100xf32>
  poly.statement "S2" ins(%s, %t : memref<4x80x100xf32>, memref<4x80xf32>) outs(%p : memref<4x80x100xf32>) {domain = #poly.domain<"0 <= b < 4 and 0 <= m < 80 and 0 <= n < 100">, accesses = [#poly.access<"t0[b, m, n]">, #poly.access<"t1[b, m]">, #poly.access<"t2[b, m, n]">]} do {
  ^bb0(%0: f32, %1: f32):
    %2 = arith.subf %0, %1 : f32
    %3 = math.exp %2 : f32
    poly.yield %3 : f32
  }
  poly.statement "S3" ins(%p, %v : memref<4x80x100xf32>, memref<4x100x6xf32>) outs(%o : memref<4x80x6xf32>) {domain = #poly.domain<"0 <= b < 4 and 0 <= m < 80 and 0 <= n < 6 and 0 <= k < 100">, accesses = [#poly.access<"t2[b, m, k]">, #poly.access<"b2[b, k, n]">, #poly.access<"b3[b, m, n]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%0: f32, %1: f32):
    %2 = arith.mulf %0, %1 : f32
    poly.yield %2 : f32
  }
  kernel.return
}
