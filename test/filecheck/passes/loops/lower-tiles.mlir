// RUN: mlc-opt %s -p tile-kernels,lower-tiles --verify-diagnostics --split-input-file | filecheck %s

kernel.func @register_tile(%0: memref<6x50xf32>, %1: memref<50x16xf32>, %2: memref<16xf32>, %3: memref<6x16xf32>) attributes {schedule = #poly.schedule<"contraction: S0 S1 | n/16v m/4*1+2*1 | k">} {
  %4 = kernel.local : memref<6x16xf32>
  poly.statement "S0" ins(%0, %1 : memref<6x50xf32>, memref<50x16xf32>) outs(%4 : memref<6x16xf32>) {domain = #poly.domain<"0 <= m < 6 and 0 <= n < 16 and 0 <= k < 50">, accesses = [#poly.access<"b0[m, k]">, #poly.access<"b1[k, n]">, #poly.access<"t0[m, n]">], monoid = "add", init = 0.000000e+00 : f32} do {
  ^bb0(%5: f32, %6: f32):
    %7 = arith.mulf %5, %6 : f32
    poly.yield %7 : f32
  }
  poly.statement "S1" ins(%4, %2 : memref<6x16xf32>, memref<16xf32>) outs(%3 : memref<6x16xf32>) {domain = #poly.domain<"0 <= m < 6 and 0 <= n < 16">, accesses = [#poly.access<"t0[m, n]">, #poly.access<"b2[n]">, #poly.access<"b3[m, n]">]} do {
  ^bb0(%8: f32, %9: f32):
    %10 = arith.addf %8, %9 : f32
    %11 = arith.constant 0.000000e+00 : f32
    %12 = arith.maximumf %10, %11 : f32
    poly.yield %12 : f32
  }
  kernel.return
}

// CHECK:      kernel.func @register_tile({{.*}} attributes {schedule = #poly.schedule<"contraction: S0 S1 | n/16v m/4*1+2*1 | k">} {
// CHECK:      vector.broadcast {{.*}}: f32 to vector<4x16xf32>
// CHECK:      scf.for {{.*}}-> (vector<4x16xf32>) {
// CHECK:      kernel.read {{.*}}strides = array<i64: 50, 0>} : memref<6x50xf32> -> vector<4x1xf32>
// CHECK:      kernel.read {{.*}}strides = array<i64: 0, 1>} : memref<50x16xf32> -> vector<1x16xf32>
// CHECK-NEXT: vector.broadcast {{.*}}: vector<4x1xf32> to vector<4x16xf32>
// CHECK-NEXT: vector.broadcast {{.*}}: vector<1x16xf32> to vector<4x16xf32>
// CHECK-NEXT: arith.mulf {{.*}}: vector<4x16xf32>
// CHECK-NEXT: arith.addf {{.*}}: vector<4x16xf32>
// CHECK-NEXT: scf.yield {{.*}}: vector<4x16xf32>
// CHECK:      kernel.read {{.*}}strides = array<i64: 0, 1>} : memref<16xf32> -> vector<1x16xf32>
// CHECK-NEXT: vector.broadcast {{.*}}: vector<1x16xf32> to vector<4x16xf32>
// CHECK-NEXT: arith.addf {{.*}}: vector<4x16xf32>
// CHECK:      vector.broadcast {{.*}}: f32 to vector<4x16xf32>
// CHECK-NEXT: arith.maximumf {{.*}}: vector<4x16xf32>
// CHECK:      kernel.write {{.*}}strides = array<i64: 16, 1>} : vector<4x16xf32>, memref<6x16xf32>
// CHECK:      vector.broadcast {{.*}}: f32 to vector<2x16xf32>
// CHECK:      scf.for {{.*}}-> (vector<2x16xf32>) {
// CHECK:      kernel.read {{.*}}strides = array<i64: 50, 0>} : memref<6x50xf32> -> vector<2x1xf32>
// CHECK:      kernel.read {{.*}}strides = array<i64: 0, 1>} : memref<50x16xf32> -> vector<1x16xf32>
// CHECK-NEXT: vector.broadcast {{.*}}: vector<2x1xf32> to vector<2x16xf32>
// CHECK-NEXT: vector.broadcast {{.*}}: vector<1x16xf32> to vector<2x16xf32>
// CHECK-NEXT: arith.mulf {{.*}}: vector<2x16xf32>
// CHECK-NEXT: arith.addf {{.*}}: vector<2x16xf32>
// CHECK-NEXT: scf.yield {{.*}}: vector<2x16xf32>
// CHECK:      kernel.read {{.*}}strides = array<i64: 0, 1>} : memref<16xf32> -> vector<1x16xf32>
// CHECK-NEXT: vector.broadcast {{.*}}: vector<1x16xf32> to vector<2x16xf32>
// CHECK-NEXT: arith.addf {{.*}}: vector<2x16xf32>
// CHECK:      vector.broadcast {{.*}}: f32 to vector<2x16xf32>
// CHECK-NEXT: arith.maximumf {{.*}}: vector<2x16xf32>
// CHECK:      kernel.write {{.*}}strides = array<i64: 16, 1>} : vector<2x16xf32>, memref<6x16xf32>

