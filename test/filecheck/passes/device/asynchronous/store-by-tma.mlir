// RUN: mlc-opt %s --for-target cuda:sm_90 -p copy-by-tma,store-by-tma,specialize-warps,distribute-values,set-launch-geometry | filecheck %s

// Results of 16 bits are written to shared memory, two buffers of a warpgroup, and from there to a tensor of 120 columns
// and 100 rows; the limits of the last tiles are gone. At the end the stores are waited for.
// CHECK-LABEL: kernel.func @halves
// CHECK:      %[[STAGING:.*]] = kernel.local {layout = {{.*}}} : memref<2x64x64xf16>
// CHECK:      } consumer {
// CHECK:      %[[ROUNDED:.*]] = arith.truncf
// CHECK-NOT:  kernel.write
// CHECK:      kernel.bulk_store %[[ROUNDED]] through %[[STAGING]] to %c[%{{.*}}, %{{.*}}] {extents = ["120", "100"], strides = array<i64: 240>, box = array<i64: 64, 64>, span = 128 : i64} : vector<64x128xf16>, memref<2x64x64xf16>, memref<100x120xf16>
// CHECK:      kernel.bulk_store_wait
kernel.func @halves(%a: memref<100x160xf16>, %b: memref<160x120xf16>, %c: memref<100x120xf16>) attributes {schedule = #poly.schedule<"contraction: S0 | m/64p n/128vp | k/64 | warps=4 copy=tma">} {
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
    %h = arith.truncf %d : vector<64x128xf32> to vector<64x128xf16>
    kernel.write %h, %c[%place] valid(%rows, %120) {strides = array<i64: 120, 1>, valid_axes = array<i64: 0, 1>} : vector<64x128xf16>, memref<100x120xf16>
    scf.reduce
  }) : (index, index, index) -> ()
  kernel.return
}

// Words: 32 columns of 64 rows at a time, of the sums as they are.
// CHECK-LABEL: kernel.func @words
// CHECK:      %[[STAGING:.*]] = kernel.local {layout = {{.*}}} : memref<2x64x32xf32>
// CHECK:      kernel.bulk_store %{{.*}} through %[[STAGING]] to %c[%{{.*}}, %{{.*}}] {extents = ["120", "100"], strides = array<i64: 480>, box = array<i64: 32, 64>, span = 128 : i64} : vector<64x128xf32>, memref<2x64x32xf32>, memref<100x120xf32>
kernel.func @words(%a: memref<100x160xf16>, %b: memref<160x120xf16>, %c: memref<100x120xf32>) attributes {schedule = #poly.schedule<"contraction: S0 | m/64p n/128vp | k/64 | warps=4 copy=tma">} {
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
