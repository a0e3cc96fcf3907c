// RUN: mlc-opt %s --for-target cuda -p stage-operands --split-input-file | filecheck %s

// 16 steps at a time; 6 steps are left. Rows begin in other banks.
// CHECK-LABEL: kernel.func @product
// CHECK:      %[[B:.*]] = kernel.local : memref<16x72xf32>
// CHECK:      %[[A:.*]] = kernel.local : memref<16x68xf32>
// CHECK:      scf.for {{.*}} to %{{.*}} step %{{.*}} iter_args
// CHECK:      %[[X:.*]] = kernel.read %a[{{.*}}strides = array<i64: 1, 70, 0>} : memref<64x70xf32> -> vector<16x64x1xf32>
// CHECK:      %[[Y:.*]] = kernel.read %b[{{.*}}strides = array<i64: 64, 0, 1>} : memref<70x64xf32> -> vector<16x1x64xf32>
// CHECK:      kernel.write %[[X]], %[[A]]
// CHECK:      kernel.write %[[Y]], %[[B]]
// CHECK:      scf.for
// CHECK:      kernel.read %[[A]]{{.*}}strides = array<i64: 1, 0>} : memref<16x68xf32> -> vector<64x1xf32>
// CHECK:      kernel.read %[[B]]{{.*}}strides = array<i64: 0, 1>} : memref<16x72xf32> -> vector<1x64xf32>
// CHECK:      kernel.loop<unroll>
// CHECK:      scf.for
// CHECK:      kernel.read %a[{{.*}}vector<64x1xf32>
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

// Elements that are read once stay where they are.
// CHECK-LABEL: kernel.func @window
// CHECK-NOT:  kernel.local
// CHECK:      kernel.return
kernel.func @window(%a: memref<64x70xf32>, %c: memref<64xf32>) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %70 = arith.constant 70 : index
  %z = arith.constant 0.0 : f32
  %s = vector.broadcast %z : f32 to vector<64xf32>
  %t = scf.for %k = %0 to %70 step %1 iter_args(%u = %s) -> (vector<64xf32>) {
    %x = kernel.read %a[%k] {strides = array<i64: 70>} : memref<64x70xf32> -> vector<64xf32>
    %v = arith.addf %u, %x : vector<64xf32>
    scf.yield %v : vector<64xf32>
  }
  kernel.write %t, %c[%0] {strides = array<i64: 1>} : vector<64xf32>, memref<64xf32>
  kernel.return
}

// -----

// The sum of a padded block of a stream has its last steps in a group, too: operands are 0 beyond its end.
// CHECK-LABEL: kernel.func @padded
// CHECK:      %[[END:.*]] = arith.minsi %{{.*}}, %left : index
// CHECK:      scf.for {{.*}}iter_args
// CHECK:      %[[HAS:.*]] = arith.subi %[[END]], %{{.*}} : index
// CHECK:      kernel.read %a[{{.*}}] valid(%[[HAS]]) {{{.*}}valid_axes = array<i64: 0>} : {{.*}} -> vector<16x64x1xf32>
// CHECK:      kernel.read %b[{{.*}}] valid(%[[HAS]]) {{{.*}}valid_axes = array<i64: 0>} : {{.*}} -> vector<16x1x64xf32>
// CHECK:      kernel.loop<unroll>
// CHECK-NOT:  scf.for
kernel.func @padded(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %c: memref<64x64xf32>) attributes {schedule = #poly.schedule<"contraction: S0 | m@1t k@64ps m/64 n/64v | k">} {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %64 = arith.constant 64 : index
  %left = kernel.symbol "left"
  %z = arith.constant 0.0 : f32
  %s = vector.broadcast %z : f32 to vector<64x64xf32>
  %end = arith.minsi %64, %left : index
  %t = scf.for %k = %0 to %end step %1 iter_args(%u = %s) -> (vector<64x64xf32>) {
    %x = kernel.read %a[%k] {strides = array<i64: 64, 0>} : memref<64x64xf32> -> vector<64x1xf32>
    %row = arith.muli %k, %64 : index
    %y = kernel.read %b[%row] {strides = array<i64: 0, 1>} : memref<64x64xf32> -> vector<1x64xf32>
    %xs = vector.broadcast %x : vector<64x1xf32> to vector<64x64xf32>
    %ys = vector.broadcast %y : vector<1x64xf32> to vector<64x64xf32>
    %p = arith.mulf %xs, %ys : vector<64x64xf32>
    %v = arith.addf %u, %p : vector<64x64xf32>
    scf.yield %v : vector<64x64xf32>
  }
  kernel.write %t, %c[%0] {strides = array<i64: 64, 1>} : vector<64x64xf32>, memref<64x64xf32>
  kernel.return
}
