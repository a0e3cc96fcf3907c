// RUN: mlc-opt %s --for-target cuda:sm_90 -p use-warpgroups,distribute-values | filecheck %s

// Warps 0 to 3 have 64 rows of the tile, 4 to 7 those after them. The left operand has neighbours along the sum: rows of 64
// bytes, whose chunks two bits of the row swizzle. The right one has two blocks of 64 columns, a row a step.
// CHECK-LABEL: kernel.func @product
// CHECK:      %s = kernel.local {layout = #kernel.layout<"offset[1][2][4][8][16][32][72][144][256][512][1024][2048] of 4096">} : memref<128x32xf16>
// CHECK:      %t = kernel.local {layout = #kernel.layout<"offset[1][2][4][8][16][32][2048][72][144][288][512][1024] of 4096">} : memref<32x128xf16>
// CHECK:      distribution = #kernel.layout<"register[0, 1][8, 0][0, 8][0, 16][0, 32][0, 64] lane[0, 2][0, 4][1, 0][2, 0][4, 0] warp[16, 0][32, 0][64, 0] of 128x128">
// CHECK:      kernel.mma {{.*}}warpgroup = 128 : i64
kernel.func @product(%c: memref<128x128xf32>) {
  %s = kernel.local {layout = #kernel.layout<"offset[1][2][4][8][16][32][64][128][256][512][1024][2048] of 4096">} : memref<128x32xf16>
  %t = kernel.local {layout = #kernel.layout<"offset[1][2][4][8][16][32][64][128][256][512][1024][2048] of 4096">} : memref<32x128xf16>
  %0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %acc = vector.broadcast %z : f32 to vector<128x128xf32>
  %d = kernel.mma %acc, %s, %t {steps = 32 : i64, strides = array<i64: 1, 32, 128, 1>} : vector<128x128xf32>, memref<128x32xf16>, memref<32x128xf16> -> vector<128x128xf32>
  kernel.write %d, %c[%0] {strides = array<i64: 128, 1>} : vector<128x128xf32>, memref<128x128xf32>
  kernel.return
}

// Bytes: rows of 64 bytes; a chunk of 16 bytes has 16 elements, and two bits of the row swizzle.
// CHECK-LABEL: kernel.func @bytes
// CHECK:      %s = kernel.local {layout = #kernel.layout<"offset[1][2][4][8][16][32][64][144][288][512][1024][2048][4096] of 8192">} : memref<128x64xui8>
// CHECK:      %t = kernel.local {layout = #kernel.layout<"offset[1][2][4][8][16][32][64][144][288][512][1024][2048] of 4096">} : memref<64x64xi8>
// CHECK:      kernel.mma {{.*}}warpgroup = 64 : i64
kernel.func @bytes(%c: memref<128x64xi32>) {
  %s = kernel.local : memref<128x64xui8>
  %t = kernel.local : memref<64x64xi8>
  %0 = arith.constant 0 : index
  %z = arith.constant 0 : i32
  %acc = vector.broadcast %z : i32 to vector<128x64xi32>
  %d = kernel.mma %acc, %s, %t {steps = 64 : i64, strides = array<i64: 1, 64, 1, 64>} : vector<128x64xi32>, memref<128x64xui8>, memref<64x64xi8> -> vector<128x64xi32>
  kernel.write %d, %c[%0] {strides = array<i64: 64, 1>} : vector<128x64xi32>, memref<128x64xi32>
  kernel.return
}

// Floats that have no neighbours along the sum are multiplied by warps.
// CHECK-LABEL: kernel.func @floats
// CHECK:      kernel.mma
// CHECK-NOT:  warpgroup
// CHECK:      kernel.return
kernel.func @floats(%c: memref<128x64xf32>) {
  %s = kernel.local : memref<128x32xf32>
  %t = kernel.local : memref<32x72xf32>
  %0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %acc = vector.broadcast %z : f32 to vector<128x64xf32>
  %d = kernel.mma %acc, %s, %t {steps = 32 : i64, strides = array<i64: 1, 32, 72, 1>} : vector<128x64xf32>, memref<128x32xf32>, memref<32x72xf32> -> vector<128x64xf32>
  kernel.write %d, %c[%0] {strides = array<i64: 64, 1>} : vector<128x64xf32>, memref<128x64xf32>
  kernel.return
}

// 16 rows are not a warpgroup's: warps multiply fragments.
// CHECK-LABEL: kernel.func @short
// CHECK:      kernel.mma
// CHECK-NOT:  warpgroup
// CHECK:      kernel.return
kernel.func @short(%c: memref<16x64xf32>) {
  %s = kernel.local {layout = #kernel.layout<"offset[1][2][4][8][16][32][64][128] of 256">} : memref<16x16xf16>
  %t = kernel.local {layout = #kernel.layout<"offset[1][2][4][8][16][32][64][128][256][512] of 1024">} : memref<16x64xf16>
  %0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %acc = vector.broadcast %z : f32 to vector<16x64xf32>
  %d = kernel.mma %acc, %s, %t {steps = 16 : i64, strides = array<i64: 1, 16, 64, 1>} : vector<16x64xf32>, memref<16x16xf16>, memref<16x64xf16> -> vector<16x64xf32>
  kernel.write %d, %c[%0] {strides = array<i64: 64, 1>} : vector<16x64xf32>, memref<16x64xf32>
  kernel.return
}
