// RUN: mlc-opt %s -p tile-kernels,lower-tiles --verify-diagnostics | filecheck %s

kernel.func @one_thread(%0: memref<3x50xf32>, %1: memref<3x3xf32>) attributes {schedule = #poly.schedule<"serial: S0 | i0 | i1; serial: S1 | i0 i1 | ">} {
  %2 = kernel.local : memref<3xf32>
  poly.statement "S0" ins(%0 : memref<3x50xf32>) outs(%2 : memref<3xf32>) {domain = #poly.domain<"0 <= i0 < 3 and 0 <= i1 < 50">, accesses = [#poly.access<"b0[i0, i1]">, #poly.access<"t0[i0]">], monoid = "add", init = 0.000000e+00 : f32} do {
  ^bb0(%3: f32):
    poly.yield %3 : f32
  }
  poly.statement "S1" ins(%2, %2 : memref<3xf32>, memref<3xf32>) outs(%1 : memref<3x3xf32>) {domain = #poly.domain<"0 <= i0 < 3 and 0 <= i1 < 3">, accesses = [#poly.access<"t0[i1]">, #poly.access<"t0[i0]">, #poly.access<"b1[i0, i1]">]} do {
  ^bb0(%4: f32, %5: f32):
    %6 = arith.mulf %5, %4 : f32
    %7 = arith.addf %4, %6 : f32
    poly.yield %7 : f32
  }
  kernel.return
}

// CHECK:      kernel.func @one_thread({{.*}} attributes {schedule = #poly.schedule<"serial: S0 | i0 | i1; serial: S1 | i0 i1 | ">, serial = "nests depend on each other"} {
// CHECK:      kernel.local {{.*}}: memref<3xf32>
// CHECK:      scf.for {{.*}}{
// CHECK:      scf.for {{.*}}-> (f32) {
// CHECK:      kernel.read {{.*}}strides = array<i64>} : memref<3x50xf32> -> f32
// CHECK-NEXT: arith.addf {{.*}}: f32
// CHECK-NEXT: scf.yield {{.*}}: f32
// CHECK:      kernel.write {{.*}}strides = array<i64>} : f32, memref<3xf32>
// CHECK:      scf.for {{.*}}{
// CHECK:      scf.for {{.*}}{
// CHECK-NEXT: kernel.read {{.*}}strides = array<i64>} : memref<3xf32> -> f32
// CHECK-NEXT: kernel.read {{.*}}strides = array<i64>} : memref<3xf32> -> f32
// CHECK-NEXT: arith.mulf {{.*}}: f32
// CHECK-NEXT: arith.addf {{.*}}: f32
// CHECK:      kernel.write {{.*}}strides = array<i64>} : f32, memref<3x3xf32>

// -----

// A tile in no loop is one thread's.

kernel.func @one_row(%0: memref<20xf32>, %1: memref<f32>) attributes {schedule = #poly.schedule<"rows: S0 |  | i0/8v">} {
  poly.statement "S0" ins(%0 : memref<20xf32>) outs(%1 : memref<f32>) {domain = #poly.domain<"0 <= i0 < 20">, accesses = [#poly.access<"b0[i0]">, #poly.access<"b1[]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%5: f32):
    poly.yield %5 : f32
  }
  kernel.return
}

// CHECK:      kernel.func @one_row(
// CHECK:      "scf.parallel"(
// CHECK:      vector.reduction
// CHECK:      kernel.write
// CHECK-NEXT: scf.reduce
