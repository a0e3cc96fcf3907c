// RUN: mlc-opt %s --for-target cuda:sm_90 -p raster-tiles,set-launch-geometry --split-input-file | filecheck %s

// Groups of 2 of 5 rows of tiles, the last of one row; a block takes the next tile of its own.
// CHECK-LABEL: kernel.func @tiles
// CHECK-SAME: grid = 35
// CHECK:      %[[ROWS:.*]] = arith.constant 5 : index
// CHECK-NEXT: %[[COLUMNS:.*]] = arith.constant 7 : index
// CHECK:      %[[COUNT:.*]] = arith.muli %[[ROWS]], %[[COLUMNS]] : index
// CHECK:      "scf.parallel"(%{{.*}}, %{{.*}}, %{{.*}}, %[[COUNT]], %{{.*}}, %{{.*}}) <{operandSegmentSizes = array<i32: 2, 2, 2, 0>}> ({
// CHECK-NEXT: ^bb0(%{{.*}}: index, %[[T:.*]]: index):
// CHECK-NEXT: %[[MOST:.*]] = arith.constant 2 : index
// CHECK-NEXT: %[[GROUP:.*]] = arith.muli %[[MOST]], %[[COLUMNS]] : index
// CHECK-NEXT: %[[NUMBER:.*]] = arith.floordivsi %[[T]], %[[GROUP]] : index
// CHECK-NEXT: %[[FIRST:.*]] = arith.muli %[[NUMBER]], %[[MOST]] : index
// CHECK-NEXT: %[[LEFT:.*]] = arith.subi %[[ROWS]], %[[FIRST]] : index
// CHECK-NEXT: %[[SIZE:.*]] = arith.minsi %[[MOST]], %[[LEFT]] : index
// CHECK-NEXT: %[[INSIDE:.*]] = arith.remsi %[[T]], %[[GROUP]] : index
// CHECK-NEXT: %[[ROW:.*]] = arith.remsi %[[INSIDE]], %[[SIZE]] : index
// CHECK-NEXT: %{{.*}} = arith.addi %[[FIRST]], %[[ROW]] : index
// CHECK-NEXT: %{{.*}} = arith.floordivsi %[[INSIDE]], %[[SIZE]] : index
kernel.func @tiles(%c: memref<5x7xf32>) attributes {schedule = #poly.schedule<"contraction: S0 | b m n | k | raster=2">, launch = #kernel.launch<computing = 256>} {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %3 = arith.constant 1 : index
  %5 = arith.constant 5 : index
  %7 = arith.constant 7 : index
  %z = arith.constant 0.0 : f32
  "scf.parallel"(%0, %0, %0, %3, %5, %7, %1, %1, %1) <{operandSegmentSizes = array<i32: 3, 3, 3, 0>}> ({
  ^bb0(%b: index, %i: index, %j: index):
    %row = arith.muli %i, %7 : index
    %at = arith.addi %row, %j : index
    kernel.write %z, %c[%at] {strides = array<i64>} : f32, memref<5x7xf32>
    scf.reduce
  }) : (index, index, index, index, index, index, index, index, index) -> ()
  kernel.return
}

// -----

// CHECK-LABEL: kernel.func @persistent
// CHECK-SAME: grid = 264
kernel.func @persistent(%c: memref<4096xf32>) attributes {schedule = #poly.schedule<"contraction: S0 | m | k | persist">, launch = #kernel.launch<computing = 256>} {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %n = arith.constant 4096 : index
  %z = arith.constant 0.0 : f32
  "scf.parallel"(%0, %n, %1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    kernel.write %z, %c[%i] {strides = array<i64>} : f32, memref<4096xf32>
    scf.reduce
  }) : (index, index, index) -> ()
  kernel.return
}

// -----

// Clusters of 2 x 2 blocks, of 3 columns of them: a group has 2 rows of clusters. Block r of a cluster has row r % 2.
// CHECK-LABEL: kernel.func @clusters
// CHECK:      %[[BLOCKS:.*]] = arith.constant 4 : index
// CHECK-NEXT: %[[RANK:.*]] = arith.remsi %[[T:.*]], %[[BLOCKS]] : index
// CHECK-NEXT: %[[CLUSTER:.*]] = arith.floordivsi %[[T]], %[[BLOCKS]] : index
// CHECK:      %[[HIGH:.*]] = arith.floordivsi
// CHECK:      %[[WIDE:.*]] = arith.floordivsi
// CHECK:      %[[GROUP:.*]] = arith.muli %{{.*}}, %[[WIDE]] : index
// CHECK-NEXT: arith.floordivsi %[[CLUSTER]], %[[GROUP]] : index
// CHECK:      %[[DOWN:.*]] = arith.remsi %[[RANK]], %{{.*}} : index
// CHECK:      %[[ACROSS:.*]] = arith.floordivsi %[[RANK]], %{{.*}} : index
// CHECK:      arith.addi %{{.*}}, %[[DOWN]] : index
// CHECK-NEXT: arith.addi %{{.*}}, %[[ACROSS]] : index
kernel.func @clusters(%c: memref<8x6xf32>) attributes {schedule = #poly.schedule<"contraction: S0 | m n | k | raster=4">, launch = #kernel.launch<computing = 256, cluster = [2, 2]>} {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %6 = arith.constant 6 : index
  %8 = arith.constant 8 : index
  %z = arith.constant 0.0 : f32
  "scf.parallel"(%0, %0, %8, %6, %1, %1) <{operandSegmentSizes = array<i32: 2, 2, 2, 0>}> ({
  ^bb0(%i: index, %j: index):
    %row = arith.muli %i, %6 : index
    %at = arith.addi %row, %j : index
    kernel.write %z, %c[%at] {strides = array<i64>} : f32, memref<8x6xf32>
    scf.reduce
  }) : (index, index, index, index, index, index) -> ()
  kernel.return
}
