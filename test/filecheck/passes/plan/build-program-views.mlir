// RUN: mlc-opt %s -p build-program --verify-diagnostics | filecheck %s

// A slice is a view; parts that kernels compute are written into the concatenation, others are copied.

func.func @main(%x: tensor<3x5xf32> {graph.name = "x"}) -> (tensor<4x5xf32> {graph.name = "y"}) {
  %0 = graph.slice(%x) {starts = ["1", "0"], sizes = ["2", "5"], steps = array<i64: 1, 1>} : (tensor<3x5xf32>) -> tensor<2x5xf32>
  %1 = kernel.call @k(%0) {graph.node = ["/a"]} : (tensor<2x5xf32>) -> tensor<2x5xf32>
  %2 = graph.concat(%1, %0) {axis = 0 : i64} : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<4x5xf32>
  func.return %2 : tensor<4x5xf32>
}
kernel.func @k(%0: memref<2x5xf32>, %1: memref<2x5xf32>) {
  kernel.return
}

// CHECK:      [[X:%\w+]] = rt.input 0 : i64 : memref<3x5xf32>
// CHECK-NEXT: [[Y:%\w+]] = rt.output 0 : i64 : memref<4x5xf32>
// CHECK-NEXT: [[S:%\w+]] = rt.view [[X]] {offset = "20"} : memref<3x5xf32> -> memref<2x5xf32>
// CHECK-NEXT: [[A:%\w+]] = rt.view [[Y]] : memref<4x5xf32> -> memref<2x5xf32>
// CHECK-NEXT: rt.launch @k([[S]], [[A]]) {graph.node = ["/a"], writes = 1 : i64} : memref<2x5xf32>, memref<2x5xf32>
// CHECK-NEXT: [[B:%\w+]] = rt.view [[Y]] {offset = "40"} : memref<4x5xf32> -> memref<2x5xf32>
// CHECK-NEXT: rt.copy [[S]], [[B]] : memref<2x5xf32>, memref<2x5xf32>
