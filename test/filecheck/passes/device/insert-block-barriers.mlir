// RUN: mlc-opt %s --for-target cuda -p distribute-values,insert-block-barriers --split-input-file | filecheck %s

// Threads read elements that others wrote, and in the next iteration write what others have read.
// CHECK-LABEL: kernel.func @exchange
// CHECK:      scf.for
// CHECK:      kernel.barrier
// CHECK-NEXT: kernel.write
// CHECK-NEXT: kernel.barrier
// CHECK-NEXT: kernel.read
// CHECK-NOT:  kernel.barrier
// CHECK:      kernel.return
kernel.func @exchange(%a: memref<64xf32>, %c: memref<64xf32>) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %9 = arith.constant 9 : index
  %63 = arith.constant 63 : index
  %t = kernel.local : memref<64xf32>
  scf.for %i = %0 to %9 step %1 {
    %2 = kernel.read %a[%i] {strides = array<i64: 1>} : memref<64xf32> -> vector<64xf32>
    kernel.write %2, %t[%0] {strides = array<i64: 1>} : vector<64xf32>, memref<64xf32>
    %3 = kernel.read %t[%63] {strides = array<i64: -1>} : memref<64xf32> -> vector<64xf32>
    kernel.write %3, %c[%i] {strides = array<i64: 1>} : vector<64xf32>, memref<64xf32>
  }
  kernel.return
}

// -----

// Each thread reads its own elements again: no barrier.
// CHECK-LABEL: kernel.func @own
// CHECK-NOT:  kernel.barrier
// CHECK:      kernel.return
kernel.func @own(%a: memref<64xf32>, %c: memref<64xf32>) {
  %0 = arith.constant 0 : index
  %1 = kernel.read %a[%0] {strides = array<i64: 1>} : memref<64xf32> -> vector<64xf32>
  kernel.write %1, %c[%0] {strides = array<i64: 1>} : vector<64xf32>, memref<64xf32>
  %2 = kernel.read %c[%0] {strides = array<i64: 1>} : memref<64xf32> -> vector<64xf32>
  %3 = arith.addf %1, %2 : vector<64xf32>
  kernel.write %3, %c[%0] {strides = array<i64: 1>} : vector<64xf32>, memref<64xf32>
  kernel.return
}

// -----

// A loop that only reads has its barrier before it.
// CHECK-LABEL: kernel.func @loop
// CHECK:      kernel.write
// CHECK:      kernel.barrier
// CHECK:      scf.for
// CHECK-NOT:  kernel.barrier
// CHECK:      kernel.return
kernel.func @loop(%a: memref<64xf32>, %c: memref<64xf32>) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %64 = arith.constant 64 : index
  %t = kernel.local : memref<64xf32>
  %2 = kernel.read %a[%0] {strides = array<i64: 1>} : memref<64xf32> -> vector<64xf32>
  kernel.write %2, %t[%0] {strides = array<i64: 1>} : vector<64xf32>, memref<64xf32>
  %3 = scf.for %i = %0 to %64 step %1 iter_args(%s = %2) -> (vector<64xf32>) {
    %4 = kernel.read %t[%i] {strides = array<i64>} : memref<64xf32> -> f32
    %5 = vector.broadcast %4 : f32 to vector<64xf32>
    %6 = arith.addf %s, %5 : vector<64xf32>
    scf.yield %6 : vector<64xf32>
  }
  kernel.write %3, %c[%0] {strides = array<i64: 1>} : vector<64xf32>, memref<64xf32>
  kernel.return
}

// -----

