// RUN: mlc-opt %s --for-target cuda:sm_80 -p 'apply-parts{text="# mine\nk_parts: x: S0 | part@4 part m n/32vp | k"},split-reductions,apply-schedules{text="# mine\nk_parts: x: S0 | part@4 part m n/32vp | k"},choose-gpu-schedule' | filecheck %s
// RUN: mlc-opt %s --for-target cuda:sm_80 -p 'apply-parts{text="k: x: S0 | m/8p n/32vp | k"}' | filecheck %s --check-prefix ONE
// RUN: mlc-opt %s --for-target cuda:sm_80 -p 'apply-parts{text="k: x: S0 | m/8p n/32vp | k"},split-reductions,apply-schedules{text="k: x: S0 | m/8p n/32vp | k"}' | filecheck %s --check-prefix WHOLE
// RUN: mlc-opt %s --for-target cuda:sm_80 -p 'apply-parts{text="k: x: S0 | m n/32vp | part"},split-reductions,choose-gpu-schedule' | filecheck %s --check-prefix ESTIMATED
// RUN: mlc-opt %s --for-target cuda:sm_80 -p 'apply-parts{text="\nk_parts: x: S0 | part@3 part m n | k"},split-reductions' --verify-diagnostics | filecheck %s --check-prefix UNEVEN
// RUN: mlc-opt %s --for-target cuda:sm_80 -p 'apply-parts{text="copy_parts: x: S0 | part@2 part i | "},split-reductions' --verify-diagnostics | filecheck %s --check-prefix SUM
// RUN: mlc-opt %s --for-target cuda:sm_80 -p 'apply-parts{text="k_parts: x: S0 | part@0 part m n | k"}' --verify-diagnostics | filecheck %s --check-prefix ZERO
// RUN: mlc-opt %s --for-target cuda:sm_80 -p 'apply-parts{text="k_parts: x: S0 | part@2 part m n/32vp | k"},split-reductions,apply-schedules{text="k_parts: x: S0 | part@2 part m n/32vp | k"},choose-gpu-schedule,tile-kernels' | filecheck %s --check-prefix TILED
// RUN: mlc-opt %s --for-target cuda:sm_80 -p 'apply-parts{text="copy_parts: x: S0 | part i | "},split-reductions,apply-schedules{text="copy_parts: x: S0 | part i | "}' --verify-diagnostics | filecheck %s --check-prefix NONE

// The schedule of the parts says how many there are, that of the kernel without parts that there are none; a schedule
// of the kernel that adds parts says neither, so that the number is an estimate.

// CHECK:      kernel.func @k_parts(%{{.*}}: memref<32x4096xf32>, %{{.*}}: memref<4096x32xf32>, %{{.*}}: memref<4x32x32xf32>)
// CHECK-SAME: origin = #kernel.origin<line = 2>{{.*}}schedule = #poly.schedule<"x: S0 | part@4 part m n/32vp | k">
// CHECK:      kernel.func @k(%{{.*}}: memref<4x32x32xf32>, %{{.*}}: memref<32x32xf32>)
// CHECK-NOT:  parts =
// CHECK:      kernel.func @copy
// ONE:        kernel.func @k({{.*}}) attributes {origin = #kernel.origin<line = 1>, parts = 1 : i64}
// ONE:        kernel.func @copy
// ONE-NOT:    parts
// WHOLE-NOT:  _parts
// WHOLE:      kernel.func @k({{.*}}) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"x: S0 | m/8p n/32vp | k">}
// WHOLE-NOT:  _parts
// ESTIMATED:  kernel.func @k_parts
// ESTIMATED-SAME: schedule = #poly.schedule<"contraction: S0 | part@64 part m/32p n/32vp | k">
// UNEVEN:     Line 2 of the schedules: kernel 'k': part@3: its sum has 4096 terms, which are not 3 equal parts (stage 'schedule')
// SUM:        Line 1 of the schedules: kernel 'copy': part@2: its first statement is no sum that can have parts
// ZERO:       Line 1 of the schedules: kernel 'k_parts': schedule item 'part@0': blocks, as in y@4, must be first in the band and at least 1
// NONE:       Line 1 of the schedules: there is no kernel 'copy_parts' (stage 'schedule'). Its sum is whole: begin the band with a number of parts, as part@8.
// TILED:      kernel.func @k_parts
// TILED:      poly.tile
kernel.func @k(%a: memref<32x4096xf32>, %b: memref<4096x32xf32>, %y: memref<32x32xf32>) {
  poly.statement "S0" ins(%a, %b : memref<32x4096xf32>, memref<4096x32xf32>) outs(%y : memref<32x32xf32>) {domain = #poly.domain<"0 <= m < 32 and 0 <= n < 32 and 0 <= k < 4096">, accesses = [#poly.access<"b0[m, k]">, #poly.access<"b1[k, n]">, #poly.access<"b2[m, n]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%p: f32, %q: f32):
    %z = arith.mulf %p, %q : f32
    poly.yield %z : f32
  }
  kernel.return
}
kernel.func @copy(%x: memref<8xf32>, %y: memref<8xf32>) {
  poly.statement "S0" ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) {domain = #poly.domain<"0 <= i < 8">, accesses = [#poly.access<"b0[i]">, #poly.access<"b1[i]">]} do {
  ^bb0(%p: f32):
    poly.yield %p : f32
  }
  kernel.return
}
func.func @main(%a: tensor<32x4096xf32>, %b: tensor<4096x32xf32>) -> tensor<32x32xf32> {
  %y = kernel.call @k(%a, %b) : (tensor<32x4096xf32>, tensor<4096x32xf32>) -> tensor<32x32xf32>
  func.return %y : tensor<32x32xf32>
}
