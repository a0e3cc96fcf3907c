// RUN: mlc-opt %s --for-target cuda:sm_90 -p 'use-warpgroups{numerics=relaxed}' | filecheck %s
// RUN: mlc-opt %s --for-target cuda:sm_90 -p use-warpgroups | filecheck %s --check-prefix=DEFAULT

// Floats of 8 bits in rows of 128 bytes; with default numerics warps multiply them, whose sums are those of f32.
// CHECK:      kernel.local {layout = #kernel.layout<"offset[1][2][4][8][16][32][64][144][288][576][1024][2048][4096] of 8192">} : memref<64x128xf8E4M3FN>
// CHECK:      kernel.mma {{.*}}warpgroup = 64 : i64
// DEFAULT:     kernel.mma
// DEFAULT-NOT: warpgroup
kernel.func @product(%c: memref<64x64xf32>) attributes {schedule = #poly.schedule<"contraction: S0 | m/64p n/64vp | k/128 | warps=4">} {
  %s = kernel.local : memref<64x128xf8E4M3FN>
  %t = kernel.local : memref<64x128xf8E5M2>
  %0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %acc = vector.broadcast %z : f32 to vector<64x64xf32>
  %d = kernel.mma %acc, %s, %t {steps = 128 : i64, strides = array<i64: 1, 128, 1, 128>} : vector<64x64xf32>, memref<64x128xf8E4M3FN>, memref<64x128xf8E5M2> -> vector<64x64xf32>
  kernel.write %d, %c[%0] {strides = array<i64: 64, 1>} : vector<64x64xf32>, memref<64x64xf32>
  kernel.return
}
