// RUN: mlc-opt %s -p tile-kernels | filecheck %s
// RUN: mlc-opt %s -p 'tile-kernels{isl-operations=4000}' | filecheck %s --check-prefix LIMIT

// A schedule that proves illegal, or that isl cannot prove in time, gives way to serial nests, one a statement.

kernel.func @k(%a: memref<8x8xf32>, %s: memref<8xf32>, %o: memref<8x8xf32>) attributes {schedule = #poly.schedule<"rows: S0 S1 | i | j">} {
  poly.statement "S0" ins(%a : memref<8x8xf32>) outs(%s : memref<8xf32>) {domain = #poly.domain<"0 <= i < 8 and 0 <= j < 8">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i]">], monoid = "add", init = 0.000000e+00 : f32} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.statement "S1" ins(%s : memref<8xf32>) outs(%o : memref<8x8xf32>) {domain = #poly.domain<"0 <= i < 8 and 0 <= j < 8">, accesses = [#poly.access<"b1[j]">, #poly.access<"b2[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK: origin = #kernel.origin<plain = "schedule of kernel @k: 'rows: S0 S1 | i | j' splits a dependence over two tiles
// CHECK-SAME: schedule = #poly.schedule<"serial: S0 | i | j; serial: S1 | i j | ">
// CHECK-SAME: serial = "nests depend on each other"
// LIMIT: origin = #kernel.origin<plain = "kernel @k: tile-kernels needs more than 4000 isl operations">
// LIMIT-SAME: schedule = #poly.schedule<"serial: S0 | i | j; serial: S1 | i j | ">
