// RUN: mlc-opt %s --for-target cuda -p stage-operands,pipeline-copies,distribute-values,insert-block-barriers --split-input-file | filecheck %s

// 64 steps are 4 groups, and 4 buffers fit. Elements of A are copied one by one: they are neighbours along k there, and
// along m in shared memory. One barrier an iteration is between the wait and the next copies.
// CHECK-LABEL: kernel.func @product
// CHECK:      kernel.local : memref<4x16x72xf32>
// CHECK:      kernel.local : memref<4x16x36xf32>
// CHECK:      kernel.barrier
// CHECK-NEXT: kernel.async_copy %a[{{.*}}when({{.*}}shape = array<i64: 16, 32, 1>{{.*}}width = 1 : i64{{.*}}
// CHECK:      kernel.async_copy %b[{{.*}}distribution = #kernel.layout<"register lane[0, 0, 1][0, 0, 2][0, 0, 4][0, 0, 8][1, 0, 0] warp[2, 0, 0][4, 0, 0][8, 0, 0] of 16x1x16">{{.*}}shape = array<i64: 16, 1, 64>{{.*}}width = 4 : i64
// CHECK-NEXT: kernel.async_group
// CHECK:      kernel.async_group
// CHECK:      kernel.async_group
// CHECK-NOT:  kernel.async_group
// CHECK:      scf.for {{.*}} iter_args(%{{.*}}, %[[SLOT:.*]] = %{{.*}}) -> (vector<32x64xf32>, i32)
// CHECK-NEXT: kernel.async_wait {groups = 2 : i64}
// CHECK:      kernel.barrier
// CHECK-NEXT: kernel.async_copy
// CHECK:      kernel.async_copy
// CHECK-NEXT: kernel.async_group
// CHECK-NEXT: %[[A:.*]] = kernel.subview %{{.*}}[%[[SLOT]]] : memref<4x16x36xf32> -> memref<16x36xf32>
// CHECK-NEXT: %[[B:.*]] = kernel.subview %{{.*}}[%[[SLOT]]] : memref<4x16x72xf32> -> memref<16x72xf32>
// CHECK-NOT:  kernel.barrier
// CHECK:      kernel.read %[[A]]
// CHECK:      kernel.read %[[B]]
// CHECK:      kernel.loop<unroll>
// CHECK:      scf.yield %{{.*}}, %{{.*}} : vector<32x64xf32>, i32
// CHECK:      kernel.async_wait {groups = 0 : i64}
// CHECK-NEXT: kernel.write
kernel.func @product(%a: memref<32x64xf32>, %b: memref<64x64xf32>, %c: memref<32x64xf32>) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %64 = arith.constant 64 : index
  %z = arith.constant 0.0 : f32
  %s = vector.broadcast %z : f32 to vector<32x64xf32>
  "scf.parallel"(%0, %1, %1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    %t = scf.for %k = %0 to %64 step %1 iter_args(%u = %s) -> (vector<32x64xf32>) {
      %x = kernel.read %a[%k] {strides = array<i64: 64, 0>} : memref<32x64xf32> -> vector<32x1xf32>
      %row = arith.muli %k, %64 : index
      %y = kernel.read %b[%row] {strides = array<i64: 0, 1>} : memref<64x64xf32> -> vector<1x64xf32>
      %xs = vector.broadcast %x : vector<32x1xf32> to vector<32x64xf32>
      %ys = vector.broadcast %y : vector<1x64xf32> to vector<32x64xf32>
      %p = arith.mulf %xs, %ys : vector<32x64xf32>
      %v = arith.addf %u, %p : vector<32x64xf32>
      scf.yield %v : vector<32x64xf32>
    }
    kernel.write %t, %c[%0] {strides = array<i64: 64, 1>} : vector<32x64xf32>, memref<32x64xf32>
    scf.reduce
  }) : (index, index, index) -> ()
  kernel.return
}

// -----

