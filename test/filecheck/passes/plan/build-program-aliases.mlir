// RUN: mlc-opt %s -p build-program,plan-memory,insert-barriers --verify-diagnostics --split-input-file | filecheck %s

// @k works in place on its input 0 and its output, number 2: it writes the memory of %p, after the kernel that reads %p.

func.func @main(%p: tensor<4xf32>, %g: tensor<4xf32>) -> (tensor<4xf32> {graph.alias = 0 : i64}, tensor<4xf32>) {
  %0 = kernel.call @read(%p) {graph.node = ["a"]} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = kernel.call @k(%p, %g) {graph.node = ["b"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %1, %0 : tensor<4xf32>, tensor<4xf32>
}
kernel.func @k(%0: memref<4xf32>, %1: memref<4xf32>, %2: memref<4xf32>) attributes {in_place = [array<i64: 0, 2>]} {
  kernel.return
}
kernel.func @read(%0: memref<4xf32>, %1: memref<4xf32>) {
  kernel.return
}

// CHECK:      %0 = rt.input 0 : i64 : memref<4xf32>
// CHECK-NEXT: %1 = rt.input 1 : i64 : memref<4xf32>
// CHECK-NEXT: %2 = rt.output 0 : i64 of %0 : memref<4xf32>, : memref<4xf32>
// CHECK-NEXT: %3 = rt.output 1 : i64 : memref<4xf32>
// CHECK-NEXT: rt.launch @read(%0, %3)
// CHECK-NEXT: rt.barrier
// CHECK-NEXT: rt.launch @k(%0, %1, %2)

// -----

// Not proved: the result has memory of its own until all have read %p, and %p is returned before it is overwritten.

func.func @main(%p: tensor<4xf32>, %g: tensor<4xf32>) -> (tensor<4xf32> {graph.alias = 0 : i64}, tensor<4xf32>) {
  %0 = kernel.call @k(%p, %g) {graph.node = ["b"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %p : tensor<4xf32>, tensor<4xf32>
}
kernel.func @k(%0: memref<4xf32>, %1: memref<4xf32>, %2: memref<4xf32>) {
  kernel.return
}

// CHECK:      %2 = rt.output 0 : i64 of %0 : memref<4xf32>, : memref<4xf32>
// CHECK-NEXT: %3 = rt.output 1 : i64 : memref<4xf32>
// CHECK-NEXT: %4 = rt.buffer "16" {offset = 0 : i64} : memref<4xf32>
// CHECK-NEXT: rt.launch @k(%0, %1, %4)
// CHECK-NEXT: rt.copy %0, %3
// CHECK-NEXT: rt.barrier
// CHECK-NEXT: rt.copy %4, %2

// -----

// Swapped arguments: both are kept first.

func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32> {graph.alias = 0 : i64}, tensor<4xf32> {graph.alias = 1 : i64}) {
  func.return %b, %a : tensor<4xf32>, tensor<4xf32>
}

// CHECK:      rt.copy %1, %4
// CHECK-NEXT: %5 = rt.buffer
// CHECK-NEXT: rt.copy %0, %5
// CHECK-NEXT: rt.barrier
// CHECK-NEXT: rt.copy %4, %2
// CHECK-NEXT: rt.copy %5, %3
