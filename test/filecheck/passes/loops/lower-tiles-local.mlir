// RUN: mlc-opt %s -p tile-kernels,lower-tiles --verify-diagnostics --split-input-file | filecheck %s

// A row that is read backwards lives in a local array of the tile's part, 5 of 6x5; what is left of it is one short step, without a
// loop as the one before.

kernel.func @row(%0: memref<6x5xf32>, %1: memref<6x5xf32>) attributes {schedule = #poly.schedule<"rows: S0 S1 | i0 | i1/4v">} {
  %2 = kernel.local : memref<6x5xf32>
  poly.statement "S0" ins(%0 : memref<6x5xf32>) outs(%2 : memref<6x5xf32>) {domain = #poly.domain<"0 <= i0 < 6 and 0 <= i1 < 5">, accesses = [#poly.access<"b0[i0, i1]">, #poly.access<"t0[i0, i1]">]} do {
  ^bb0(%3: f32):
    %4 = math.exp %3 : f32
    poly.yield %4 : f32
  }
  poly.statement "S1" ins(%2 : memref<6x5xf32>) outs(%1 : memref<6x5xf32>) {domain = #poly.domain<"0 <= i0 < 6 and 0 <= i1 < 5">, accesses = [#poly.access<"t0[i0, -i1 + 4]">, #poly.access<"b1[i0, i1]">]} do {
  ^bb0(%5: f32):
    poly.yield %5 : f32
  }
  kernel.return
}

// CHECK:      kernel.func @row({{.*}}
// CHECK:      [[T:%\w+]] = kernel.local : memref<5xf32>
// CHECK:      "scf.parallel"(
// CHECK-NEXT: ^bb0([[I:%\w+]]: index):
// CHECK-NOT:  scf.for
// CHECK:      [[AT:%\w+]] = arith.muli [[I]],
// CHECK-NEXT: kernel.read %0[[[AT]]] {strides = array<i64: 1>} : memref<6x5xf32> -> vector<4xf32>
// CHECK-NEXT: math.exp {{.*}}: vector<4xf32>
// CHECK:      kernel.write {{.*}}, [[T]][{{.*}}] {strides = array<i64: 1>} : vector<4xf32>, memref<5xf32>
// CHECK:      kernel.write {{.*}}, [[T]][{{.*}}] {strides = array<i64: 1>} : vector<1xf32>, memref<5xf32>
// CHECK:      kernel.read [[T]][{{.*}}] {strides = array<i64: -1>} : memref<5xf32> -> vector<4xf32>
// CHECK:      kernel.write {{.*}}, %1[{{.*}}] {strides = array<i64: 1>} : vector<4xf32>, memref<6x5xf32>
// CHECK:      kernel.read [[T]][{{.*}}] {strides = array<i64: -1>} : memref<5xf32> -> vector<1xf32>
// CHECK:      kernel.write {{.*}}, %1[{{.*}}] {strides = array<i64: 1>} : vector<1xf32>, memref<6x5xf32>
// CHECK:      scf.reduce

// -----

// Two statements write the two halves of a row's part, which the third reads: both are kept, of one row.

kernel.func @halves(%a: memref<6x5xf32>, %b: memref<6x5xf32>) attributes {schedule = #poly.schedule<"x: S0 S1 | i@6 i j | & x: S2 | i@6 i j | ">} {
  %t = kernel.local : memref<2x6x1x5xf32>
  poly.statement "S0" ins(%a : memref<6x5xf32>) outs(%t : memref<2x6x1x5xf32>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < 5">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"t0[0, i, 0, j]">]} do {
  ^bb0(%x: f32):
    %y = math.exp %x : f32
    poly.yield %y : f32
  }
  poly.statement "S1" ins(%a : memref<6x5xf32>) outs(%t : memref<2x6x1x5xf32>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < 5">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"t0[1, i, 0, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.statement "S2" ins(%t, %t : memref<2x6x1x5xf32>, memref<2x6x1x5xf32>) outs(%b : memref<6x5xf32>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < 5">, accesses = [#poly.access<"t0[0, i, 0, j]">, #poly.access<"t0[1, i, 0, -j + 4]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    poly.yield %z : f32
  }
  kernel.return
}

// CHECK:      kernel.func @halves({{.*}}
// CHECK:      kernel.local : memref<2x5xf32>
