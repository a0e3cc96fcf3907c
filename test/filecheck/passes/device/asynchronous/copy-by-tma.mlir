// RUN: mlc-opt %s --for-target cuda:sm_90 -p copy-by-tma,specialize-warps,distribute-values,insert-block-barriers,set-launch-geometry --split-input-file | filecheck %s

// Of A a box of 64 rows and 64 terms; of B two of 64 columns. The limits of the last tiles and terms are those of the
// tensors. The ring has 3 buffers, as many as the sum has iterations; 4 warps say that they have read one,
// after they have started the product of the next one.
// CHECK-LABEL: kernel.func @product
// CHECK-SAME: computing = 128, launched = 256, grid = 2,
// CHECK:      %[[FULL:.*]] = kernel.local : memref<3xi64>
// CHECK-NEXT: kernel.mbarrier_init %[[FULL]] {count = 1 : i64}
// CHECK-NEXT: %[[EMPTY:.*]] = kernel.local : memref<3xi64>
// CHECK-NEXT: kernel.mbarrier_init %[[EMPTY]] {count = 4 : i64}
// CHECK-NEXT: kernel.barrier
// CHECK-NEXT: kernel.specialize {threads = 128 : i64, registers = array<i64: 40, 216>} producer {
// CHECK:      scf.for {{.*}} iter_args(%[[SLOT:.*]] = %{{.*}}, %[[PARITY:.*]] = %{{.*}}) -> (i32, i32)
// CHECK:      kernel.mbarrier_wait %[[EMPTY]][%[[SLOT]]] parity
// CHECK-NEXT: kernel.mbarrier_expect %[[FULL]][%[[SLOT]]] {bytes = 24576 : i64}
// CHECK:      kernel.bulk_copy %a[{{.*}}] to %{{.*}} barrier %[[FULL]][%[[SLOT]]] {extents = ["160", "100"], strides = array<i64: 320>, box = array<i64: 64, 64>, span = 128 : i64}
// CHECK:      kernel.bulk_copy %b[{{.*}} {extents = ["120", "160"], strides = array<i64: 240>, box = array<i64: 64, 64>, span = 128 : i64}
// CHECK:      kernel.bulk_copy %b
// CHECK:      } consumer {
// CHECK:      scf.for {{.*}} iter_args(%{{.*}}, %[[OWN:.*]] = %{{.*}}, %[[PHASE:.*]] = %{{.*}}, %[[FORMER:.*]] = %{{.*}}) -> (vector<64x128xf32>, i32, i32, i32)
// CHECK-NEXT: kernel.mbarrier_wait %[[FULL]][%[[OWN]]] parity %[[PHASE]]
// CHECK-NOT:  kernel.read
// CHECK:      %[[SUMS:.*]] = kernel.mma {{.*}}in_flight
// CHECK-NEXT: kernel.mma_wait %[[SUMS]] {groups = 1 : i64}
// CHECK:      %[[SOME:.*]] = arith.cmpi sge, %[[FORMER]], %{{.*}} : i32
// CHECK-NEXT: kernel.mbarrier_arrive %[[EMPTY]][%[[FORMER]]] when %[[SOME]]
// CHECK:      scf.yield {{.*}}, %[[OWN]] : vector<64x128xf32>, i32, i32, i32
// CHECK:      kernel.mma_wait %{{.*}} {groups = 0 : i64}
// CHECK:      kernel.mbarrier_arrive %[[EMPTY]][%{{.*}}] : memref<3xi64>
// CHECK:      kernel.write
kernel.func @product(%a: memref<100x160xf16>, %b: memref<160x120xf16>, %c: memref<100x120xf32>) attributes {schedule = #poly.schedule<"contraction: S0 | m/64p n/128vp | k/64 | warps=4 copy=tma">} {
  %s = kernel.local {layout = #kernel.layout<"offset[1][2][4][8][16][32][72][144][288][512][1024][2048] of 4096">} : memref<64x64xf16>
  %t = kernel.local {layout = #kernel.layout<"offset[1][2][4][8][16][32][4096][72][144][288][512][1024][2048] of 8192">} : memref<64x128xf16>
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %2 = arith.constant 2 : index
  %64 = arith.constant 64 : index
  %100 = arith.constant 100 : index
  %120 = arith.constant 120 : index
  %160 = arith.constant 160 : index
  %10240 = arith.constant 10240 : index
  %z = arith.constant 0.0 : f32
  "scf.parallel"(%0, %2, %1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    %m = arith.muli %i, %64 : index
    %rows = arith.subi %100, %m : index
    %acc = vector.broadcast %z : f32 to vector<64x128xf32>
    %d = scf.for %k = %0 to %160 step %64 iter_args(%u = %acc) -> (vector<64x128xf32>) {
      %left = arith.subi %160, %k : index
      %row = arith.muli %i, %10240 : index
      %at = arith.addi %row, %k : index
      %x = kernel.read %a[%at] valid(%left, %rows) {strides = array<i64: 1, 160>, valid_axes = array<i64: 0, 1>} : memref<100x160xf16> -> vector<64x64xf16>
      kernel.write %x, %s[%0] {strides = array<i64: 1, 64>} : vector<64x64xf16>, memref<64x64xf16>
      %from = arith.muli %k, %120 : index
      %y = kernel.read %b[%from] valid(%left, %120) {strides = array<i64: 120, 1>, valid_axes = array<i64: 0, 1>} : memref<160x120xf16> -> vector<64x128xf16>
      kernel.write %y, %t[%0] {strides = array<i64: 128, 1>} : vector<64x128xf16>, memref<64x128xf16>
      %v = kernel.mma %u, %s, %t {steps = 64 : i64, strides = array<i64: 1, 64, 128, 1>, warpgroup = 128 : i64} : vector<64x128xf32>, memref<64x64xf16>, memref<64x128xf16> -> vector<64x128xf32>
      scf.yield %v : vector<64x128xf32>
    }
    %place = arith.muli %m, %120 : index
    kernel.write %d, %c[%place] valid(%rows, %120) {strides = array<i64: 120, 1>, valid_axes = array<i64: 0, 1>} : vector<64x128xf32>, memref<100x120xf32>
    scf.reduce
  }) : (index, index, index) -> ()
  kernel.return
}

// -----

// Two blocks, of neighbouring rows, each copy 32 of 64 terms of B to both; 8 warps say that they have read a buffer.
// CHECK-LABEL: kernel.func @cluster
// CHECK-SAME: grid = 6, {{.*}}cluster = [2, 1]
// CHECK:      %[[RANK:.*]] = kernel.cluster_rank
// CHECK:      %[[ROW:.*]] = arith.shli
// CHECK:      %[[COLUMN:.*]] = arith.shli
// CHECK:      %[[ALL:.*]] = arith.ori %[[ROW]], %[[COLUMN]] : index
// CHECK:      kernel.mbarrier_init %{{.*}} {count = 8 : i64}
// CHECK-NEXT: kernel.cluster_barrier
// CHECK:      kernel.mbarrier_expect %{{.*}} {bytes = 24576 : i64}
// CHECK:      kernel.bulk_copy %a[{{.*}}box = array<i64: 64, 64>, span = 128 : i64} :
// CHECK:      arith.muli %[[RANK]]
// CHECK:      kernel.bulk_copy %b[{{.*}} multicast %[[COLUMN]] {extents = ["384", "160"]{{.*}}box = array<i64: 64, 32>, span = 128 : i64}
// CHECK:      } consumer {
// CHECK:      kernel.mbarrier_arrive %{{.*}} multicast %[[ALL]]
// CHECK:      kernel.cluster_barrier
kernel.func @cluster(%a: memref<100x160xf16>, %b: memref<160x384xf16>, %c: memref<100x384xf32>) attributes {schedule = #poly.schedule<"contraction: S0 | m/64p n/128vp | k/64 | warps=4 copy=tma cluster=2x1">} {
  %s = kernel.local {layout = #kernel.layout<"offset[1][2][4][8][16][32][72][144][288][512][1024][2048] of 4096">} : memref<64x64xf16>
  %t = kernel.local {layout = #kernel.layout<"offset[1][2][4][8][16][32][4096][72][144][288][512][1024][2048] of 8192">} : memref<64x128xf16>
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %2 = arith.constant 2 : index
  %3 = arith.constant 3 : index
  %128 = arith.constant 128 : index
  %384 = arith.constant 384 : index
  %64 = arith.constant 64 : index
  %100 = arith.constant 100 : index
  %160 = arith.constant 160 : index
  %10240 = arith.constant 10240 : index
  %z = arith.constant 0.0 : f32
  "scf.parallel"(%0, %0, %2, %3, %1, %1) <{operandSegmentSizes = array<i32: 2, 2, 2, 0>}> ({
  ^bb0(%i: index, %j: index):
    %m = arith.muli %i, %64 : index
    %rows = arith.subi %100, %m : index
    %acc = vector.broadcast %z : f32 to vector<64x128xf32>
    %d = scf.for %k = %0 to %160 step %64 iter_args(%u = %acc) -> (vector<64x128xf32>) {
      %left = arith.subi %160, %k : index
      %row = arith.muli %i, %10240 : index
      %at = arith.addi %row, %k : index
      %x = kernel.read %a[%at] valid(%left, %rows) {strides = array<i64: 1, 160>, valid_axes = array<i64: 0, 1>} : memref<100x160xf16> -> vector<64x64xf16>
      kernel.write %x, %s[%0] {strides = array<i64: 1, 64>} : vector<64x64xf16>, memref<64x64xf16>
      %line = arith.muli %k, %384 : index
      %column = arith.muli %j, %128 : index
      %from = arith.addi %line, %column : index
      %y = kernel.read %b[%from] valid(%left) {strides = array<i64: 384, 1>, valid_axes = array<i64: 0>} : memref<160x384xf16> -> vector<64x128xf16>
      kernel.write %y, %t[%0] {strides = array<i64: 128, 1>} : vector<64x128xf16>, memref<64x128xf16>
      %v = kernel.mma %u, %s, %t {steps = 64 : i64, strides = array<i64: 1, 64, 128, 1>, warpgroup = 128 : i64} : vector<64x128xf32>, memref<64x64xf16>, memref<64x128xf16> -> vector<64x128xf32>
      scf.yield %v : vector<64x128xf32>
    }
    %start = arith.muli %m, %384 : index
    %shift = arith.muli %j, %128 : index
    %place = arith.addi %start, %shift : index
    kernel.write %d, %c[%place] valid(%rows) {strides = array<i64: 384, 1>, valid_axes = array<i64: 0>} : vector<64x128xf32>, memref<100x384xf32>
    scf.reduce
  }) : (index, index, index, index, index, index) -> ()
  kernel.return
}

// -----

// Four blocks: those of a row each copy 32 of 64 rows of A to both, those of a column 32 of 64 terms of B. The warps of
// three blocks say that they have read a buffer: rank r has row r % 2 and column r / 2.
// CHECK-LABEL: kernel.func @square
// CHECK-SAME: grid = 8, {{.*}}cluster = [2, 2]
// CHECK:      %[[RANK:.*]] = kernel.cluster_rank
// CHECK:      %[[DOWN:.*]] = arith.remsi %[[RANK]], %{{.*}}
// CHECK:      %[[ACROSS:.*]] = arith.floordivsi %[[RANK]], %{{.*}}
// CHECK:      %[[ROW:.*]] = arith.shli %{{.*}}, %[[DOWN]] : index
// CHECK:      %[[COLUMN:.*]] = arith.shli
// CHECK:      %[[ALL:.*]] = arith.ori %[[ROW]], %[[COLUMN]] : index
// CHECK:      kernel.mbarrier_init %{{.*}} {count = 12 : i64}
// CHECK:      kernel.mbarrier_expect %{{.*}} {bytes = 24576 : i64}
// CHECK:      arith.muli %[[ACROSS]]
// CHECK:      kernel.bulk_copy %a[{{.*}} multicast %[[ROW]] {extents = ["160", "100"]{{.*}}box = array<i64: 64, 32>, span = 128 : i64}
// CHECK:      arith.muli %[[DOWN]]
// CHECK:      kernel.bulk_copy %b[{{.*}} multicast %[[COLUMN]] {extents = ["512", "160"]{{.*}}box = array<i64: 64, 32>, span = 128 : i64}
// CHECK:      kernel.mbarrier_arrive %{{.*}} multicast %[[ALL]]
kernel.func @square(%a: memref<100x160xf16>, %b: memref<160x512xf16>, %c: memref<100x512xf32>) attributes {schedule = #poly.schedule<"contraction: S0 | m/64p n/128vp | k/64 | warps=4 copy=tma cluster=2x2">} {
  %s = kernel.local {layout = #kernel.layout<"offset[1][2][4][8][16][32][72][144][288][512][1024][2048] of 4096">} : memref<64x64xf16>
  %t = kernel.local {layout = #kernel.layout<"offset[1][2][4][8][16][32][4096][72][144][288][512][1024][2048] of 8192">} : memref<64x128xf16>
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %2 = arith.constant 2 : index
  %3 = arith.constant 4 : index
  %128 = arith.constant 128 : index
  %384 = arith.constant 512 : index
  %64 = arith.constant 64 : index
  %100 = arith.constant 100 : index
  %160 = arith.constant 160 : index
  %10240 = arith.constant 10240 : index
  %z = arith.constant 0.0 : f32
  "scf.parallel"(%0, %0, %2, %3, %1, %1) <{operandSegmentSizes = array<i32: 2, 2, 2, 0>}> ({
  ^bb0(%i: index, %j: index):
    %m = arith.muli %i, %64 : index
    %rows = arith.subi %100, %m : index
    %acc = vector.broadcast %z : f32 to vector<64x128xf32>
    %d = scf.for %k = %0 to %160 step %64 iter_args(%u = %acc) -> (vector<64x128xf32>) {
      %left = arith.subi %160, %k : index
      %row = arith.muli %i, %10240 : index
      %at = arith.addi %row, %k : index
      %x = kernel.read %a[%at] valid(%left, %rows) {strides = array<i64: 1, 160>, valid_axes = array<i64: 0, 1>} : memref<100x160xf16> -> vector<64x64xf16>
      kernel.write %x, %s[%0] {strides = array<i64: 1, 64>} : vector<64x64xf16>, memref<64x64xf16>
      %line = arith.muli %k, %384 : index
      %column = arith.muli %j, %128 : index
      %from = arith.addi %line, %column : index
      %y = kernel.read %b[%from] valid(%left) {strides = array<i64: 512, 1>, valid_axes = array<i64: 0>} : memref<160x512xf16> -> vector<64x128xf16>
      kernel.write %y, %t[%0] {strides = array<i64: 128, 1>} : vector<64x128xf16>, memref<64x128xf16>
      %v = kernel.mma %u, %s, %t {steps = 64 : i64, strides = array<i64: 1, 64, 128, 1>, warpgroup = 128 : i64} : vector<64x128xf32>, memref<64x64xf16>, memref<64x128xf16> -> vector<64x128xf32>
      scf.yield %v : vector<64x128xf32>
    }
    %start = arith.muli %m, %384 : index
    %shift = arith.muli %j, %128 : index
    %place = arith.addi %start, %shift : index
    kernel.write %d, %c[%place] valid(%rows) {strides = array<i64: 512, 1>, valid_axes = array<i64: 0>} : vector<64x128xf32>, memref<100x512xf32>
    scf.reduce
  }) : (index, index, index, index, index, index) -> ()
  kernel.return
}

// -----

// Two warpgroups alternate: one waits for its barrier before the sum, and lets the other begin when the products of the
// last iteration have been started. Four warps say that they have read a buffer, those of the tile it is for.
// CHECK-LABEL: kernel.func @pingpong
// CHECK-SAME: launched = 384, grid = 6,
// CHECK:      kernel.mbarrier_init %{{.*}} {count = 4 : i64}
// CHECK:      %[[ORDER:.*]] = kernel.local : memref<2xi64>
// CHECK-NEXT: kernel.mbarrier_init %[[ORDER]] {count = 4 : i64}
// CHECK:      kernel.specialize {threads = 128 : i64, groups = 2 : i64, registers = array<i64: 40, 232>} producer {
// CHECK:      } consumer {
// CHECK:      %[[TILE:.*]] = kernel.iteration
// CHECK:      %[[GROUP:.*]] = arith.remsi %[[TILE]], %{{.*}} : index
// CHECK-NEXT: %[[OTHER:.*]] = arith.subi %{{.*}}, %[[GROUP]] : index
// CHECK-NEXT: %[[OWN:.*]] = arith.floordivsi %[[TILE]], %{{.*}} : index
// CHECK-NEXT: %[[PHASE:.*]] = arith.addi %[[OWN]], %[[OTHER]] : index
// CHECK-NEXT: %[[PARITY:.*]] = arith.remsi %[[PHASE]], %{{.*}} : index
// CHECK-NEXT: %[[OWN_GROUP:.*]] = arith.index_cast %[[GROUP]] : index to i32
// CHECK-NEXT: %[[NARROW:.*]] = arith.index_cast %[[PARITY]] : index to i32
// CHECK-NEXT: kernel.mbarrier_wait %[[ORDER]][%[[OWN_GROUP]]] parity %[[NARROW]]
// CHECK-NEXT: %[[NEXT:.*]] = arith.index_cast %[[OTHER]] : index to i32
// CHECK:      scf.for
// CHECK:      %[[LAST:.*]] = arith.cmpi sle
// CHECK-NEXT: kernel.mbarrier_arrive %[[ORDER]][%[[NEXT]]] when %[[LAST]]
// CHECK:      kernel.mma_wait %{{.*}} {groups = 0 : i64}
kernel.func @pingpong(%a: memref<100x160xf16>, %b: memref<160x384xf16>, %c: memref<100x384xf32>) attributes {schedule = #poly.schedule<"contraction: S0 | m/64p n/128vp | k/64 | warps=4 copy=tma persist pingpong">} {
  %s = kernel.local {layout = #kernel.layout<"offset[1][2][4][8][16][32][72][144][288][512][1024][2048] of 4096">} : memref<64x64xf16>
  %t = kernel.local {layout = #kernel.layout<"offset[1][2][4][8][16][32][4096][72][144][288][512][1024][2048] of 8192">} : memref<64x128xf16>
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %2 = arith.constant 2 : index
  %3 = arith.constant 3 : index
  %128 = arith.constant 128 : index
  %384 = arith.constant 384 : index
  %64 = arith.constant 64 : index
  %100 = arith.constant 100 : index
  %160 = arith.constant 160 : index
  %10240 = arith.constant 10240 : index
  %z = arith.constant 0.0 : f32
  "scf.parallel"(%0, %0, %2, %3, %1, %1) <{operandSegmentSizes = array<i32: 2, 2, 2, 0>}> ({
  ^bb0(%i: index, %j: index):
    %m = arith.muli %i, %64 : index
    %rows = arith.subi %100, %m : index
    %acc = vector.broadcast %z : f32 to vector<64x128xf32>
    %d = scf.for %k = %0 to %160 step %64 iter_args(%u = %acc) -> (vector<64x128xf32>) {
      %left = arith.subi %160, %k : index
      %row = arith.muli %i, %10240 : index
      %at = arith.addi %row, %k : index
      %x = kernel.read %a[%at] valid(%left, %rows) {strides = array<i64: 1, 160>, valid_axes = array<i64: 0, 1>} : memref<100x160xf16> -> vector<64x64xf16>
      kernel.write %x, %s[%0] {strides = array<i64: 1, 64>} : vector<64x64xf16>, memref<64x64xf16>
      %line = arith.muli %k, %384 : index
      %column = arith.muli %j, %128 : index
      %from = arith.addi %line, %column : index
      %y = kernel.read %b[%from] valid(%left) {strides = array<i64: 384, 1>, valid_axes = array<i64: 0>} : memref<160x384xf16> -> vector<64x128xf16>
      kernel.write %y, %t[%0] {strides = array<i64: 128, 1>} : vector<64x128xf16>, memref<64x128xf16>
      %v = kernel.mma %u, %s, %t {steps = 64 : i64, strides = array<i64: 1, 64, 128, 1>, warpgroup = 128 : i64} : vector<64x128xf32>, memref<64x64xf16>, memref<64x128xf16> -> vector<64x128xf32>
      scf.yield %v : vector<64x128xf32>
    }
    %start = arith.muli %m, %384 : index
    %shift = arith.muli %j, %128 : index
    %place = arith.addi %start, %shift : index
    kernel.write %d, %c[%place] valid(%rows) {strides = array<i64: 384, 1>, valid_axes = array<i64: 0>} : vector<64x128xf32>, memref<100x384xf32>
    scf.reduce
  }) : (index, index, index, index, index, index) -> ()
  kernel.return
}
