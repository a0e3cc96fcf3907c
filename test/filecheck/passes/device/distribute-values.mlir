// RUN: mlc-opt %s --for-target cuda -p distribute-values --split-input-file | filecheck %s

// Lanes are neighbours in memory, a warp has rows of its own, and a thread several rows. What is constant along an axis
// has the distribution of the tile.
// CHECK: kernel.func @tile{{.*}}computing = 256
// CHECK: kernel.read %a[{{.*}}distribution = #kernel.layout<"register[0, 32][1, 0][2, 0] lane[0, 1][0, 2][0, 4][0, 8][0, 16] warp[4, 0][8, 0][16, 0] of 32x64">
// CHECK: vector.broadcast {{.*}}distribution = #kernel.layout<"register[0, 32]
kernel.func @tile(%a: memref<32x64xf32>, %b: memref<64xf32>, %c: memref<32x64xf32>) {
  %0 = arith.constant 0 : index
  %1 = kernel.read %a[%0] {strides = array<i64: 64, 1>} : memref<32x64xf32> -> vector<32x64xf32>
  %2 = kernel.read %b[%0] {strides = array<i64: 0, 1>} : memref<64xf32> -> vector<1x64xf32>
  %3 = vector.broadcast %2 : vector<1x64xf32> to vector<32x64xf32>
  %4 = arith.addf %1, %3 : vector<32x64xf32>
  kernel.write %4, %c[%0] {strides = array<i64: 64, 1>} : vector<32x64xf32>, memref<32x64xf32>
  kernel.return
}

// -----

// The fast axis is that of contiguous accesses; 12 rows are padded to 16.
// CHECK: kernel.func @columns{{.*}}computing = 64
// CHECK: kernel.read %a[{{.*}}distribution = #kernel.layout<"register lane[1, 0][2, 0][4, 0][8, 0][0, 1] warp[0, 2] of 16x4">
kernel.func @columns(%a: memref<4x12xf32>, %c: memref<4x12xf32>) {
  %0 = arith.constant 0 : index
  %1 = kernel.read %a[%0] {strides = array<i64: 1, 12>} : memref<4x12xf32> -> vector<12x4xf32>
  kernel.write %1, %c[%0] {strides = array<i64: 1, 12>} : vector<12x4xf32>, memref<4x12xf32>
  kernel.return
}

// -----

// What is reduced along its last axis, and read contiguously along the other: warps have parts of the sums.
// CHECK-LABEL: kernel.func @strip
// CHECK: kernel.read {{.*}}distribution = #kernel.layout<"register[0, 1][0, 2][0, 4] lane[1, 0][2, 0][4, 0][8, 0][16, 0] warp[0, 8][0, 16][0, 32] of 32x64">
// CHECK: kernel.multi_reduction {{.*}}distribution = #kernel.layout<"register lane[1][2][4][8][16] warp[0][0][0] of 32">
kernel.func @strip(%a: memref<2048xf32>, %c: memref<32xf32>) {
  %0 = arith.constant 0 : index
  %1 = kernel.read %a[%0] {strides = array<i64: 1, 32>} : memref<2048xf32> -> vector<32x64xf32>
  %2 = kernel.multi_reduction %1 {kind = #vector.kind<add>} : vector<32x64xf32> -> vector<32xf32>
  kernel.write %2, %c[%0] {strides = array<i64: 1>} : vector<32xf32>, memref<32xf32>
  kernel.return
}

// -----

// A window slides over one buffer: a thread has neighbouring rows, which share what it reads.
// CHECK-LABEL: kernel.func @window
// CHECK-COUNT-4: kernel.read {{.*}}distribution = #kernel.layout<"register[1, 0][2, 0] lane[0, 1][0, 2][0, 4][0, 8][0, 16] warp[4, 0][8, 0][16, 0] of 32x32">
kernel.func @window(%a: memref<33x33xf32>, %c: memref<32x32xf32>) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %33 = arith.constant 33 : index
  %34 = arith.constant 34 : index
  %p = kernel.read %a[%0] {strides = array<i64: 33, 1>} : memref<33x33xf32> -> vector<32x32xf32>
  %q = kernel.read %a[%1] {strides = array<i64: 33, 1>} : memref<33x33xf32> -> vector<32x32xf32>
  %r = kernel.read %a[%33] {strides = array<i64: 33, 1>} : memref<33x33xf32> -> vector<32x32xf32>
  %s = kernel.read %a[%34] {strides = array<i64: 33, 1>} : memref<33x33xf32> -> vector<32x32xf32>
  %t = arith.maximumf %p, %q : vector<32x32xf32>
  %u = arith.maximumf %r, %s : vector<32x32xf32>
  %v = arith.maximumf %t, %u : vector<32x32xf32>
  kernel.write %v, %c[%0] {strides = array<i64: 32, 1>} : vector<32x32xf32>, memref<32x32xf32>
  kernel.return
}