// -----

kernel.func @part_of_a_vector(%0: memref<?xf32, #graph.dims<["batch"]>>, %1: memref<?xf32, #graph.dims<["batch"]>>, %2: memref<?xf32, #graph.dims<["batch"]>>) attributes {schedule = #poly.schedule<"elementwise: S0 | i0/8v | ">} {
  poly.statement "S0" ins(%0, %1 : memref<?xf32, #graph.dims<["batch"]>>, memref<?xf32, #graph.dims<["batch"]>>) outs(%2 : memref<?xf32, #graph.dims<["batch"]>>) {domain = #poly.domain<"0 <= i0 < batch">, accesses = [#poly.access<"b0[i0]">, #poly.access<"b1[i0]">, #poly.access<"b2[i0]">]} do {
  ^bb0(%3: f32, %4: f32):
    %5 = arith.mulf %3, %4 : f32
    poly.yield %5 : f32
  }
  kernel.return
}

// CHECK:      kernel.func @part_of_a_vector({{.*}} attributes {schedule = #poly.schedule<"elementwise: S0 | i0/8v | ">} {
// CHECK:      "scf.parallel"(
// CHECK:      kernel.read {{.*}}strides = array<i64: 1>} : memref<?xf32, #graph.dims<["batch"]>> -> vector<8xf32>
// CHECK:      kernel.read {{.*}}strides = array<i64: 1>} : memref<?xf32, #graph.dims<["batch"]>> -> vector<8xf32>
// CHECK-NEXT: arith.mulf {{.*}}: vector<8xf32>
// CHECK:      kernel.write {{.*}}strides = array<i64: 1>} : vector<8xf32>, memref<?xf32, #graph.dims<["batch"]>>
// CHECK-NEXT: scf.reduce
// CHECK:      scf.if {{.*}}{
// CHECK:      kernel.read {{.*}} lanes({{.*}}strides = array<i64: 1>} : memref<?xf32, #graph.dims<["batch"]>> -> vector<8xf32>
// CHECK:      kernel.read {{.*}} lanes({{.*}}strides = array<i64: 1>} : memref<?xf32, #graph.dims<["batch"]>> -> vector<8xf32>
// CHECK-NEXT: arith.mulf {{.*}}: vector<8xf32>
// CHECK:      kernel.write {{.*}} lanes({{.*}}strides = array<i64: 1>} : vector<8xf32>, memref<?xf32, #graph.dims<["batch"]>>

// -----

kernel.func @lanes_of_a_sum(%0: memref<3x19xf32>, %1: memref<3x1xf32>) attributes {schedule = #poly.schedule<"rows: S0 | i0 | i1/8v">} {
  poly.statement "S0" ins(%0 : memref<3x19xf32>) outs(%1 : memref<3x1xf32>) {domain = #poly.domain<"0 <= i0 < 3 and 0 <= i1 < 19">, accesses = [#poly.access<"b0[i0, i1]">, #poly.access<"b1[i0, 0]">], monoid = "add", init = 0.000000e+00 : f32} do {
  ^bb0(%2: f32):
    poly.yield %2 : f32
  }
  kernel.return
}

