// RUN: mlc-opt %s -p 'apply-schedules{text="k: x: S0 | i0/16*1+4*-2 i1 |"}' --verify-diagnostics | filecheck %s --check-prefix NEGATIVE
// RUN: mlc-opt %s -p 'apply-schedules{text="k: x: S0 | i0/4*2*7 i1 |"}' --verify-diagnostics | filecheck %s --check-prefix THREE
// RUN: mlc-opt %s -p 'apply-schedules{text="k: x: S0 | i0/vs3 i1 |"}' --verify-diagnostics | filecheck %s --check-prefix MARKS
// RUN: mlc-opt %s -p 'apply-schedules{text="k: x: S0 | i0/2s i1 |"}' --verify-diagnostics | filecheck %s --check-prefix BLOCKS
// RUN: mlc-opt %s -p 'apply-schedules{text="k: x: S0 | i0 | i1/3"}' --verify-diagnostics | filecheck %s --check-prefix INSIDE
// RUN: mlc-opt %s -p 'apply-schedules{text="k: x: S0 | i0 | i1/4+2+1v"}' --verify-diagnostics | filecheck %s --check-prefix SEVERAL
// RUN: mlc-opt %s -p 'apply-schedules{text="k: x: S0 | i0 | i1/4*1s"}' --verify-diagnostics | filecheck %s --check-prefix COUNTED

// Sizes that mean nothing where they stand are errors: counts below 0, two counts, and tiles of an inner iterator.

kernel.func @k(%x: memref<6x5xf32>, %y: memref<6x5xf32>) {
  poly.statement "S0" ins(%x : memref<6x5xf32>) outs(%y : memref<6x5xf32>) {domain = #poly.domain<"0 <= i0 < 6 and 0 <= i1 < 5">, accesses = [#poly.access<"b0[i0, i1]">, #poly.access<"b1[i0, i1]">]} do {
  ^bb0(%0: f32):
    poly.yield %0 : f32
  }
  kernel.return
}

// NEGATIVE: Line 1 of the schedules: kernel 'k': schedule item 'i0/16*1+4*-2' is not 'iterator/size*count+…' (stage 'schedule').
// THREE:    schedule item 'i0/4*2*7' is not 'iterator/size*count+…'
// MARKS:    schedule item 'i0/vs3' is not 'iterator/size*count+…'
// BLOCKS:   band item 'i0/2s': sums in blocks (s) must be after the second '|'
// INSIDE:   inner item 'i1/3' is not 'iterator', 'iterator/size' and v (lanes) or 'iterator/size' and s (sums in blocks)
// SEVERAL:  inner item 'i1/4+2+1v' is not 'iterator'
// COUNTED:  inner item 'i1/4*1s' is not 'iterator'
