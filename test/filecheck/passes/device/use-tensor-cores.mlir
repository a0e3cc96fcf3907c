// RUN: mlc-opt %s --for-target cuda -p 'stage-operands,use-tensor-cores{numerics=relaxed},distribute-values,insert-block-barriers' --split-input-file | filecheck %s

// The steps of a group are one product of fragments; the 6 steps that are left are a group of which the rest is 0.
// CHECK-LABEL: kernel.func @product
// CHECK:      %[[END:.*]] = arith.constant 70 : index
// CHECK:      vector.broadcast {{.*}}lane[0, 2][0, 4][1, 0][2, 0][4, 0] warp
// CHECK:      scf.for %[[B:.*]] = %{{.*}} to %[[END]]
// CHECK-NEXT: %[[LEFT:.*]] = arith.subi %[[END]], %[[B]]
// CHECK-NEXT: kernel.read %a[%[[B]]] valid(%[[LEFT]]) {{.*}}valid_axes = array<i64: 0>}
// CHECK:      kernel.write
// CHECK:      kernel.barrier
// CHECK-NEXT: kernel.mma {{.*}}{steps = 16 : i64, strides = array<i64: 1, 16, 72, 1>} : vector<64x64xf32>, memref<64x16xf32>, memref<16x72xf32> -> vector<64x64xf32>
// CHECK-NOT:  arith.mulf
kernel.func @product(%a: memref<64x70xf32>, %b: memref<70x64xf32>, %c: memref<64x64xf32>) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %64 = arith.constant 64 : index
  %70 = arith.constant 70 : index
  %z = arith.constant 0.0 : f32
  %s = vector.broadcast %z : f32 to vector<64x64xf32>
  %t = scf.for %k = %0 to %70 step %1 iter_args(%u = %s) -> (vector<64x64xf32>) {
    %x = kernel.read %a[%k] {strides = array<i64: 70, 0>} : memref<64x70xf32> -> vector<64x1xf32>
    %row = arith.muli %k, %64 : index
    %y = kernel.read %b[%row] {strides = array<i64: 0, 1>} : memref<70x64xf32> -> vector<1x64xf32>
    %xs = vector.broadcast %x : vector<64x1xf32> to vector<64x64xf32>
    %ys = vector.broadcast %y : vector<1x64xf32> to vector<64x64xf32>
    %p = arith.mulf %xs, %ys : vector<64x64xf32>
    %v = arith.addf %u, %p : vector<64x64xf32>
    scf.yield %v : vector<64x64xf32>
  }
  kernel.write %t, %c[%0] {strides = array<i64: 64, 1>} : vector<64x64xf32>, memref<64x64xf32>
  kernel.return
}

// -----

// Operands of halves keep the axis contiguous that memory has so; a schedule gives the warps and the steps.
// CHECK-LABEL: kernel.func @halves
// CHECK-DAG:  kernel.local {layout = #kernel.layout<"offset[1][2][4][8][16][32][72][144][256][512][1024] of 2048">} : memref<64x32xf16>
// CHECK-DAG:  kernel.local {layout = #kernel.layout<"offset[1][2][4][8][16][32][72][144][288][512][1024] of 2048">} : memref<32x64xf16>
// CHECK:      kernel.write {{.*}}strides = array<i64: 1, 32, 0>} : vector<32x64x1xf16>, memref<64x32xf16>
// CHECK:      kernel.write {{.*}}strides = array<i64: 64, 0, 1>} : vector<32x1x64xf16>, memref<32x64xf16>
// CHECK:      kernel.mma {{.*}}{steps = 32 : i64, strides = array<i64: 1, 32, 64, 1>}
kernel.func @halves(%a: memref<64x96xf16>, %b: memref<96x64xf16>, %c: memref<64x64xf32>) attributes {schedule = #poly.schedule<"x: S0 | m/64p n/64vp | k/32 | warps=4x2 mma=m16n8k16">} {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %64 = arith.constant 64 : index
  %96 = arith.constant 96 : index
  %z = arith.constant 0.0 : f32
  %s = vector.broadcast %z : f32 to vector<64x64xf32>
  %t = scf.for %k = %0 to %96 step %1 iter_args(%u = %s) -> (vector<64x64xf32>) {
    %x = kernel.read %a[%k] {strides = array<i64: 96, 0>} : memref<64x96xf16> -> vector<64x1xf16>
    %row = arith.muli %k, %64 : index
    %y = kernel.read %b[%row] {strides = array<i64: 0, 1>} : memref<96x64xf16> -> vector<1x64xf16>
    %xw = arith.extf %x : vector<64x1xf16> to vector<64x1xf32>
    %yw = arith.extf %y : vector<1x64xf16> to vector<1x64xf32>
    %xs = vector.broadcast %xw : vector<64x1xf32> to vector<64x64xf32>
    %ys = vector.broadcast %yw : vector<1x64xf32> to vector<64x64xf32>
    %p = arith.mulf %xs, %ys : vector<64x64xf32>
    %v = arith.addf %u, %p : vector<64x64xf32>
    scf.yield %v : vector<64x64xf32>
  } {kernel.loop = #kernel.loop<staged = 32>}
  kernel.write %t, %c[%0] {strides = array<i64: 64, 1>} : vector<64x64xf32>, memref<64x64xf32>
  kernel.return
}
