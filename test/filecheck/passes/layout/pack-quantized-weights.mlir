// RUN: mlc-opt %s --for-target x86-64-v4:vector_bits=128 -p 'pack-quantized-weights,decompose-pack' --split-input-file | filecheck %s

func.func @main(%x: tensor<3x16xf32>) -> tensor<3x10xf32> {
  %w = graph.weight "w" : tensor<10x2xi32>
  %0 = graph.compute "x0[i0, r0*8 + r1] * f32((x1[i1, r0] >> i32(r1*4)) & 15)"(%x, %w) {graph.node = ["/m"], shape = ["3", "10"], reduce = ["2", "8"], monoid = "add"} : (tensor<3x16xf32>, tensor<10x2xi32>) -> tensor<3x10xf32>
  func.return %0 : tensor<3x10xf32>
}

// CHECK:      func.func @main(%x: tensor<3x16xf32>) -> tensor<3x10xf32> {
// CHECK-NEXT: %w = graph.weight "w" : tensor<10x2xi32>
// CHECK-NEXT: %0 = graph.pad(%w) {graph.node = ["/m"], low = ["0", "0"], high = ["6", "0"], interior = array<i64: 0, 0>, value = "0"} : (tensor<10x2xi32>) -> tensor<16x2xi32>
// CHECK-NEXT: %1 = graph.reshape(%0) {graph.node = ["/m"], shape = ["1", "16", "2"]} : (tensor<16x2xi32>) -> tensor<1x16x2xi32>
// CHECK-NEXT: %2 = graph.transpose(%1) {graph.node = ["/m"], perm = array<i64: 0, 2, 1>} : (tensor<1x16x2xi32>) -> tensor<1x2x16xi32>
// CHECK-NEXT: %3 = graph.compute "(x0[i0, ((r0 * 8) + r1)] * f32(((x1[(i1 // 16), r0, (i1 % 16)] >> i32((r1 * 4))) & 15)))"(%x, %2) {graph.node = ["/m"], shape = ["3", "10"], reduce = ["2", "8"], monoid = "add"} : (tensor<3x16xf32>, tensor<1x2x16xi32>) -> tensor<3x10xf32>
// CHECK-NEXT: func.return %3 : tensor<3x10xf32>

// -----

// Bytes, and the scale of each column, which are packed together.
func.func @bytes(%x: tensor<3x16xf32>) -> tensor<3x10xf32> {
  %w = graph.weight "w" : tensor<10x16xi8>
  %s = graph.weight "s" : tensor<10xf32>
  %0 = graph.compute "x0[i0, r0] * (f32(x1[i1, r0]) * x2[i1])"(%x, %w, %s) {shape = ["3", "10"], reduce = ["16"], monoid = "add"} : (tensor<3x16xf32>, tensor<10x16xi8>, tensor<10xf32>) -> tensor<3x10xf32>
  func.return %0 : tensor<3x10xf32>
}

// CHECK:      func.func @bytes
// CHECK:      [[W:%\w+]] = graph.transpose({{.*}} -> tensor<1x16x16xi8>
// CHECK:      [[S:%\w+]] = graph.reshape({{.*}} -> tensor<1x16xf32>
// CHECK-NEXT: graph.compute "(x0[i0, r0] * (f32(x1[(i1 // 16), r0, (i1 % 16)]) * x2[(i1 // 16), (i1 % 16)]))"(%x, [[W]], [[S]])

// -----

// Floats, indices, and what is read by another index stay as they are.
func.func @others(%x: tensor<3x16xf32>) -> (tensor<3x10xf32>, tensor<3x10xf32>, tensor<3x10xf32>) {
  %w = graph.weight "w" : tensor<10x2xf32>
  %i = graph.weight "i" : tensor<10x2xi32>
  %v = graph.weight "v" : tensor<2x10xi32>
  %0 = graph.compute "x0[i0, r0] * x1[i1, r0]"(%x, %w) {shape = ["3", "10"], reduce = ["2"], monoid = "add"} : (tensor<3x16xf32>, tensor<10x2xf32>) -> tensor<3x10xf32>
  %1 = graph.compute "x0[i0, x1[i1, r0]]"(%x, %i) {shape = ["3", "10"], reduce = ["2"], monoid = "add"} : (tensor<3x16xf32>, tensor<10x2xi32>) -> tensor<3x10xf32>
  %2 = graph.compute "x0[i0, r0*8 + r1] * f32((x1[r0, i1] >> i32(r1*4)) & 15)"(%x, %v) {shape = ["3", "10"], reduce = ["2", "8"], monoid = "add"} : (tensor<3x16xf32>, tensor<2x10xi32>) -> tensor<3x10xf32>
  func.return %0, %1, %2 : tensor<3x10xf32>, tensor<3x10xf32>, tensor<3x10xf32>
}

// CHECK:      func.func @others
// CHECK:      graph.compute "x0[i0, r0] * x1[i1, r0]"(%x, %w)
// CHECK-NEXT: graph.compute "x0[i0, x1[i1, r0]]"(%x, %i)
// CHECK-NEXT: graph.compute "x0[i0, r0*8 + r1] * f32((x1[r0, i1] >> i32(r1*4)) & 15)"(%x, %v)
