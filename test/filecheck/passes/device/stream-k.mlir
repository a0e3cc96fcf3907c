// RUN: mlc-opt %s --for-target cuda:sm_80 -p stream-k,set-launch-geometry --split-input-file | filecheck %s

// 5 shares of 15 tiles of 8 steps: 10 whole tiles, and 5 shares of the others.
// CHECK-LABEL: kernel.func @tiles
// CHECK-SAME: (%[[A:.*]]: memref<240x64xf32>, %[[C:.*]]: memref<240xf32>, %[[PARTS:.*]]: memref<10x16xf32>, %[[SEMAPHORES:.*]]: memref<10xi32>)
// CHECK-SAME: semaphores = 1>, launch = {{.*}}grid = 15
// CHECK:      "scf.parallel"
// CHECK:      scf.for
// CHECK:      %row = arith.muli
// CHECK-NEXT: %[[LOW:.*]] = arith.muli
// CHECK-NEXT: %[[END:.*]] = arith.muli
// CHECK-NEXT: %[[HIGH:.*]] = arith.minsi
// CHECK-NEXT: %[[SUM:.*]] = scf.for %{{.*}} = %[[LOW]] to %[[HIGH]] step %{{.*}} iter_args(%{{.*}} = %[[ZERO:.*]]) -> (vector<16xf32>)
// CHECK:      %[[ENDS:.*]] = arith.cmpi eq, %[[FINAL:.*]], %[[ITEM:.*]] : index
// CHECK:      %[[KEPT:.*]] = kernel.others_arrived %[[SEMAPHORES]][%[[TILE:.*]]] of %[[BLOCKS:.*]] when %[[ENDS]] : memref<10xi32>
// CHECK-NEXT: %[[TRUE:.*]] = arith.constant true
// CHECK-NEXT: %[[STORED:.*]] = arith.xori %[[KEPT]], %[[TRUE]] : i1
// CHECK-NEXT: scf.if %[[STORED]] {
// CHECK:        kernel.write %[[SUM]], %[[PARTS]][%{{.*}}] {strides = array<i64: 1>}
// CHECK:      %[[LAST:.*]] = kernel.arrive %[[SEMAPHORES]][%[[TILE]]] of %[[BLOCKS]] : memref<10xi32>
// CHECK-NEXT: scf.if %[[LAST]] {
// CHECK:        %[[TOTAL:.*]] = scf.for %[[N:.*]] = %{{.*}} to %[[BLOCKS]] step %{{.*}} iter_args(%[[BEFORE:.*]] = %[[SUM]])
// CHECK-NEXT:     %[[NONE:.*]] = arith.constant 0 : index
// CHECK-NEXT:     %[[FIRST:.*]] = arith.cmpi eq, %[[N]], %[[NONE]] : index
// CHECK:          %[[PART:.*]] = kernel.read %[[PARTS]]
// CHECK-NEXT:     %[[START:.*]] = arith.select %[[FIRST]], %[[ZERO]], %[[BEFORE]]
// CHECK-NEXT:     %[[NEXT:.*]] = arith.addf %[[START]], %[[PART]]
// CHECK-NEXT:     scf.yield %[[NEXT]]
// CHECK:        kernel.write %[[TOTAL]], %[[C]]
kernel.func @tiles(%a: memref<240x64xf32>, %c: memref<240xf32>) attributes {schedule = #poly.schedule<"contraction: S0 | m/16 | k/8 | streamk=5">, launch = #kernel.launch<computing = 128>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c15 = arith.constant 15 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %cst = arith.constant 0.0 : f32
  %zero = vector.broadcast %cst : f32 to vector<16xf32>
  "scf.parallel"(%c0, %c15, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    %row = arith.muli %i, %c16 : index
    %sum = scf.for %k = %c0 to %c64 step %c8 iter_args(%acc = %zero) -> (vector<16xf32>) {
      %first = arith.muli %row, %c64 : index
      %at = arith.addi %first, %k : index
      %x = kernel.read %a[%at] {strides = array<i64: 64>} : memref<240x64xf32> -> vector<16xf32>
      %new = arith.addf %acc, %x : vector<16xf32>
      scf.yield %new : vector<16xf32>
    }
    kernel.write %sum, %c[%row] {strides = array<i64: 1>} : vector<16xf32>, memref<240xf32>
    scf.reduce
  }) : (index, index, index) -> ()
  kernel.return
}

// -----

// The sum begins with the elements of %c: it has no shares.
// CHECK-LABEL: kernel.func @begins
// CHECK-NOT:  kernel.arrive
kernel.func @begins(%a: memref<240x64xf32>, %c: memref<240xf32>) attributes {schedule = #poly.schedule<"contraction: S0 | m/16 | k/8 | streamk=5">, launch = #kernel.launch<computing = 128>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c15 = arith.constant 15 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  "scf.parallel"(%c0, %c15, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    %row = arith.muli %i, %c16 : index
    %start = kernel.read %c[%row] {strides = array<i64: 1>} : memref<240xf32> -> vector<16xf32>
    %sum = scf.for %k = %c0 to %c64 step %c8 iter_args(%acc = %start) -> (vector<16xf32>) {
      %first = arith.muli %row, %c64 : index
      %at = arith.addi %first, %k : index
      %x = kernel.read %a[%at] {strides = array<i64: 64>} : memref<240x64xf32> -> vector<16xf32>
      %new = arith.addf %acc, %x : vector<16xf32>
      scf.yield %new : vector<16xf32>
    }
    kernel.write %sum, %c[%row] {strides = array<i64: 1>} : vector<16xf32>, memref<240xf32>
    scf.reduce
  }) : (index, index, index) -> ()
  kernel.return
}
