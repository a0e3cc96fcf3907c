// RUN: mlc-opt %s --for-target cuda -p tile-kernels --verify-diagnostics --parsing-diagnostics --split-input-file | filecheck %s

// Padded blocks of a stream whose tiles are not equal parts of them, or of which a loop has a point at a time.

kernel.func @k(%q: memref<4x?x8xf32, #graph.dims<["4", "rows", "8"]>>, %k: memref<4x8x?xf32, #graph.dims<["4", "8", "keys"]>>, %v: memref<4x?x6xf32, #graph.dims<["4", "keys", "6"]>>, %o: memref<4x?x6xf32, #graph.dims<["4", "rows", "6"]>>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"contraction: S0 | b@4 m@16pt n@32ps b m/16 n/20v | k & rows: S1 | b@4 m@16pt n@32ps b m/16v | n/32v & elementwise: S2 | b@4 m@16pt n@32ps b m/16 n/32v | & contraction: S3 | b@4 m@16pt k@32ps b m/8 n/6v | k">} {
  %s = kernel.local : memref<4x?x?xf32, #graph.dims<["4", "rows", "keys"]>>
  poly.statement "S0" ins(%q, %k : memref<4x?x8xf32, #graph.dims<["4", "rows", "8"]>>, memref<4x8x?xf32, #graph.dims<["4", "8", "keys"]>>) outs(%s : memref<4x?x?xf32, #graph.dims<["4", "rows", "keys"]>>) {domain = #poly.domain<"0 <= b < 4 and 0 <= m < rows and 0 <= n < keys and 0 <= k < 8">, accesses = [#poly.access<"b0[b, m, k]">, #poly.access<"b1[b, k, n]">, #poly.access<"t0[b, m, n]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%0: f32, %1: f32):
    %2 = arith.mulf %0, %1 : f32
    poly.yield %2 : f32
  }
  %t = kernel.local : memref<4x?xf32, #graph.dims<["4", "rows"]>>
  poly.statement "S1" ins(%s : memref<4x?x?xf32, #graph.dims<["4", "rows", "keys"]>>) outs(%t : memref<4x?xf32, #graph.dims<["4", "rows"]>>) {domain = #poly.domain<"0 <= b < 4 and 0 <= m < rows and 0 <= n < keys">, accesses = [#poly.access<"t0[b, m, n]">, #poly.access<"t1[b, m]">], monoid = "max", init = 0xff800000 : f32} do {
  ^bb0(%0: f32):
    poly.yield %0 : f32
  }
  %p = kernel.local : memref<4x?x?xf32, #graph.dims<["4", "rows", "keys"]>>
  poly.statement "S2" ins(%s, %t : memref<4x?x?xf32, #graph.dims<["4", "rows", "keys"]>>, memref<4x?xf32, #graph.dims<["4", "rows"]>>) outs(%p : memref<4x?x?xf32, #graph.dims<["4", "rows", "keys"]>>) {domain = #poly.domain<"0 <= b < 4 and 0 <= m < rows and 0 <= n < keys">, accesses = [#poly.access<"t0[b, m, n]">, #poly.access<"t1[b, m]">, #poly.access<"t2[b, m, n]">]} do {
  ^bb0(%0: f32, %1: f32):
    %2 = arith.subf %0, %1 : f32
    %3 = math.exp %2 : f32
    poly.yield %3 : f32
  }
  poly.statement "S3" ins(%p, %v : memref<4x?x?xf32, #graph.dims<["4", "rows", "keys"]>>, memref<4x?x6xf32, #graph.dims<["4", "keys", "6"]>>) outs(%o : memref<4x?x6xf32, #graph.dims<["4", "rows", "6"]>>) {domain = #poly.domain<"0 <= b < 4 and 0 <= m < rows and 0 <= n < 6 and 0 <= k < keys">, accesses = [#poly.access<"t2[b, m, k]">, #poly.access<"b2[b, k, n]">, #poly.access<"b3[b, m, n]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%0: f32, %1: f32):
    %2 = arith.mulf %0, %1 : f32
    poly.yield %2 : f32
  }
  kernel.return
}

