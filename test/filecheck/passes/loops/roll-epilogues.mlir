// RUN: mlc-opt %s -p 'roll-epilogues' --for-target x86-64-v4 | filecheck %s

// 13 x 2 registers: the seventh row is in both halves.
kernel.func @rolled(%0: memref<13x2x16xi32>, %1: memref<1x2x16xf32>, %2: memref<13x2x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  "scf.parallel"(%c0, %c1, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%3: index):
    %start = vector.broadcast %zero : i32 to vector<13x2x16xi32>
    %sum = scf.for %k = %c0 to %c1 step %c1 iter_args(%s = %start) -> (vector<13x2x16xi32>) {
      %x = kernel.read %0[%k] {strides = array<i64: 32, 16, 1>} : memref<13x2x16xi32> -> vector<13x2x16xi32>
      %t = arith.addi %s, %x : vector<13x2x16xi32>
      scf.yield %t : vector<13x2x16xi32>
    }
    %f = kernel.lanewise "arith.sitofp"(%sum) {of = {}} : (vector<13x2x16xi32>) -> vector<13x2x16xf32>
    %b = kernel.read %1[%c0] {strides = array<i64: 0, 16, 1>} : memref<1x2x16xf32> -> vector<1x2x16xf32>
    %bias = vector.broadcast %b : vector<1x2x16xf32> to vector<13x2x16xf32>
    %y = arith.addf %f, %bias : vector<13x2x16xf32>
    %e = math.exp %y : vector<13x2x16xf32>
    kernel.write %e, %2[%c0] {strides = array<i64: 32, 16, 1>} : vector<13x2x16xf32>, memref<13x2x16xf32>
    scf.reduce
  }) : (index, index, index) -> ()
  kernel.return
}

// CHECK:      kernel.func @rolled(%0: memref<13x2x16xi32>, %1: memref<1x2x16xf32>, %2: memref<13x2x16xf32>) {
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: %c0_i32 = arith.constant 0 : i32
// CHECK-NEXT: %c7 = arith.constant 7 : index
// CHECK-NEXT: %c6 = arith.constant 6 : index
// CHECK-NEXT: %c32 = arith.constant 32 : index
// CHECK-NEXT: %3 = kernel.local : memref<13x2x16xi32>
// CHECK-NEXT: "scf.parallel"(%c0, %c1, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
// CHECK-NEXT: ^bb0(%4: index):
// CHECK-NEXT: %start = vector.broadcast %c0_i32 : i32 to vector<13x2x16xi32>
// CHECK-NEXT: %sum = scf.for %k = %c0 to %c1 step %c1 iter_args(%s = %start) -> (vector<13x2x16xi32>) {
// CHECK-NEXT: %x = kernel.read %0[%k] {strides = array<i64: 32, 16, 1>} : memref<13x2x16xi32> -> vector<13x2x16xi32>
// CHECK-NEXT: %t = arith.addi %s, %x : vector<13x2x16xi32>
// CHECK-NEXT: scf.yield %t : vector<13x2x16xi32>
// CHECK-NEXT: }
// CHECK-NEXT: %b = kernel.read %1[%c0] {strides = array<i64: 0, 16, 1>} : memref<1x2x16xf32> -> vector<1x2x16xf32>
// CHECK-NEXT: kernel.write %sum, %3[%c0] {strides = array<i64: 32, 16, 1>} : vector<13x2x16xi32>, memref<13x2x16xi32>
// CHECK-NEXT: scf.for %5 = %c0 to %c7 step %c6 {
// CHECK-NEXT: %6 = arith.muli %5, %c32 : index
// CHECK-NEXT: %7 = kernel.read %3[%6] {strides = array<i64: 32, 16, 1>} : memref<13x2x16xi32> -> vector<7x2x16xi32>
// CHECK-NEXT: %8 = kernel.lanewise "arith.sitofp"(%7) {of = {}} : (vector<7x2x16xi32>) -> vector<7x2x16xf32>
// CHECK-NEXT: %9 = vector.broadcast %b : vector<1x2x16xf32> to vector<7x2x16xf32>
// CHECK-NEXT: %10 = arith.addf %8, %9 : vector<7x2x16xf32>
// CHECK-NEXT: %11 = math.exp %10 : vector<7x2x16xf32>
// CHECK-NEXT: %12 = arith.muli %5, %c32 : index
// CHECK-NEXT: %13 = arith.addi %c0, %12 : index
// CHECK-NEXT: kernel.write %11, %2[%13] {strides = array<i64: 32, 16, 1>} : vector<7x2x16xf32>, memref<13x2x16xf32>
// CHECK-NEXT: }
// CHECK-NEXT: scf.reduce
// CHECK-NEXT: }) : (index, index, index) -> ()
// CHECK-NEXT: kernel.return

// Short: the operations stay.
kernel.func @short(%0: memref<13x2x16xf32>, %1: memref<13x2x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  "scf.parallel"(%c0, %c1, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%3: index):
    %x = kernel.read %0[%c0] {strides = array<i64: 32, 16, 1>} : memref<13x2x16xf32> -> vector<13x2x16xf32>
    %y = arith.addf %x, %x : vector<13x2x16xf32>
    kernel.write %y, %1[%c0] {strides = array<i64: 32, 16, 1>} : vector<13x2x16xf32>, memref<13x2x16xf32>
    scf.reduce
  }) : (index, index, index) -> ()
  kernel.return
}

// A buffer is read and written, so rows may depend on their order; in the other function a sum of rows needs them all.
kernel.func @updated(%0: memref<13x2x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  "scf.parallel"(%c0, %c1, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%3: index):
    %x = kernel.read %0[%c1] {strides = array<i64: 32, 16, 1>} : memref<13x2x16xf32> -> vector<13x2x16xf32>
    %y = math.exp %x : vector<13x2x16xf32>
    kernel.write %y, %0[%c0] {strides = array<i64: 32, 16, 1>} : vector<13x2x16xf32>, memref<13x2x16xf32>
    scf.reduce
  }) : (index, index, index) -> ()
  kernel.return
}

kernel.func @summed(%0: memref<26x16xf32>, %1: memref<26x16xf32>, %2: memref<26xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  "scf.parallel"(%c0, %c1, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%3: index):
    %x = kernel.read %0[%c0] {strides = array<i64: 16, 1>} : memref<26x16xf32> -> vector<26x16xf32>
    %y = math.exp %x : vector<26x16xf32>
    %s = kernel.multi_reduction %y {kind = #vector.kind<add>} : vector<26x16xf32> -> vector<26xf32>
    kernel.write %s, %2[%c0] {strides = array<i64: 1>} : vector<26xf32>, memref<26xf32>
    kernel.write %y, %1[%c0] {strides = array<i64: 16, 1>} : vector<26x16xf32>, memref<26x16xf32>
    scf.reduce
  }) : (index, index, index) -> ()
  kernel.return
}

// CHECK:     kernel.func @short
// CHECK-NOT: scf.for
