// RUN: mlc-opt %s -p 'apply-schedules{text="a: x: S0 | i |\nc: x: S0 | i |"}' --verify-diagnostics | filecheck %s --check-prefix UNKNOWN
// RUN: mlc-opt %s -p 'apply-schedules{text="a: x: S0 | i |\n\na: x: S0 | i |"}' --verify-diagnostics | filecheck %s --check-prefix TWICE
// RUN: mlc-opt %s -p 'apply-schedules{text="# none\nb: x: S0 | i"}' --verify-diagnostics | filecheck %s --check-prefix PARTS
// RUN: mlc-opt %s -p 'apply-schedules{text="b: x: S0 | i/0 |"}' --verify-diagnostics | filecheck %s --check-prefix SMALL
// RUN: mlc-opt %s -p 'apply-schedules{text="b: x: S0 | i/2x3 |"}' --verify-diagnostics | filecheck %s --check-prefix SIZE
// RUN: mlc-opt %s -p 'apply-schedules{text="\nb: x: S0 | i/3 |"},tile-kernels' --verify-diagnostics | filecheck %s --check-prefix COVER
// RUN: mlc-opt %s -p 'apply-schedules{text="a: x: S1 | i |"},tile-kernels' --verify-diagnostics | filecheck %s --check-prefix STATEMENT
// RUN: mlc-opt %s -p 'apply-schedules{text="a:"},tile-kernels' --verify-diagnostics | filecheck %s --check-prefix EMPTY

// An error in a schedule of the user's names the line it stands in and the kernel, in the passes that follow it too.

kernel.func @a(%x: memref<8xf32>, %y: memref<8xf32>) {
  poly.statement "S0" ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) {domain = #poly.domain<"0 <= i < 8">, accesses = [#poly.access<"b0[i]">, #poly.access<"b1[i]">]} do {
  ^bb0(%0: f32):
    poly.yield %0 : f32
  }
  kernel.return
}
kernel.func @b(%x: memref<8xf32>, %y: memref<8xf32>) {
  poly.statement "S0" ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) {domain = #poly.domain<"0 <= i < 8">, accesses = [#poly.access<"b0[i]">, #poly.access<"b1[i]">]} do {
  ^bb0(%0: f32):
    poly.yield %0 : f32
  }
  kernel.return
}

// UNKNOWN:   Line 2 of the schedules: there is no kernel 'c' (stage 'schedule'). Kernels are a, b.
// TWICE:     Line 3 of the schedules: kernel 'a' has a schedule already (stage 'schedule'). Give each kernel one line.
// PARTS:     Line 2 of the schedules: kernel 'b': schedule 'x: S0 | i' is not 'rule: statements | band | inner' (stage 'schedule'). 'mlc inspect --schedules' prints the chosen schedules.
// SMALL:     Line 1 of the schedules: kernel 'b': schedule item 'i/0' has a tile smaller than 1 (stage 'schedule').
// SIZE:      Line 1 of the schedules: kernel 'b': schedule item 'i/2x3' is not 'iterator/size*count+…' (stage 'schedule').
// COVER:     Line 2 of the schedules: kernel 'b': schedule item i/3 does not cover an extent of 8 (stage 'schedule').
// STATEMENT: Line 1 of the schedules: kernel 'a': kernel @a has no statement S1 (stage 'schedule').
// EMPTY:     Line 1 of the schedules: kernel 'a': schedule of kernel @a: not every statement instance is in a tile (stage 'schedule').
