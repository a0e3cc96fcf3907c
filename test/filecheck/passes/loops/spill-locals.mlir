// RUN: mlc-opt %s --for-target cuda -p spill-locals | filecheck %s

// The larger local array goes to the arena, a row a block; the smaller one stays in shared memory.
// CHECK: func.func @main
// CHECK: kernel.call @k(%{{.*}}) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<864x16384xf32>)
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = kernel.call @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}
// CHECK: kernel.func @k(%x: memref<8xf32>, %y: memref<8xf32>, %t: memref<864x16384xf32>) attributes {scratch = #kernel.scratch<arrays = 1, rows = 864>}
// CHECK-NEXT: %s = kernel.local : memref<64xf32>
// CHECK-NEXT: %0 = arith.constant
// CHECK-NEXT: %1 = kernel.read %t[
kernel.func @k(%x: memref<8xf32>, %y: memref<8xf32>) {
  %s = kernel.local : memref<64xf32>
  %t = kernel.local : memref<16384xf32>
  %0 = arith.constant 0 : index
  %1 = kernel.read %t[%0] {strides = array<i64: 1>} : memref<16384xf32> -> vector<8xf32>
  kernel.write %1, %y[%0] {strides = array<i64: 1>} : vector<8xf32>, memref<8xf32>
  kernel.return
}
