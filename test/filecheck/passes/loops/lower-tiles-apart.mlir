// RUN: mlc-opt %s -p lower-tiles,verify-loops --split-input-file | filecheck %s

// A window that moves by 2 along the lanes: its second place takes what lies between the lanes of the first, its third
// and fourth the lanes of those without one, and one more a row.

kernel.func @by_two(%0: memref<4x18xf32>, %1: memref<4x8xf32>) attributes {schedule = #poly.schedule<"window: S0 | i/2 j/8v | k">, schedule_tree = "{ domain: \22{ T0[i, j] : 0 <= i < 2 and 0 <= j < 1 }\22, child: { schedule: \22[{ T0[i, j] -> [(i)] }]\22 } }"} {
  poly.statement "S0" ins(%0 : memref<4x18xf32>) outs(%1 : memref<4x8xf32>) {domain = #poly.domain<"0 <= i < 4 and 0 <= j < 8 and 0 <= k < 4">, accesses = [#poly.access<"b0[i, 2*j + k]">, #poly.access<"b1[i, j]">], monoid = "max", init = 0.0 : f32} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.tile "T0" {statements = ["S0"], iters = ["i", "j"], starts = ["0", "0"], sizes = array<i64: 2, 8>, valid = ["2", "8"], vector = "j"}
  kernel.return
}

// CHECK:      kernel.func @by_two(
// CHECK:      [[FIRST:%\w+]] = kernel.read %0[[[AT:%\w+]]] {strides = array<i64: 18, 2>} : memref<4x18xf32> -> vector<2x8xf32>
// CHECK:      [[SECOND:%\w+]] = kernel.read %0[[[AT]]] {strides = array<i64: 18, 2>, odd} : memref<4x18xf32> -> vector<2x8xf32>
// CHECK:      [[AFTER:%\w+]] = arith.addi {{.*}}, %c16 : index
// CHECK-NEXT: [[ONE:%\w+]] = kernel.read %0[[[AFTER]]] {strides = array<i64: 18, 2>} : memref<4x18xf32> -> vector<2x1xf32>
// CHECK-NEXT: [[THIRD:%\w+]] = kernel.slide [[FIRST]], [[ONE]] : vector<2x8xf32>, vector<2x1xf32> -> vector<2x8xf32>
// CHECK:      kernel.slide [[SECOND]], {{%\w+}} : vector<2x8xf32>, vector<2x1xf32> -> vector<2x8xf32>
// CHECK-NOT:  vector<2x8xf32> = kernel.read
