// RUN: mlc-opt %s -p tile-kernels --verify-diagnostics --parsing-diagnostics --split-input-file | filecheck %s

// Reductions that cannot be computed block by block, and blocks that there are not.

kernel.func @k(%q: memref<4x50x8xf32>, %k: memref<4x8x100xf32>, %v: memref<4x100x6xf32>, %o: memref<4x50x6xf32>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"contraction: S0 | b@4 m@4t n@3s b n/16v m/13*1 | k & rows: S1 S2 | b@4 m@4t n@3s b m | n/16v & contraction: S3 | b@4 m@4t k@3s b n/6v m/13*1 | k">} {
  %s = kernel.local : memref<4x50x100xf32>
  poly.statement "S0" ins(%q, %k : memref<4x50x8xf32>, memref<4x8x100xf32>) outs(%s : memref<4x50x100xf32>) {domain = #poly.domain<"0 <= b < 4 and 0 <= m < 50 and 0 <= n < 100 and 0 <= k < 8">, accesses = [#poly.access<"b0[b, m, k]">, #poly.access<"b1[b, k, n]">, #poly.access<"t0[b, m, n]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%0: f32, %1: f32):
    %2 = arith.mulf %0, %1 : f32
    poly.yield %2 : f32
  }
  %t = kernel.local : memref<4x50xf32>
  poly.statement "S1" ins(%s : memref<4x50x100xf32>) outs(%t : memref<4x50xf32>) {domain = #poly.domain<"0 <= b < 4 and 0 <= m < 50 and 0 <= n < 100">, accesses = [#poly.access<"t0[b, m, n]">, #poly.access<"t1[b, m]">], monoid = "max", init = 0xff800000 : f32} do {
  ^bb0(%0: f32):
    poly.yield %0 : f32
  }
  %p = kernel.local : memref<4x50x100xf32>
  poly.statement "S2" ins(%s, %t : memref<4x50x100xf32>, memref<4x50xf32>) outs(%p : memref<4x50x100xf32>) {domain = #poly.domain<"0 <= b < 4 and 0 <= m < 50 and 0 <= n < 100">, accesses = [#poly.access<"t0[b, m, n]">, #poly.access<"t1[b, m]">, #poly.access<"t2[b, m, n]">]} do {
  ^bb0(%0: f32, %1: f32):
    %2 = arith.subf %0, %1 : f32
    %3 = math.tanh %2 : f32
    poly.yield %3 : f32
  }
  poly.statement "S3" ins(%p, %v : memref<4x50x100xf32>, memref<4x100x6xf32>) outs(%o : memref<4x50x6xf32>) {domain = #poly.domain<"0 <= b < 4 and 0 <= m < 50 and 0 <= n < 6 and 0 <= k < 100">, accesses = [#poly.access<"t2[b, m, k]">, #poly.access<"b2[b, k, n]">, #poly.access<"b3[b, m, n]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%0: f32, %1: f32):
    %2 = arith.mulf %0, %1 : f32
    poly.yield %2 : f32
  }
  kernel.return
}

// CHECK:      S2 does not follow a running maximum by a factor exp(old - new): math.tanh

// -----