// CHECK:      kernel.func @lanes_of_a_sum({{.*}} attributes {schedule = #poly.schedule<"rows: S0 | i0 | i1/8v">} {
// CHECK:      "scf.parallel"(
// CHECK:      vector.broadcast {{.*}}: f32 to vector<8xf32>
// CHECK:      scf.for {{.*}}-> (vector<8xf32>) {
// CHECK:      kernel.read {{.*}}strides = array<i64: 1>} : memref<3x19xf32> -> vector<8xf32>
// CHECK-NEXT: arith.addf {{.*}}: vector<8xf32>
// CHECK-NEXT: scf.yield {{.*}}: vector<8xf32>
// CHECK:      vector.reduction {{.*}}: vector<8xf32> into f32
// CHECK:      vector.broadcast {{.*}}: f32 to vector<3xf32>
// CHECK-NOT:  scf.for
// CHECK:      kernel.read {{.*}}strides = array<i64: 1>} : memref<3x19xf32> -> vector<3xf32>
// CHECK-NEXT: arith.addf {{.*}}: vector<3xf32>
// CHECK-NEXT: vector.reduction {{.*}}: vector<3xf32> into f32
// CHECK-NEXT: arith.addf {{.*}}: f32
// CHECK-NEXT: kernel.write {{.*}}strides = array<i64>} : f32, memref<3x1xf32>
// CHECK-NEXT: scf.reduce

// -----

kernel.func @gather(%0: memref<9x4xf32>, %1: memref<3xi64>, %2: memref<3x4xf32>) attributes {schedule = #poly.schedule<"elementwise: S0 | i0 i1/4v | ">} {
  poly.statement "S0" ins(%1 : memref<3xi64>) outs(%2 : memref<3x4xf32>) {domain = #poly.domain<"0 <= i0 < 3 and 0 <= i1 < 4">, accesses = [#poly.access<"b1[i0]">, #poly.access<"b2[i0, i1]">]} do {
  ^bb0(%3: i64):
    %4 = arith.index_cast %3 : i64 to index
    %5 = kernel.index "i1"
    %6 = memref.load %0[%4, %5] : memref<9x4xf32>
    poly.yield %6 : f32
  }
  kernel.return
}

// CHECK:      kernel.func @gather({{.*}} attributes {schedule = #poly.schedule<"elementwise: S0 | i0 i1/4v | ">} {
// CHECK:      "scf.parallel"(
// CHECK:      kernel.read {{.*}}strides = array<i64>} : memref<3xi64> -> i64
// CHECK:      kernel.gather {{.*}} {lane_offsets = array<i64: 0, 1, 2, 3>} : memref<9x4xf32>, i64 -> vector<4xf32>
// CHECK:      kernel.write {{.*}}strides = array<i64: 1>} : vector<4xf32>, memref<3x4xf32>
// CHECK-NEXT: scf.reduce

// -----

// Gathered vector access: at constant lane offsets where they are known, else at computed offsets.

kernel.func @repeat(%0: memref<3x8xf32>, %1: memref<3x16xf32>) attributes {schedule = #poly.schedule<"elementwise: S0 | i0 i1/8v | ">} {
  poly.statement "S0" ins(%0 : memref<3x8xf32>) outs(%1 : memref<3x16xf32>) {domain = #poly.domain<"0 <= i0 < 3 and 0 <= i1 < 16">, accesses = [#poly.access<"b0[i0, i1 // 2]">, #poly.access<"b1[i0, i1]">]} do {
  ^bb0(%3: f32):
    poly.yield %3 : f32
  }
  kernel.return
}

// CHECK:      kernel.func @repeat(
// CHECK:      kernel.gather %0[{{.*}}] {lane_offsets = array<i64: 0, 0, 1, 1, 2, 2, 3, 3>} : memref<3x8xf32>, i64 -> vector<8xf32>
// CHECK-NOT:  kernel.gather

// -----

kernel.func @thirds(%0: memref<6xf32>, %1: memref<16xf32>) attributes {schedule = #poly.schedule<"elementwise: S0 | i0/8v | ">} {
  poly.statement "S0" ins(%0 : memref<6xf32>) outs(%1 : memref<16xf32>) {domain = #poly.domain<"0 <= i0 < 16">, accesses = [#poly.access<"b0[i0 // 3]">, #poly.access<"b1[i0]">]} do {
  ^bb0(%3: f32):
    poly.yield %3 : f32
  }
  kernel.return
}

// CHECK:      kernel.func @thirds(
// CHECK:      kernel.gather %0[{{.*}}] : memref<6xf32>, vector<8xi64> -> vector<8xf32>
