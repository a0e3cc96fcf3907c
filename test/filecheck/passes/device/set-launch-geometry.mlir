// RUN: mlc-opt %s --for-target cuda -p distribute-values,set-launch-geometry --split-input-file | filecheck %s

// CHECK: kernel.func @rows{{.*}}computing = 64, launched = 64, grid = "max(3*n, 1)", resident = 8, shared = 512
kernel.func @rows(%a: memref<?x64xf32, #graph.dims<["n", "64"]>>, %c: memref<?x64xf32, #graph.dims<["n", "64"]>>) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %3 = arith.constant 3 : index
  %n = kernel.symbol "n"
  %t = kernel.local : memref<64xf32>
  "scf.parallel"(%0, %0, %n, %3, %1, %1) <{operandSegmentSizes = array<i32: 2, 2, 2, 0>}> ({
  ^bb0(%i: index, %j: index):
    %2 = kernel.read %a[%i] {strides = array<i64: 1>} : memref<?x64xf32, #graph.dims<["n", "64"]>> -> vector<64xf32>
    kernel.write %2, %c[%i] {strides = array<i64: 1>} : vector<64xf32>, memref<?x64xf32, #graph.dims<["n", "64"]>>
    scf.reduce
  }) : (index, index, index, index, index, index) -> ()
  kernel.return
}

// -----

// CHECK: kernel.func @serial{{.*}}grid = 1,
kernel.func @serial(%c: memref<64xf32>) attributes {serial = "nests depend on each other"} {
  kernel.return
}

// -----

// Sums and what a copy holds take more registers than a thread of four blocks has: three blocks.
// CHECK: kernel.func @tight{{.*}}resident = 3
kernel.func @tight(%a: memref<64x128xf32>, %c: memref<64x128xf32>) attributes {schedule = #poly.schedule<"contraction: S0 | m/64p n/128vp | k | warps=2x2">} {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %64 = arith.constant 64 : index
  %f = arith.constant 0.0 : f32
  %s = kernel.local : memref<64x128xf32>
  "scf.parallel"(%0, %1, %1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    %init = vector.broadcast %f : f32 to vector<64x128xf32>
    %sum = scf.for %k = %0 to %64 step %1 iter_args(%t = %init) -> (vector<64x128xf32>) {
      %x = kernel.read %a[%k] {strides = array<i64: 0, 0>} : memref<64x128xf32> -> vector<64x128xf32>
      kernel.write %x, %s[%0] {strides = array<i64: 128, 1>} : vector<64x128xf32>, memref<64x128xf32>
      %y = arith.addf %t, %x : vector<64x128xf32>
      scf.yield %y : vector<64x128xf32>
    }
    kernel.write %sum, %c[%0] {strides = array<i64: 128, 1>} : vector<64x128xf32>, memref<64x128xf32>
    scf.reduce
  }) : (index, index, index) -> ()
  kernel.return
}
