// RUN: mlc-opt %s --for-target cuda -p "fold-constants,lower-kernels,compute-bands" --verify-diagnostics --split-input-file | filecheck %s

// A window of two keys with a finite fill is computed from two conditions; nobody reads or stores the mask.

func.func @main(%s: tensor<4x16x16xf32>) -> tensor<4x16xf32> {
  %m = graph.compute "where((i1 <= i0) & (i1 > i0 - 2), f32(0), f32(-10000))"() {shape = ["16", "16"], reduce = []} : () -> tensor<16x16xf32>
  %y = kernel.call @k(%s, %m) : (tensor<4x16x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
  func.return %y : tensor<4x16xf32>
}
kernel.func @k(%s: tensor<4x16x16xf32>, %m: tensor<16x16xf32>) -> tensor<4x16xf32> {
  %x = graph.map "x0 + x1"(%s, %m) : (tensor<4x16x16xf32>, tensor<16x16xf32>) -> tensor<4x16x16xf32>
  %0 = graph.reduce "max"(%x) {axes = array<i64: 2>, keepdims = false} : (tensor<4x16x16xf32>) -> tensor<4x16xf32>
  kernel.return %0 : tensor<4x16xf32>
}

// CHECK-NOT:   graph.weight
// CHECK:       kernel.call @k(%s)
// CHECK:       kernel.func @k(%0: memref<4x16x16xf32>, %1: memref<4x16xf32>)
// CHECK:         arith.cmpi sle, %{{.*}}, %{{.*}} : i32
// CHECK:         arith.cmpi sle, %{{.*}}, %{{.*}} : i32
// CHECK:         %[[INSIDE:.*]] = arith.andi
// CHECK:         %[[MASK:.*]] = arith.select %[[INSIDE]], %{{.*}}, %{{.*}} : f32
// CHECK:         arith.addf %{{.*}}, %[[MASK]] : f32

// -----

// Of bits the comparison is the element, and the one that is true inside is taken.

func.func @main(%s: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %m = graph.compute "i1 > i0"() {shape = ["16", "16"], reduce = []} : () -> tensor<16x16xi1>
  %y = kernel.call @k(%s, %m) : (tensor<16x16xf32>, tensor<16x16xi1>) -> tensor<16x16xf32>
  func.return %y : tensor<16x16xf32>
}
kernel.func @k(%s: tensor<16x16xf32>, %m: tensor<16x16xi1>) -> tensor<16x16xf32> {
  %0 = graph.map "where(x1, x0, f32(1))"(%s, %m) : (tensor<16x16xf32>, tensor<16x16xi1>) -> tensor<16x16xf32>
  kernel.return %0 : tensor<16x16xf32>
}

// CHECK:       kernel.func @k(%0: memref<16x16xf32>, %1: memref<16x16xf32>)
// CHECK:         %[[MASK:.*]] = arith.cmpi sle, %{{.*}}, %{{.*}} : i32
// CHECK-NEXT:    arith.constant 1.000000e+00 : f32
// CHECK-NEXT:    arith.select %[[MASK]], %{{.*}}, %{{.*}} : f32

// -----

// A factor of a product of matrices is read.

func.func @main(%s: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %m = graph.compute "where(i1 <= i0, f32(1), f32(0))"() {shape = ["16", "16"], reduce = []} : () -> tensor<16x16xf32>
  %y = kernel.call @k(%m, %s) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  func.return %y : tensor<16x16xf32>
}
kernel.func @k(%m: tensor<16x16xf32>, %s: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %0 = graph.contract "mk,kn->mn"(%m, %s) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  kernel.return %0 : tensor<16x16xf32>
}

// CHECK:       kernel.call @k(%{{.*}}, %s)
// CHECK-NOT:   arith.cmpi

// -----

// One kernel with two masks reads them.

func.func @main(%s: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %m = graph.compute "i1 > i0"() {shape = ["16", "16"], reduce = []} : () -> tensor<16x16xi1>
  %n = graph.compute "i1 > i0 + 1"() {shape = ["16", "16"], reduce = []} : () -> tensor<16x16xi1>
  %x = kernel.call @k(%s, %m) : (tensor<16x16xf32>, tensor<16x16xi1>) -> tensor<16x16xf32>
  %y = kernel.call @k(%x, %n) : (tensor<16x16xf32>, tensor<16x16xi1>) -> tensor<16x16xf32>
  func.return %y : tensor<16x16xf32>
}
kernel.func @k(%s: tensor<16x16xf32>, %m: tensor<16x16xi1>) -> tensor<16x16xf32> {
  %0 = graph.map "where(x1, x0, f32(1))"(%s, %m) : (tensor<16x16xf32>, tensor<16x16xi1>) -> tensor<16x16xf32>
  kernel.return %0 : tensor<16x16xf32>
}

// CHECK:       kernel.call @k(%s, %{{.*}})
// CHECK-NOT:   arith.cmpi