// Each result of a reduction is held by several threads, of which one writes it: the others wait for that.
// CHECK-LABEL: kernel.func @copies
// CHECK:      kernel.write
// CHECK-NEXT: kernel.barrier
// CHECK-NEXT: kernel.read
// CHECK:      kernel.return
kernel.func @copies(%a: memref<64x32xf32>, %c: memref<64xf32>) {
  %0 = arith.constant 0 : index
  %t = kernel.local : memref<64xf32>
  %1 = kernel.read %a[%0] {strides = array<i64: 32, 1>} : memref<64x32xf32> -> vector<64x32xf32>
  %2 = kernel.multi_reduction %1 {kind = #vector.kind<add>} : vector<64x32xf32> -> vector<64xf32>
  kernel.write %2, %t[%0] {strides = array<i64: 1>} : vector<64xf32>, memref<64xf32>
  %3 = kernel.read %t[%0] {strides = array<i64: 1>} : memref<64xf32> -> vector<64xf32>
  %4 = arith.addf %2, %3 : vector<64xf32>
  kernel.write %4, %c[%0] {strides = array<i64: 1>} : vector<64xf32>, memref<64xf32>
  kernel.return
}

// -----

// Copies arrive in the wait: a barrier is between it and what reads them, and none before.
// CHECK-LABEL: kernel.func @copies
// CHECK:      kernel.async_copy
// CHECK-NEXT: kernel.async_group
// CHECK-NEXT: kernel.read %c
// CHECK-NEXT: kernel.write
// CHECK-NEXT: kernel.async_wait
// CHECK-NEXT: kernel.barrier
// CHECK-NEXT: kernel.read %t
// CHECK-NEXT: kernel.write
// CHECK-NOT:  kernel.barrier
// CHECK:      kernel.return
kernel.func @copies(%a: memref<64xf32>, %c: memref<64xf32>, %d: memref<64xf32>) {
  %0 = arith.constant 0 : index
  %63 = arith.constant 63 : index
  %t = kernel.local : memref<64xf32>
  kernel.async_copy %a[%0] to %t[%0] {shape = array<i64: 64>, strides = array<i64: 1>, target_strides = array<i64: 1>, width = 4 : i64} : memref<64xf32>, memref<64xf32>
  kernel.async_group
  %1 = kernel.read %c[%0] {strides = array<i64: 1>} : memref<64xf32> -> vector<64xf32>
  kernel.write %1, %c[%0] {strides = array<i64: 1>} : vector<64xf32>, memref<64xf32>
  kernel.async_wait {groups = 0 : i64}
  %2 = kernel.read %t[%63] {strides = array<i64: -1>} : memref<64xf32> -> vector<64xf32>
  kernel.write %2, %d[%0] {strides = array<i64: 1>} : vector<64xf32>, memref<64xf32>
  kernel.return
}

// -----

// One scalar is read by all threads, and overwritten by one: the others have read it.
// CHECK-LABEL: kernel.func @replaced
// CHECK:      kernel.read
// CHECK:      kernel.barrier
// CHECK-NEXT: kernel.write
// CHECK:      kernel.return
kernel.func @replaced(%a: memref<1xf32>, %c: memref<1xf32>) attributes {in_place = [array<i64: 0, 1>]} {
  %0 = arith.constant 0 : index
  %1 = kernel.read %a[%0] {strides = array<i64: 1>} : memref<1xf32> -> vector<1xf32>
  %2 = arith.addf %1, %1 : vector<1xf32>
  kernel.write %2, %c[%0] {strides = array<i64: 1>} : vector<1xf32>, memref<1xf32>
  kernel.return
}

// -----

// Each thread overwrites what it has read, in each iteration other elements: no barrier.
// CHECK-LABEL: kernel.func @replaced_by_their_readers
// CHECK-NOT:  kernel.barrier
// CHECK:      kernel.return
kernel.func @replaced_by_their_readers(%a: memref<640xf32>, %c: memref<640xf32>) attributes {in_place = [array<i64: 0, 1>]} {
  %0 = arith.constant 0 : index
  %64 = arith.constant 64 : index
  %640 = arith.constant 640 : index
  scf.for %i = %0 to %640 step %64 {
    %1 = kernel.read %a[%i] {strides = array<i64: 1>} : memref<640xf32> -> vector<64xf32>
    %2 = arith.addf %1, %1 : vector<64xf32>
    kernel.write %2, %c[%i] {strides = array<i64: 1>} : vector<64xf32>, memref<640xf32>
  }
  kernel.return
}

// -----

// A loop replaces what one before it has written, by other threads: one barrier before it, none in it. A write of an
// output needs none for itself.
// CHECK-LABEL: kernel.func @phases
// CHECK:      scf.parallel
// CHECK-NOT:  kernel.barrier
// CHECK:      kernel.write
// CHECK:      kernel.barrier
// CHECK-NEXT: scf.for
// CHECK-NOT:  kernel.barrier
// CHECK:      kernel.return
kernel.func @phases(%a: memref<9x640xf32>, %c: memref<9x640xf32>) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %9 = arith.constant 9 : index
  %64 = arith.constant 64 : index
  %640 = arith.constant 640 : index
  "scf.parallel"(%0, %9, %1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%p: index):
    %row = arith.muli %p, %640 : index
    scf.for %i = %0 to %640 step %64 {
      %at = arith.addi %row, %i : index
      %2 = kernel.read %a[%at] {strides = array<i64: 1>} : memref<9x640xf32> -> vector<64xf32>
      kernel.write %2, %c[%at] {strides = array<i64: 1>} : vector<64xf32>, memref<9x640xf32>
    }
    scf.for %i = %0 to %640 step %64 {
      %at = arith.addi %row, %i : index
      %2 = kernel.read %c[%at] {strides = array<i64: 1>} : memref<9x640xf32> -> vector<64xf32>
      %3 = arith.addf %2, %2 : vector<64xf32>
      kernel.write %3, %c[%at] {strides = array<i64: 1>} : vector<64xf32>, memref<9x640xf32>
    }
    scf.reduce
  }) : (index, index, index) -> ()
  kernel.return
}
