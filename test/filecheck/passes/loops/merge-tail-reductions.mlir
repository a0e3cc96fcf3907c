// RUN: mlc-opt %s --for-target cuda -p merge-tail-reductions --split-input-file | filecheck %s

// The tail begins with the sums of the whole tiles.
// CHECK-LABEL: kernel.func @sum
// CHECK:      %[[BODY:.*]] = scf.for
// CHECK-NOT:  vector.reduction
// CHECK:      %[[TAIL:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[BODY]])
// CHECK:      %[[SUM:.*]] = vector.reduction <add>, %[[TAIL]]
// CHECK-NOT:  arith.addf {{.*}} : f32
// CHECK:      kernel.write %[[SUM]]
kernel.func @sum(%a: memref<200xf32>, %c: memref<1xf32>) {
  %0 = arith.constant 0 : index
  %64 = arith.constant 64 : index
  %192 = arith.constant 192 : index
  %200 = arith.constant 200 : index
  %zero = arith.constant 0.0 : f32
  %first = vector.broadcast %zero : f32 to vector<64xf32>
  %body = scf.for %i = %0 to %192 step %64 iter_args(%x = %first) -> (vector<64xf32>) {
    %v = kernel.read %a[%i] {strides = array<i64: 1>} : memref<200xf32> -> vector<64xf32>
    %n = arith.addf %x, %v : vector<64xf32>
    scf.yield %n : vector<64xf32>
  }
  %s = vector.reduction <add>, %body : vector<64xf32> into f32
  %other = vector.broadcast %zero : f32 to vector<64xf32>
  %tail = scf.for %i = %192 to %200 step %64 iter_args(%x = %other) -> (vector<64xf32>) {
    %v = kernel.read %a[%i] {strides = array<i64: 1>} : memref<200xf32> -> vector<64xf32>
    %n = arith.addf %x, %v : vector<64xf32>
    scf.yield %n : vector<64xf32>
  }
  %t = vector.reduction <add>, %tail : vector<64xf32> into f32
  %r = arith.addf %t, %s : f32
  kernel.write %r, %c[%0] {strides = array<i64>} : f32, memref<1xf32>
  kernel.return
}

// -----

// The tail begins with 1, which a sum must not lose, and a maximum of the tail is no sum of it.
// CHECK-LABEL: kernel.func @kept
// CHECK:      vector.reduction <add>
// CHECK:      vector.reduction <add>
// CHECK:      vector.reduction <maximumf>
// CHECK:      arith.addf {{.*}} : f32
kernel.func @kept(%a: memref<200xf32>, %c: memref<2xf32>) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %64 = arith.constant 64 : index
  %200 = arith.constant 200 : index
  %one = arith.constant 1.0 : f32
  %first = vector.broadcast %one : f32 to vector<64xf32>
  %body:2 = scf.for %i = %0 to %64 step %64 iter_args(%x = %first, %y = %first) -> (vector<64xf32>, vector<64xf32>) {
    scf.yield %x, %y : vector<64xf32>, vector<64xf32>
  }
  %s = vector.reduction <add>, %body#0 : vector<64xf32> into f32
  %tail:2 = scf.for %i = %64 to %200 step %64 iter_args(%x = %first, %y = %first) -> (vector<64xf32>, vector<64xf32>) {
    scf.yield %x, %y : vector<64xf32>, vector<64xf32>
  }
  %t = vector.reduction <add>, %tail#0 : vector<64xf32> into f32
  %m = vector.reduction <maximumf>, %tail#1 : vector<64xf32> into f32
  %r = arith.addf %t, %s : f32
  %q = arith.addf %m, %r : f32
  kernel.write %q, %c[%1] {strides = array<i64>} : f32, memref<2xf32>
  kernel.return
}
