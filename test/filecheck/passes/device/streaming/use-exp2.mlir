// RUN: mlc-opt %s --for-target cuda -p use-exp2 | filecheck %s

// log2 e and the constant factor are one; of what is equal in a row it is multiplied once a row.
// CHECK: arith.constant 0.1803{{.*}} : f32
// CHECK: %[[a:.*]] = arith.mulf %x, %{{.*}} : vector<64x32xf32>
// CHECK: arith.constant 1.4426{{.*}} : f32
// CHECK: arith.mulf %m, %{{.*}} : vector<64x1xf32>
// CHECK: %[[b:.*]] = vector.broadcast %{{.*}} : vector<64x1xf32> to vector<64x32xf32>
// CHECK: %[[d:.*]] = arith.subf %[[a]], %[[b]]
// CHECK: math.exp2 %[[d]] fastmath<afn> : vector<64x32xf32>
// CHECK-NOT: math.exp %
kernel.func @k(%q: memref<64x32xf32>, %r: memref<64xf32>) attributes {schedule = #poly.schedule<"rows: S0 | i@1t j@4s i/64v | j/32v | warps=4x1 mma=m16n8k16">} {
  %0 = arith.constant 0 : index
  %c = arith.constant 0.125 : f32
  %x = kernel.read %q[%0] {strides = array<i64: 32, 1>} : memref<64x32xf32> -> vector<64x32xf32>
  %m = kernel.read %r[%0] {strides = array<i64: 1, 0>} : memref<64xf32> -> vector<64x1xf32>
  %w = vector.broadcast %c : f32 to vector<64x32xf32>
  %s = arith.mulf %x, %w : vector<64x32xf32>
  %n = vector.broadcast %m : vector<64x1xf32> to vector<64x32xf32>
  %d = arith.subf %s, %n : vector<64x32xf32>
  %p = math.exp %d : vector<64x32xf32>
  kernel.write %p, %q[%0] {strides = array<i64: 32, 1>} : vector<64x32xf32>, memref<64x32xf32>
  kernel.return
}
