// RUN: mlc-opt %s --for-target cuda -p stage-operands,use-tensor-cores,distribute-values,insert-block-barriers --split-input-file | filecheck %s

// The steps of a group are one product of fragments; the 6 steps that are left stay as they are, in the same distribution.
// CHECK-LABEL: kernel.func @product
// CHECK:      vector.broadcast {{.*}}lane[0, 2][0, 4][1, 0][2, 0][4, 0] warp
// CHECK:      kernel.write
// CHECK:      kernel.barrier
// CHECK-NEXT: kernel.mma {{.*}}{steps = 16 : i64, rows = array<i64: 72, 72>} : vector<64x64xf32>, memref<16x72xf32>, memref<16x72xf32> -> vector<64x64xf32>
// CHECK:      scf.for
// CHECK:      arith.mulf
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
