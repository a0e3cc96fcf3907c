// RUN: mlc-opt %s --for-target cuda -p tile-kernels | filecheck %s
// RUN: mlc-opt %s --for-target cuda -p tile-kernels,lower-tiles | filecheck %s --check-prefix LOOPS

// Any number of rows in blocks of 16, and any number of keys in blocks of 32, of which the last ones are partly beyond.
// Tiles of 8 rows (S3) that begin beyond the extent are not executed.

kernel.func @k(%q: memref<4x?x8xf32, #graph.dims<["4", "rows", "8"]>>, %k: memref<4x8x?xf32, #graph.dims<["4", "8", "keys"]>>, %v: memref<4x?x6xf32, #graph.dims<["4", "keys", "6"]>>, %o: memref<4x?x6xf32, #graph.dims<["4", "rows", "6"]>>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"contraction: S0 | b@4 m@16pt n@32ps b m/16 n/32v | k & rows: S1 | b@4 m@16pt n@32ps b m/16v | n/32v & elementwise: S2 | b@4 m@16pt n@32ps b m/16 n/32v | & contraction: S3 | b@4 m@16pt k@32ps b m/8 n/6v | k">} {
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

// CHECK:      T1[m, b, m', n = 0] : {{.*}}16m < rows{{.*}}8m' < rows - 16m
// CHECK:      poly.tile "T2" {statements = ["S0"], iters = ["m", "n", "b", "m", "n"], {{.*}} sizes = array<i64: 16, 32, 1, 16, 32>, valid = ["rows-16*t_m", "keys-32*t_n", "1", "16", "32"], vector = "n"}
// CHECK:      poly.tile "T5" {statements = ["S3"], iters = ["m", "k", "b", "m", "n"], {{.*}} sizes = array<i64: 16, 32, 1, 8, 6>, valid = ["rows-16*t_m", "keys-32*t_k", "1", "8", "6"], vector = "n"}

// Local arrays have a block. Arguments are read as far as they go; beyond the keys scores are -inf, and weights 0.

// LOOPS:      %[[ROWS:.*]] = kernel.symbol "rows"
// LOOPS-NEXT: %[[KEYS:.*]] = kernel.symbol "keys"
// LOOPS-NEXT: %[[SCORES:.*]] = kernel.local : memref<16x32xf32>
// LOOPS-NEXT: kernel.local : memref<16xf32>
// LOOPS-NEXT: %[[WEIGHTS:.*]] = kernel.local : memref<16x32xf32>
// LOOPS:      %[[LESS:.*]] = arith.muli %{{.*}}, %{{.*}} : index
// LOOPS-NEXT: %[[M:.*]] = arith.addi %[[ROWS]], %[[LESS]] : index
// LOOPS:      %[[BEFORE:.*]] = arith.muli %{{.*}}, %c-32 : index
// LOOPS-NEXT: %[[N:.*]] = arith.addi %[[KEYS]], %[[BEFORE]] : index
// LOOPS:      kernel.read %q[%{{.*}}] valid(%[[M]]) {{{.*}}valid_axes = array<i64: 0>}
// LOOPS:      kernel.read %k[%{{.*}}] valid(%[[N]]) {{{.*}}valid_axes = array<i64: 1>}
// LOOPS:      kernel.write %{{.*}}, %[[SCORES]][%c0] {strides = array<i64: 32, 1>}
// LOOPS:      %[[SCORE:.*]] = kernel.read %[[SCORES]][%c0] {strides = array<i64: 32, 1>}
// LOOPS:      %[[INSIDE:.*]] = kernel.lanewise "arith.cmpi"
// LOOPS-NEXT: %[[EACH:.*]] = vector.broadcast %[[INSIDE]]
// LOOPS-NEXT: %[[NONE:.*]] = vector.broadcast %cst : f32 to vector<16x32xf32>
// LOOPS-NEXT: %[[TERM:.*]] = kernel.lanewise "arith.select"(%[[EACH]], %[[SCORE]], %[[NONE]])
// LOOPS-NEXT: kernel.multi_reduction %[[TERM]] {kind = #vector.kind<maximumf>}
// LOOPS:      %[[POWER:.*]] = math.exp %{{.*}} : vector<16x32xf32>
// LOOPS:      %[[WEIGHT:.*]] = kernel.lanewise "arith.select"(%{{.*}}, %[[POWER]], %{{.*}})
// LOOPS-NEXT: kernel.write %[[WEIGHT]], %[[WEIGHTS]][%c0] {strides = array<i64: 32, 1>}
// LOOPS:      %[[LEFT:.*]] = arith.minsi %c32, %[[N]] : index
// LOOPS-NEXT: scf.for %{{.*}} = %c0 to %[[LEFT]]
// LOOPS:      kernel.write %{{.*}}, %o[%{{.*}}] valid(%{{.*}}) {{{.*}}valid_axes = array<i64: 0>}
