// RUN: mlc-opt %s -p tile-kernels,lower-tiles --verify-diagnostics | filecheck %s

// A sum runs in the loop of the powers it reads, and takes them from registers; so does a row of one iteration, in no loop.

kernel.func @powers(%0: memref<3x20xf32>, %1: memref<3x20xf32>, %2: memref<3xf32>) attributes {schedule = #poly.schedule<"rows: S0 S1 | i0 | i1/8v">} {
  poly.statement "S0" ins(%0 : memref<3x20xf32>) outs(%1 : memref<3x20xf32>) {domain = #poly.domain<"0 <= i0 < 3 and 0 <= i1 < 20">, accesses = [#poly.access<"b0[i0, i1]">, #poly.access<"b1[i0, i1]">]} do {
  ^bb0(%3: f32):
    %4 = math.exp %3 : f32
    poly.yield %4 : f32
  }
  poly.statement "S1" ins(%1 : memref<3x20xf32>) outs(%2 : memref<3xf32>) {domain = #poly.domain<"0 <= i0 < 3 and 0 <= i1 < 20">, accesses = [#poly.access<"b1[i0, i1]">, #poly.access<"b2[i0]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%5: f32):
    poly.yield %5 : f32
  }
  kernel.return
}

// CHECK:      "scf.parallel"(
// CHECK:      scf.for {{.*}} iter_args([[ACC:%\w+]] = {{.*}}) -> (vector<8xf32>) {
// CHECK:      [[POWER:%\w+]] = math.exp {{.*}} : vector<8xf32>
// CHECK-NEXT: kernel.write [[POWER]], %1[
// CHECK-NEXT: arith.addf [[ACC]], [[POWER]] : vector<8xf32>
// CHECK-NEXT: scf.yield
// CHECK:      vector.reduction <add>
// CHECK-NOT:  scf.for
// CHECK:      [[REST:%\w+]] = math.exp {{.*}} : vector<4xf32>
// CHECK-NEXT: kernel.write [[REST]], %1[
// CHECK-NEXT: arith.addf {{.*}}, [[REST]] : vector<4xf32>
// CHECK:      scf.reduce