kernel.func @k(%q: memref<4x50x8xf32>, %k: memref<4x8x100xf32>, %v: memref<4x100x6xf32>, %o: memref<4x50x6xf32>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"contraction: S0 | b@4 m@4t n@30s b n/16v m/13*1 | k & rows: S1 S2 | b@4 m@4t n@30s b m | n/16v & contraction: S3 | b@4 m@4t k@30s b n/6v m/13*1 | k">} {
  %s = kernel.local : memref<4x50x100xf32>
  poly.statement "S0" ins(%q, %k : memref<4x50x8xf32>, memref<4x8x100xf32>) outs(%s : memref<4x50x100xf32>) {domain = #poly.domain<"0 <= b < 4 and 0 <= m < 50 and 0 <= n < 100 and 0 <= k < 8">, accesses = [#poly.access<"b0[b, m, k]">, #poly.access<"b1[b, k, n]">, #poly.access<"t0[b, m, n]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%0: f32, %1: f32):
    %2 = arith.mulf %0, %1 : f32
    poly.yield %2 : f32
  }
  %t = kernel.local : memref<4x50xf32>
  poly.statement "S1" ins(%s : memref<4x50x100xf32>) outs(%t : memref<4x50xf32>) {domain = #poly.domain<"0 <= b < 4 and 0 <= m < 50 and 0 <= n < 100">, accesses = [#poly.access<"t0[b, m, n]">, #poly.access<"t1[b, m]">], monoid = "max", init = 0xff800000 : f32} do {
  ^bb0(%0: f32):
    poly.yield %0 : f32
  }
  %p = kernel.local : memref<4x50x100xf32>
  poly.statement "S2" ins(%s, %t : memref<4x50x100xf32>, memref<4x50xf32>) outs(%p : memref<4x50x100xf32>) {domain = #poly.domain<"0 <= b < 4 and 0 <= m < 50 and 0 <= n < 100">, accesses = [#poly.access<"t0[b, m, n]">, #poly.access<"t1[b, m]">, #poly.access<"t2[b, m, n]">]} do {
  ^bb0(%0: f32, %1: f32):
    %2 = arith.subf %0, %1 : f32
    %3 = math.exp %2 : f32
    poly.yield %3 : f32
  }
  poly.statement "S3" ins(%p, %v : memref<4x50x100xf32>, memref<4x100x6xf32>) outs(%o : memref<4x50x6xf32>) {domain = #poly.domain<"0 <= b < 4 and 0 <= m < 50 and 0 <= n < 6 and 0 <= k < 100">, accesses = [#poly.access<"t2[b, m, k]">, #poly.access<"b2[b, k, n]">, #poly.access<"b3[b, m, n]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%0: f32, %1: f32):
    %2 = arith.mulf %0, %1 : f32
    poly.yield %2 : f32
  }
  kernel.return
}

// CHECK:      n@30s needs equal blocks, of which the last may be smaller, and n has 100 points

// -----

kernel.func @k(%q: memref<4x50x8xf32>, %k: memref<4x8x100xf32>, %v: memref<4x100x6xf32>, %o: memref<4x50x6xf32>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"contraction: S0 | b@4 m@4t n@3s b n/16v m/13*1 | k & rows: S1 S2 | b@4 m@4t n@3s b m | n/16v & contraction: S3 | b@4 m@4t k@4s b n/6v m/13*1 | k">} {
  %s = kernel.local : memref<4x50x100xf32>
  poly.statement "S0" ins(%q, %k : memref<4x50x8xf32>, memref<4x8x100xf32>) outs(%s : memref<4x50x100xf32>) {domain = #poly.domain<"0 <= b < 4 and 0 <= m < 50 and 0 <= n < 100 and 0 <= k < 8">, accesses = [#poly.access<"b0[b, m, k]">, #poly.access<"b1[b, k, n]">, #poly.access<"t0[b, m, n]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%0: f32, %1: f32):
    %2 = arith.mulf %0, %1 : f32
    poly.yield %2 : f32
  }
  %t = kernel.local : memref<4x50xf32>
  poly.statement "S1" ins(%s : memref<4x50x100xf32>) outs(%t : memref<4x50xf32>) {domain = #poly.domain<"0 <= b < 4 and 0 <= m < 50 and 0 <= n < 100">, accesses = [#poly.access<"t0[b, m, n]">, #poly.access<"t1[b, m]">], monoid = "max", init = 0xff800000 : f32} do {
  ^bb0(%0: f32):
    poly.yield %0 : f32
  }
  %p = kernel.local : memref<4x50x100xf32>
  poly.statement "S2" ins(%s, %t : memref<4x50x100xf32>, memref<4x50xf32>) outs(%p : memref<4x50x100xf32>) {domain = #poly.domain<"0 <= b < 4 and 0 <= m < 50 and 0 <= n < 100">, accesses = [#poly.access<"t0[b, m, n]">, #poly.access<"t1[b, m]">, #poly.access<"t2[b, m, n]">]} do {
  ^bb0(%0: f32, %1: f32):
    %2 = arith.subf %0, %1 : f32
    %3 = math.exp %2 : f32
    poly.yield %3 : f32
  }
  poly.statement "S3" ins(%p, %v : memref<4x50x100xf32>, memref<4x100x6xf32>) outs(%o : memref<4x50x6xf32>) {domain = #poly.domain<"0 <= b < 4 and 0 <= m < 50 and 0 <= n < 6 and 0 <= k < 100">, accesses = [#poly.access<"t2[b, m, k]">, #poly.access<"b2[b, k, n]">, #poly.access<"b3[b, m, n]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%0: f32, %1: f32):
    %2 = arith.mulf %0, %1 : f32
    poly.yield %2 : f32
  }
  kernel.return
}

