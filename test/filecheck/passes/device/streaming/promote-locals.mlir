// RUN: mlc-opt %s --for-target cuda -p promote-locals --split-input-file | filecheck %s

// The running maximum is carried by the loop, the scores are a value, and a vector of rows keeps the reduced axis.
// CHECK: kernel.func @k
// CHECK-NOT: kernel.local
// CHECK: %[[first:.*]] = vector.broadcast %{{.*}} : f32 to vector<64x1xf32>
// CHECK: %[[all:.*]] = scf.for %{{.*}} iter_args(%[[old:.*]] = %[[first]]) -> (vector<64x1xf32>) {
// CHECK: %[[s:.*]] = kernel.read %x[
// CHECK-NEXT: %[[m:.*]] = kernel.multi_reduction %[[s]] {kind = #vector.kind<maximumf>} : vector<64x32xf32> -> vector<64x1xf32>
// CHECK-NEXT: %[[new:.*]] = arith.maximumf %[[m]], %[[old]] : vector<64x1xf32>
// CHECK-NEXT: scf.yield %[[new]] : vector<64x1xf32>
// CHECK: kernel.write %[[all]], %y[%{{.*}}] {strides = array<i64: 1, 0>} : vector<64x1xf32>, memref<64xf32>
kernel.func @k(%x: memref<64x128xf32>, %y: memref<64xf32>) attributes {schedule = #poly.schedule<"rows: S0 | i@1t j@4s i/64v | j/32v | warps=4x1 mma=m16n8k16">} {
  %t = kernel.local : memref<64x32xf32>
  %m = kernel.local : memref<64xf32>
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %4 = arith.constant 4 : index
  %32 = arith.constant 32 : index
  %lowest = arith.constant 0xff800000 : f32
  %first = vector.broadcast %lowest : f32 to vector<64xf32>
  kernel.write %first, %m[%0] {strides = array<i64: 1>} : vector<64xf32>, memref<64xf32>
  scf.for %j = %0 to %4 step %1 {
    %at = arith.muli %j, %32 : index
    %s = kernel.read %x[%at] {strides = array<i64: 128, 1>} : memref<64x128xf32> -> vector<64x32xf32>
    kernel.write %s, %t[%0] {strides = array<i64: 32, 1>} : vector<64x32xf32>, memref<64x32xf32>
    %r = kernel.read %t[%0] {strides = array<i64: 32, 1>} : memref<64x32xf32> -> vector<64x32xf32>
    %v = kernel.multi_reduction %r {kind = #vector.kind<maximumf>} : vector<64x32xf32> -> vector<64xf32>
    %old = kernel.read %m[%0] {strides = array<i64: 1>} : memref<64xf32> -> vector<64xf32>
    %new = arith.maximumf %v, %old : vector<64xf32>
    kernel.write %new, %m[%0] {strides = array<i64: 1>} : vector<64xf32>, memref<64xf32>
  }
  %all = kernel.read %m[%0] {strides = array<i64: 1>} : memref<64xf32> -> vector<64xf32>
  kernel.write %all, %y[%0] {strides = array<i64: 1>} : vector<64xf32>, memref<64xf32>
  kernel.return
}

// -----

// A matrix that is stored by columns alone is a value. So is one of which a smaller last block, that not all rows have,
// stores a part: no loop carries it.
// CHECK-LABEL: kernel.func @columns
// CHECK-NOT: kernel.local
// CHECK: %[[s:.*]] = kernel.read %x[%{{.*}}] {strides = array<i64: 128, 1>}
// CHECK-NEXT: kernel.write %[[s]], %y[
// CHECK: scf.for {{.*}} {
// CHECK-NEXT: %[[t:.*]] = kernel.read %x[%{{.*}}] {strides = array<i64: 128, 1>} : memref<64x128xf32> -> vector<64x16xf32>
// CHECK-NEXT: kernel.write %[[t]], %y[
kernel.func @columns(%x: memref<64x128xf32>, %y: memref<64x128xf32>, %last: index) attributes {schedule = #poly.schedule<"rows: S0 | i@1t j@4s i/64v | j/32v | warps=4x1 mma=m16n8k16">} {
  %t = kernel.local : memref<32x64xf32>
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %32 = arith.constant 32 : index
  %s = kernel.read %x[%0] {strides = array<i64: 128, 1>} : memref<64x128xf32> -> vector<64x32xf32>
  kernel.write %s, %t[%0] {strides = array<i64: 1, 64>} : vector<64x32xf32>, memref<32x64xf32>
  %r = kernel.read %t[%0] {strides = array<i64: 1, 64>} : memref<32x64xf32> -> vector<64x32xf32>
  kernel.write %r, %y[%0] {strides = array<i64: 128, 1>} : vector<64x32xf32>, memref<64x128xf32>
  scf.for %j = %0 to %last step %1 {
    %u = kernel.read %x[%32] {strides = array<i64: 128, 1>} : memref<64x128xf32> -> vector<64x16xf32>
    kernel.write %u, %t[%0] {strides = array<i64: 1, 64>} : vector<64x16xf32>, memref<32x64xf32>
    %v = kernel.read %t[%0] {strides = array<i64: 1, 64>} : memref<32x64xf32> -> vector<64x16xf32>
    kernel.write %v, %y[%32] {strides = array<i64: 128, 1>} : vector<64x16xf32>, memref<64x128xf32>
  }
  kernel.return
}

// -----

// One that is stored by rows and read by columns stays.
// CHECK-LABEL: kernel.func @transposed
// CHECK: kernel.local
kernel.func @transposed(%x: memref<64x128xf32>, %y: memref<64x64xf32>) attributes {schedule = #poly.schedule<"rows: S0 | i@1t j@4s i/64v | j/32v | warps=4x1 mma=m16n8k16">} {
  %t = kernel.local : memref<64x64xf32>
  %0 = arith.constant 0 : index
  %s = kernel.read %x[%0] {strides = array<i64: 128, 1>} : memref<64x128xf32> -> vector<64x64xf32>
  kernel.write %s, %t[%0] {strides = array<i64: 64, 1>} : vector<64x64xf32>, memref<64x64xf32>
  %r = kernel.read %t[%0] {strides = array<i64: 1, 64>} : memref<64x64xf32> -> vector<64x64xf32>
  kernel.write %r, %y[%0] {strides = array<i64: 64, 1>} : vector<64x64xf32>, memref<64x64xf32>
  kernel.return
}
