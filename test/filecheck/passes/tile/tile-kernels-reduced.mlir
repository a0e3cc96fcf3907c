// RUN: mlc-opt %s -p 'apply-schedules{text="k: x: S0 | i0 i1/5 |"},tile-kernels' --verify-diagnostics | filecheck %s
// RUN: mlc-opt %s -p 'apply-schedules{text="k: x: S0 | i0 i1/8v |"},tile-kernels' --verify-diagnostics | filecheck %s
// RUN: mlc-opt %s -p 'apply-schedules{text="k: x: S0 | i0 i1 |"},tile-kernels' --verify-diagnostics | filecheck %s

// A reduced iterator stands inside: a tile of it has no points of the result.

kernel.func @k(%x: memref<6x5xf32>, %y: memref<6xf32>) {
  poly.statement "S0" ins(%x : memref<6x5xf32>) outs(%y : memref<6xf32>) {domain = #poly.domain<"0 <= i0 < 6 and 0 <= i1 < 5">, accesses = [#poly.access<"b0[i0, i1]">, #poly.access<"b1[i0]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%0: f32):
    poly.yield %0 : f32
  }
  kernel.return
}

// CHECK: Line 1 of the schedules: kernel 'k': S0 reduces over i1, which must be after the second '|' (stage 'schedule').