// A copy that no iteration before can start stays as it is: a cast is between, the source is written, its offset is
// carried from one iteration to the next, the array is read after the loop, or 2 bytes are no chunk.
// CHECK-LABEL: kernel.func @stay
// CHECK-NOT:  kernel.async
// CHECK:      kernel.return
kernel.func @stay(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %h: memref<64x64xf16>, %c: memref<64xf32>) {
  %0 = arith.constant 0 : index
  %8 = arith.constant 8 : index
  %64 = arith.constant 64 : index
  %s = kernel.local : memref<64xf16>
  %t = kernel.local : memref<64xf32>
  %r = kernel.local : memref<64xf32>
  %q = kernel.local : memref<64xf32>
  %w = kernel.local : memref<64xf16>
  %last = scf.for %k = %0 to %64 step %8 iter_args(%carried = %0) -> (index) {
    %x = kernel.read %a[%k] {strides = array<i64: 1>} : memref<64x64xf32> -> vector<64xf32>
    %y = arith.truncf %x : vector<64xf32> to vector<64xf16>
    kernel.write %y, %s[%0] {strides = array<i64: 1>} : vector<64xf16>, memref<64xf16>
    %yb = kernel.read %b[%k] {strides = array<i64: 1>} : memref<64x64xf32> -> vector<64xf32>
    kernel.write %yb, %t[%0] {strides = array<i64: 1>} : vector<64xf32>, memref<64xf32>
    %rb = kernel.read %a[%carried] {strides = array<i64: 1>} : memref<64x64xf32> -> vector<64xf32>
    kernel.write %rb, %r[%0] {strides = array<i64: 1>} : vector<64xf32>, memref<64xf32>
    %qb = kernel.read %a[%k] {strides = array<i64: 1>} : memref<64x64xf32> -> vector<64xf32>
    kernel.write %qb, %q[%0] {strides = array<i64: 1>} : vector<64xf32>, memref<64xf32>
    %wb = kernel.read %h[%k] {strides = array<i64: 64>} : memref<64x64xf16> -> vector<64xf16>
    kernel.write %wb, %w[%0] {strides = array<i64: 1>} : vector<64xf16>, memref<64xf16>
    %u = kernel.read %s[%0] {strides = array<i64: -1>} : memref<64xf16> -> vector<64xf16>
    kernel.write %u, %w[%0] {strides = array<i64: 1>} : vector<64xf16>, memref<64xf16>
    %next = arith.addi %carried, %8 : index
    scf.yield %next : index
  }
  %v = kernel.read %q[%0] {strides = array<i64: 1>} : memref<64xf32> -> vector<64xf32>
  kernel.write %v, %b[%0] {strides = array<i64: 1>} : vector<64xf32>, memref<64x64xf32>
  kernel.return
}

// -----

// Bytes and halves are copied in chunks of 4 bytes or more; a limit along the chunks counts elements.
// CHECK-LABEL: kernel.func @narrow
// CHECK:      kernel.async_copy %h{{.*}}valid({{.*}} of 8x8"{{.*}}width = 8 : i64, valid_axes = array<i64: 1>
// CHECK:      kernel.async_copy %q{{.*}}width = 4 : i64
kernel.func @narrow(%h: memref<64x64xf16>, %q: memref<64x4xi8>, %c: memref<64xf16>) {
  %0 = arith.constant 0 : index
  %8 = arith.constant 8 : index
  %64 = arith.constant 64 : index
  %4 = arith.constant 4 : index
  %s = kernel.local : memref<8x64xf16>
  %t = kernel.local : memref<64xi8>
  scf.for %k = %0 to %64 step %8 {
    %row = arith.muli %k, %64 : index
    %x = kernel.read %h[%row] valid(%4) {strides = array<i64: 64, 1>, valid_axes = array<i64: 1>} : memref<64x64xf16> -> vector<8x64xf16>
    kernel.write %x, %s[%0] {strides = array<i64: 64, 1>} : vector<8x64xf16>, memref<8x64xf16>
    %part = arith.muli %k, %4 : index
    %y = kernel.read %q[%part] {strides = array<i64: 4, 1>} : memref<64x4xi8> -> vector<8x4xi8>
    kernel.write %y, %t[%0] {strides = array<i64: 4, 1>} : vector<8x4xi8>, memref<64xi8>
    %z = kernel.read %s[%0] {strides = array<i64: 1>} : memref<8x64xf16> -> vector<64xf16>
    kernel.write %z, %c[%0] {strides = array<i64: 1>} : vector<64xf16>, memref<64xf16>
  }
  kernel.return
}

// -----

// Elements at computed offsets: those of the iteration that starts are computed again.
// CHECK-LABEL: kernel.func @gathered
// CHECK:      %[[LOOP:.*]] = scf.for
// CHECK:      kernel.async_wait
// CHECK:      %[[NEXT:.*]] = arith.addi {{.*}} : vector<8x32xi32>
// CHECK:      kernel.async_gather %a[%[[NEXT]]] to {{.*}} when({{.*}}target_strides = array<i64: 32, 1>
// CHECK:      kernel.async_group
// CHECK-NOT:  kernel.gather
// CHECK:      kernel.return
kernel.func @gathered(%a: memref<4096xf32>, %c: memref<256xf32>, %m: memref<8x32xi32>) {
  %0 = arith.constant 0 : index
  %8 = arith.constant 8 : index
  %64 = arith.constant 64 : index
  %map = kernel.read %m[%0] {strides = array<i64: 32, 1>} : memref<8x32xi32> -> vector<8x32xi32>
  %s = kernel.local : memref<8x32xf32>
  scf.for %k = %0 to %64 step %8 {
    %n = arith.index_cast %k : index to i32
    %all = vector.broadcast %n : i32 to vector<8x32xi32>
    %offsets = arith.addi %all, %map : vector<8x32xi32>
    %x = kernel.gather %a[%offsets] : memref<4096xf32>, vector<8x32xi32> -> vector<8x32xf32>
    kernel.write %x, %s[%0] {strides = array<i64: 32, 1>} : vector<8x32xf32>, memref<8x32xf32>
    %z = kernel.read %s[%8] {strides = array<i64: 1>} : memref<8x32xf32> -> vector<64xf32>
    kernel.write %z, %c[%k] {strides = array<i64: 1>} : vector<64xf32>, memref<256xf32>
  }
  kernel.return
}