// CHECK: n/20v must be equal tiles of n@32ps, of several points each

// -----

kernel.func @k(%q: memref<4x?x8xf32, #graph.dims<["4", "rows", "8"]>>, %k: memref<4x8x?xf32, #graph.dims<["4", "8", "keys"]>>, %v: memref<4x?x6xf32, #graph.dims<["4", "keys", "6"]>>, %o: memref<4x?x6xf32, #graph.dims<["4", "rows", "6"]>>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"contraction: S0 | b@4 m@16pt n@32ps b m/16 n/32v | k & rows: S1 | b@4 m@16pt n@32ps b m/16v | n/32v & elementwise: S2 | b@4 m@16pt n@32ps b m/16v | n & contraction: S3 | b@4 m@16pt k@32ps b m/8 n/6v | k">} {
  %s = kernel.local : memref<4x?x?xf32, #graph.dims<["4", "rows", "keys"]>>
  poly.statement "S0" ins(%q, %k : memref<4x?x8xf32, #graph.dims<["4", "rows", "8"]>>, memref<4x8x?xf32, #graph.dims<["4", "8", "keys"]>>) outs(%s : memref<4x?x?xf32, #graph.dims<["4", "rows", "keys"]>>) {domain = #poly.domain<"0 <= b < 4 and 0 <= m < rows and 0 <= n < keys and 0 <= k < 8">, accesses = [#poly.access<"b0[b, m, k]">, #poly.access<"b1[b, k, n]">, #poly.access<"t0[b, m, n]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%0: f32, %1: f32):
    %2 = arith.mulf %0, %1 : f32
    poly.yield %2 : f32
  }
  %t = kernel.local : memref<4x?xf32, #graph.dims<["4", "rows"]>>
  poly.statement "S1" ins(%s : memref<4x?x?xf32, #graph.dims<["4", "rows", "keys"]>>) outs(%t : memref<4x?xf32, #graph.dims<["4", "rows"]>>) {domain = #poly.domain<"0 <= b < 4 and 0 <= m < rows and 0 <= n < keys">, accesses = [#poly.access<"t0[b, m, n]">, #poly.access<"t1[b, m]">], monoid = "max", init = 0xff800000 : f32} do {
  ^bb0(%0: f32):
    poly.yield %0 : f32
  }
  %p = kernel.local : memref<4x?x?xf32, #graph.dims<["4", "rows", "keys"]>>
  poly.statement "S2" ins(%s, %t : memref<4x?x?xf32, #graph.dims<["4", "rows", "keys"]>>, memref<4x?xf32, #graph.dims<["4", "rows"]>>) outs(%p : memref<4x?x?xf32, #graph.dims<["4", "rows", "keys"]>>) {domain = #poly.domain<"0 <= b < 4 and 0 <= m < rows and 0 <= n < keys">, accesses = [#poly.access<"t0[b, m, n]">, #poly.access<"t1[b, m]">, #poly.access<"t2[b, m, n]">]} do {
  ^bb0(%0: f32, %1: f32):
    %2 = arith.subf %0, %1 : f32
    %3 = math.exp %2 : f32
    poly.yield %3 : f32
  }
  poly.statement "S3" ins(%p, %v : memref<4x?x?xf32, #graph.dims<["4", "rows", "keys"]>>, memref<4x?x6xf32, #graph.dims<["4", "keys", "6"]>>) outs(%o : memref<4x?x6xf32, #graph.dims<["4", "rows", "6"]>>) {domain = #poly.domain<"0 <= b < 4 and 0 <= m < rows and 0 <= n < 6 and 0 <= k < keys">, accesses = [#poly.access<"t2[b, m, k]">, #poly.access<"b2[b, k, n]">, #poly.access<"b3[b, m, n]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%0: f32, %1: f32):
    %2 = arith.mulf %0, %1 : f32
    poly.yield %2 : f32
  }
  kernel.return
}

// CHECK: n must be equal tiles of n@32ps, of several points each
