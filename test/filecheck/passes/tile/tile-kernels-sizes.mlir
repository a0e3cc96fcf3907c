// RUN: mlc-opt %s -p 'apply-schedules{text="k: x: S0 | i0/8*1+1 i1 |"},tile-kernels' --verify-diagnostics | filecheck %s --check-prefix OVER
// RUN: mlc-opt %s -p 'apply-schedules{text="k: x: S0 | i0 i1/4*2+1 |"},tile-kernels' --verify-diagnostics | filecheck %s --check-prefix COUNT
// RUN: mlc-opt %s -p 'apply-schedules{text="k: x: S0 | i0 i1/16*1v |"},tile-kernels' --verify-diagnostics | filecheck %s --check-prefix COUNT
// RUN: mlc-opt %s -p 'apply-schedules{text="k: x: S0 | i0 | i1/4s"},tile-kernels' --verify-diagnostics | filecheck %s --check-prefix SUM

// Tiles that would write past the end: more of them than the extent holds, or a fixed number of a symbolic extent.

kernel.func @k(%x: memref<6x?xf32, #graph.dims<["6", "n"]>>, %y: memref<6x?xf32, #graph.dims<["6", "n"]>>) {
  poly.statement "S0" ins(%x : memref<6x?xf32, #graph.dims<["6", "n"]>>) outs(%y : memref<6x?xf32, #graph.dims<["6", "n"]>>) {domain = #poly.domain<"0 <= i0 < 6 and 0 <= i1 < n">, accesses = [#poly.access<"b0[i0, i1]">, #poly.access<"b1[i0, i1]">]} do {
  ^bb0(%0: f32):
    poly.yield %0 : f32
  }
  kernel.return
}

// OVER:  Line 1 of the schedules: kernel 'k': schedule item i0/8*1+1 does not cover an extent of 6 (stage 'schedule').
// COUNT: counts tiles of an extent of n, which may be smaller; leave out the counts, as in i1/14+4+1
// SUM:   'x: S0 | i0 | i1/4s': no statement sums over i1, so it cannot have blocks (s)
