// RUN: mlc-opt %s -p 'pack-words{block=8}' --split-input-file | filecheck %s

func.func @main(%x: tensor<3x16xf32>) -> tensor<3x10xf32> {
  %w = graph.weight "w" : tensor<10x2xi32>
  %0 = graph.compute "x0[i0, r0*8 + r1] * f32((x1[i1, r0] >> i32(r1*4)) & 15)"(%x, %w) {graph.node = ["/m"], shape = ["3", "10"], reduce = ["2", "8"], monoid = "add"} : (tensor<3x16xf32>, tensor<10x2xi32>) -> tensor<3x10xf32>
  func.return %0 : tensor<3x10xf32>
}

// CHECK:      func.func @main(%x: tensor<3x16xf32>) -> tensor<3x10xf32> {
// CHECK-NEXT: %w = graph.weight "w" : tensor<10x2xi32>
// CHECK-NEXT: %0 = graph.pad(%w) {graph.node = ["/m"], low = ["0", "0"], high = ["6", "0"], interior = array<i64: 0, 0>, value = "0"} : (tensor<10x2xi32>) -> tensor<16x2xi32>
// CHECK-NEXT: %1 = graph.reshape(%0) {graph.node = ["/m"], shape = ["2", "8", "2"]} : (tensor<16x2xi32>) -> tensor<2x8x2xi32>
// CHECK-NEXT: %2 = graph.transpose(%1) {graph.node = ["/m"], perm = array<i64: 0, 2, 1>} : (tensor<2x8x2xi32>) -> tensor<2x2x8xi32>
// CHECK-NEXT: %3 = graph.compute "(x0[i0, ((r0 * 8) + r1)] * f32(((x1[(i1 // 8), r0, (i1 % 8)] >> i32((r1 * 4))) & 15)))"(%x, %2) {graph.node = ["/m"], shape = ["3", "10"], reduce = ["2", "8"], monoid = "add"} : (tensor<3x16xf32>, tensor<2x2x8xi32>) -> tensor<3x10xf32>
// CHECK-NEXT: func.return %3 : tensor<3x10xf32>

// -----

// Tables that are not unpacked, and what is read by another index, stay as they are.
func.func @others(%x: tensor<3x16xf32>) -> (tensor<3x10xf32>, tensor<3x10xf32>) {
  %w = graph.weight "w" : tensor<10x2xi32>
  %v = graph.weight "v" : tensor<2x10xi32>
  %0 = graph.compute "x0[i0, r0] * f32(x1[i1, r0])"(%x, %w) {shape = ["3", "10"], reduce = ["2"], monoid = "add"} : (tensor<3x16xf32>, tensor<10x2xi32>) -> tensor<3x10xf32>
  %1 = graph.compute "x0[i0, r0*8 + r1] * f32((x1[r0, i1] >> i32(r1*4)) & 15)"(%x, %v) {shape = ["3", "10"], reduce = ["2", "8"], monoid = "add"} : (tensor<3x16xf32>, tensor<2x10xi32>) -> tensor<3x10xf32>
  func.return %0, %1 : tensor<3x10xf32>, tensor<3x10xf32>
}

// CHECK:      func.func @others(%x: tensor<3x16xf32>) -> (tensor<3x10xf32>, tensor<3x10xf32>) {
// CHECK-NEXT: %w = graph.weight "w" : tensor<10x2xi32>
// CHECK-NEXT: %v = graph.weight "v" : tensor<2x10xi32>
// CHECK-NEXT: %0 = graph.compute "x0[i0, r0] * f32(x1[i1, r0])"(%x, %w) {shape = ["3", "10"], reduce = ["2"], monoid = "add"} : (tensor<3x16xf32>, tensor<10x2xi32>) -> tensor<3x10xf32>
// CHECK-NEXT: %1 = graph.compute "x0[i0, r0*8 + r1] * f32((x1[r0, i1] >> i32(r1*4)) & 15)"(%x, %v) {shape = ["3", "10"], reduce = ["2", "8"], monoid = "add"} : (tensor<3x16xf32>, tensor<2x10xi32>) -> tensor<3x10xf32>
// CHECK-NEXT: func.return %0, %1 : tensor<3x10xf32>, tensor<3x10xf32>