// CHECK:      a block of 'contraction: S0 | b@4 m@4t n@3s b n/16v m/13*1 | k' needs what another block of the stream makes

// -----

kernel.func @k(%q: memref<4x50x8xf32>, %k: memref<4x8x100xf32>, %v: memref<4x100x6xf32>, %o: memref<4x50x6xf32>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"contraction: S0 | b@4 m@4t n@3s b n/16v m/13*1 | k & rows: S1 S2 | b@4 m@4t n@3s b m | n/16v & contraction: S3 | b@4 m@4t k@3s b n/6v m/13*1 | k">} {
  %s = kernel.local : memref<4x50x100xf32>
  poly.statement "S0" ins(%q, %k : memref<4x50x8xf32>, memref<4x8x100xf32>) outs(%s : memref<4x50x100xf32>) {domain = #poly.domain<"0 <= b < 4 and 0 <= m < 50 and 0 <= n < 100 and 0 <= k < 8">, accesses = [#poly.access<"b0[b, m, k]">, #poly.access<"b1[b, k, n]">, #poly.access<"t0[b, m, n]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%0: f32, %1: f32):
    %2 = arith.mulf %0, %1 : f32
    poly.yield %2 : f32
  }
  %t = kernel.local : memref<4x50xf32>
  poly.statement "S1" ins(%s : memref<4x50x100xf32>) outs(%t : memref<4x50xf32>) {domain = #poly.domain<"0 <= b < 4 and 0 <= m < 50 and 0 <= n < 100">, accesses = [#poly.access<"t0[b, m, n]">, #poly.access<"t1[b, m]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%0: f32):
    poly.yield %0 : f32
  }
  %p = kernel.local : memref<4x50x100xf32>
  poly.statement "S2" ins(%s, %t : memref<4x50x100xf32>, memref<4x50xf32>) outs(%p : memref<4x50x100xf32>) {domain = #poly.domain<"0 <= b < 4 and 0 <= m < 50 and 0 <= n < 100">, accesses = [#poly.access<"t0[b, m, n]">, #poly.access<"t1[b, m]">, #poly.access<"t2[b, m, n]">]} do {
  ^bb0(%0: f32, %1: f32):
    %2 = arith.subf %0, %1 : f32
    %3 = math.exp %2 : f32
    poly.yield %3 : f32
  }
  poly.statement "S3" ins(%p, %v : memref<4x50x100xf32>, memref<4x100x6xf32>) outs(%o : memref<4x50x6xf32>) {domain = #poly.domain<"0 <= b < 4 and 0 <= m < 50 and 0 <= n < 6 and 0 <= k < 100">, accesses = [#poly.access<"t2[b, m, k]">, #poly.access<"b2[b, k, n]">, #poly.access<"b3[b, m, n]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%0: f32, %1: f32):
    %2 = arith.mulf %0, %1 : f32
    poly.yield %2 : f32
  }
  kernel.return
}

// CHECK:      S2 reads t1 before all blocks of n have been combined
