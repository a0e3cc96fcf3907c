// RUN: mlc-opt %s -p tile-kernels | filecheck %s
// RUN: mlc-opt %s -p tile-kernels,lower-tiles | filecheck %s --check-prefix LOOPS

// 50 rows in blocks of 13, of which the last has 11, and 100 keys in blocks of 34, which run in order in each block of
// rows, after the initial values of the maximum (S1) and of the sum (S3). One loop over blocks has all kinds of tiles.

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

// CHECK:      schedule_tree = "{{.*}}schedule: {{.*}}[{ T4[m, n, b, n', m'] -> [(n)]; {{.*}}
// CHECK:      poly.tile "T0" {statements = ["S1", "S2"], iters = ["m", "b", "m"], starts = ["0", "0", "0"], sizes = array<i64: 13, 1, 1>, valid = ["13", "1", "1"], vector = "", initial}
// CHECK-NEXT: poly.tile "T1" {statements = ["S1", "S2"], iters = ["m", "b", "m"], starts = ["39", "0", "0"], sizes = array<i64: 11, 1, 1>, valid = ["11", "1", "1"], vector = "", initial}
// CHECK-NEXT: poly.tile "T2" {statements = ["S3"], iters = ["m", "b", "n", "m"], {{.*}}, initial}
// CHECK-NEXT: poly.tile "T3" {statements = ["S3"], iters = ["m", "b", "n", "m"], {{.*}}, initial}
// CHECK-NEXT: poly.tile "T4" {statements = ["S0"], iters = ["m", "n", "b", "n", "m"], starts = ["0", "0", "0", "0", "0"], sizes = array<i64: 13, 34, 1, 16, 13>, valid = ["13", "34", "1", "16", "13"], vector = "n"}
// CHECK-NEXT: poly.tile "T5" {statements = ["S0"], iters = ["m", "n", "b", "n", "m"], starts = ["0", "0", "0", "32", "0"], sizes = array<i64: 13, 34, 1, 2, 13>, valid = ["13", "34", "1", "2", "13"], vector = "n"}
// CHECK-NEXT: poly.tile "T6" {statements = ["S0"], iters = ["m", "n", "b", "n", "m"], starts = ["0", "68", "0", "0", "0"], sizes = array<i64: 13, 32, 1, 16, 13>, valid = ["13", "32", "1", "16", "13"], vector = "n"}

// LOOPS:      kernel.local : memref<13x34xf32>
// LOOPS-NEXT: %[[MAX:.*]] = kernel.local : memref<13xf32>
// LOOPS-NEXT: kernel.local : memref<13x34xf32>
// LOOPS-NEXT: %[[FACTOR:.*]] = kernel.local : memref<13xf32>
// LOOPS-COUNT-1: "scf.parallel"
// LOOPS:      kernel.write %{{.*}}, %[[MAX]]
// LOOPS:      vector.reduction <maximumf>
// LOOPS:      %[[OLD:.*]] = kernel.read %[[MAX]]
// LOOPS-NEXT: %[[NEW:.*]] = arith.maximumf %{{.*}}, %[[OLD]] : f32
// LOOPS-NEXT: %[[SAME:.*]] = arith.cmpf oeq, %[[OLD]], %[[NEW]] : f32
// LOOPS-NEXT: %[[DIFFERENCE:.*]] = arith.subf %[[OLD]], %[[NEW]] : f32
// LOOPS-NEXT: %[[POWER:.*]] = math.exp %[[DIFFERENCE]] : f32
// LOOPS-NEXT: %[[BY:.*]] = arith.select %[[SAME]], %{{.*}}, %[[POWER]] : f32
// LOOPS-NEXT: kernel.write %[[BY]], %[[FACTOR]]
// LOOPS-NEXT: kernel.write %[[NEW]], %[[MAX]]
// LOOPS:      %[[NONE:.*]] = arith.cmpf oeq, %[[NEW]], %{{.*}} : f32
// LOOPS-NEXT: arith.select %[[NONE]]
// LOOPS:      %[[SUM:.*]] = kernel.read %o[
// LOOPS-NEXT: %[[SCALE:.*]] = kernel.read %[[FACTOR]]
// LOOPS-NEXT: %[[EACH:.*]] = vector.broadcast %[[SCALE]]
// LOOPS-NEXT: arith.mulf %[[SUM]], %[[EACH]]
// LOOPS-NOT:  "scf.parallel"
