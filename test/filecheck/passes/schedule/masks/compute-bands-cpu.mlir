// RUN: mlc-opt %s --for-target x86-64-v3:l2=2K -p "fold-constants,lower-kernels,compute-bands" --verify-diagnostics --split-input-file | filecheck %s --check-prefixes=CHECK,READ
// RUN: mlc-opt %s --for-target x86-64-v4:l2=4K -p "fold-constants,lower-kernels,compute-bands" --verify-diagnostics --split-input-file | filecheck %s --check-prefixes=CHECK,READ
// RUN: mlc-opt %s --for-target x86-64-v4:l2=2K -p "fold-constants,lower-kernels,compute-bands" --verify-diagnostics --split-input-file | filecheck %s --check-prefixes=CHECK,COMPUTED
// RUN: mlc-opt %s --for-target x86-64-v3:l3=2K -p "fold-constants,lower-kernels,compute-bands" --verify-diagnostics --split-input-file | filecheck %s --check-prefixes=CHECK,COMPUTED

// CPUs compare for a causal mask of bits.

func.func @main(%s: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %m = graph.compute "i1 > i0"() {shape = ["16", "16"], reduce = []} : () -> tensor<16x16xi1>
  %y = kernel.call @bits(%s, %m) : (tensor<16x16xf32>, tensor<16x16xi1>) -> tensor<16x16xf32>
  func.return %y : tensor<16x16xf32>
}
kernel.func @bits(%s: tensor<16x16xf32>, %m: tensor<16x16xi1>) -> tensor<16x16xf32> {
  %0 = graph.map "where(x1, x0, f32(1))"(%s, %m) : (tensor<16x16xf32>, tensor<16x16xi1>) -> tensor<16x16xf32>
  kernel.return %0 : tensor<16x16xf32>
}

// CHECK-LABEL: kernel.func @bits(
// CHECK:         arith.cmpi sle

// -----

// They read a window of bits, which takes two comparisons.

func.func @main(%s: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %m = graph.compute "(i1 <= i0) & (i1 > i0 - 2)"() {shape = ["16", "16"], reduce = []} : () -> tensor<16x16xi1>
  %y = kernel.call @window(%s, %m) : (tensor<16x16xf32>, tensor<16x16xi1>) -> tensor<16x16xf32>
  func.return %y : tensor<16x16xf32>
}
kernel.func @window(%s: tensor<16x16xf32>, %m: tensor<16x16xi1>) -> tensor<16x16xf32> {
  %0 = graph.map "where(x1, x0, f32(1))"(%s, %m) : (tensor<16x16xf32>, tensor<16x16xi1>) -> tensor<16x16xf32>
  kernel.return %0 : tensor<16x16xf32>
}

// CHECK-LABEL: kernel.func @window(
// CHECK-NOT:     arith.cmpi
// CHECK:         kernel.return

// -----

// Numbers that L2 does not hold are computed with mask registers; those that L3 does not hold, without.

func.func @main(%s: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %m = graph.compute "where(i1 <= i0, f32(0), f32(-10000))"() {shape = ["32", "32"], reduce = []} : () -> tensor<32x32xf32>
  %y = kernel.call @numbers(%s, %m) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  func.return %y : tensor<32x32xf32>
}
kernel.func @numbers(%s: tensor<32x32xf32>, %m: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = graph.map "x0 + x1"(%s, %m) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  kernel.return %0 : tensor<32x32xf32>
}

// CHECK-LABEL: kernel.func @numbers(
// READ-NOT:      arith.cmpi
// COMPUTED:      arith.cmpi sle
// CHECK:         kernel.return
