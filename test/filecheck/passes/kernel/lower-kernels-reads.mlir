// RUN: mlc-opt %s -p lower-kernels --verify-diagnostics --split-input-file | filecheck %s

// An epilogue adopts the iterators of a grouped convolution; cheap values are computed where they are read, others once:
// what a sum and a later result read in the place of that result.

kernel.func @convolution_and_bias(%x: tensor<1x4x9xf32>, %w: tensor<6x2x3xf32>, %b: tensor<6x1xf32>) -> tensor<1x6x7xf32> {
  %0 = graph.conv(%x, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 2 : i64} : (tensor<1x4x9xf32>, tensor<6x2x3xf32>) -> tensor<1x6x7xf32>
  %1 = graph.map "x0 + x1"(%0, %b) : (tensor<1x6x7xf32>, tensor<6x1xf32>) -> tensor<1x6x7xf32>
  kernel.return %1 : tensor<1x6x7xf32>
}

// CHECK:      kernel.func @convolution_and_bias(%0: memref<1x4x9xf32>, %1: memref<6x2x3xf32>, %2: memref<6x1xf32>, %3: memref<1x6x7xf32>) {
// CHECK-NEXT: %4 = kernel.local : memref<1x6x7xf32>
// CHECK-NEXT: poly.statement "S0" ins(%0, %1 : memref<1x4x9xf32>, memref<6x2x3xf32>) outs(%4 : memref<1x6x7xf32>) {domain = #poly.domain<"0 <= g < 2 and 0 <= f < 3 and 0 <= y0 < 7 and 0 <= c < 2 and 0 <= k0 < 3">, accesses = [#poly.access<"b0[0, c + 2*g, k0 + y0]">, #poly.access<"b1[f + 3*g, c, k0]">, #poly.access<"t0[0, f + 3*g, y0]">], monoid = "add", init = 0.000000e+00 : f32} do {
// CHECK-NEXT: ^bb0(%5: f32, %6: f32):
// CHECK-NEXT: %7 = arith.mulf %5, %6 : f32
// CHECK-NEXT: poly.yield %7 : f32
// CHECK-NEXT: }
// CHECK-NEXT: poly.statement "S1" ins(%4, %2 : memref<1x6x7xf32>, memref<6x1xf32>) outs(%3 : memref<1x6x7xf32>) {domain = #poly.domain<"0 <= g < 2 and 0 <= f < 3 and 0 <= y0 < 7">, accesses = [#poly.access<"t0[0, f + 3*g, y0]">, #poly.access<"b2[f + 3*g, 0]">, #poly.access<"b3[0, f + 3*g, y0]">]} do {
// CHECK-NEXT: ^bb0(%8: f32, %9: f32):
// CHECK-NEXT: %10 = arith.addf %8, %9 : f32
// CHECK-NEXT: poly.yield %10 : f32
// CHECK-NEXT: }
// CHECK-NEXT: kernel.return

// -----

kernel.func @computed_where_read(%x: tensor<3x5xf32>) -> (tensor<3x1xf32>, tensor<3x5xf32>) {
  %0 = graph.map "x0 * 2.0"(%x) : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %1 = graph.map "exp(x0)"(%x) : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %2 = graph.reduce "add"(%1) {axes = array<i64: 1>, keepdims = true} : (tensor<3x5xf32>) -> tensor<3x1xf32>
  %3 = graph.map "x0 + x1 - x1"(%0, %1) : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  kernel.return %2, %3 : tensor<3x1xf32>, tensor<3x5xf32>
}

// CHECK:      kernel.func @computed_where_read(%0: memref<3x5xf32>, %1: memref<3x1xf32>, %2: memref<3x5xf32>) {
// CHECK-NEXT: poly.statement "S0" ins(%0 : memref<3x5xf32>) outs(%2 : memref<3x5xf32>) {domain = #poly.domain<"0 <= i0 < 3 and 0 <= i1 < 5">, accesses = [#poly.access<"b0[i0, i1]">, #poly.access<"b2[i0, i1]">]} do {
// CHECK-NEXT: ^bb0(%3: f32):
// CHECK-NEXT: %4 = math.exp %3 : f32
// CHECK-NEXT: poly.yield %4 : f32
// CHECK-NEXT: }
// CHECK-NEXT: poly.statement "S1" ins(%2 : memref<3x5xf32>) outs(%1 : memref<3x1xf32>) {domain = #poly.domain<"0 <= i0 < 3 and 0 <= i1 < 5">, accesses = [#poly.access<"b2[i0, i1]">, #poly.access<"b1[i0, 0]">], monoid = "add", init = 0.000000e+00 : f32} do {
// CHECK-NEXT: ^bb0(%5: f32):
// CHECK-NEXT: poly.yield %5 : f32
// CHECK-NEXT: }
// CHECK-NEXT: poly.statement "S2" ins(%0, %2 : memref<3x5xf32>, memref<3x5xf32>) outs(%2 : memref<3x5xf32>) {domain = #poly.domain<"0 <= i0 < 3 and 0 <= i1 < 5">, accesses = [#poly.access<"b0[i0, i1]">, #poly.access<"b2[i0, i1]">, #poly.access<"b2[i0, i1]">]} do {
// CHECK-NEXT: ^bb0(%6: f32, %7: f32):
// CHECK-NEXT: %8 = arith.constant 2.000000e+00 : f32
// CHECK-NEXT: %9 = arith.mulf %6, %8 : f32
// CHECK-NEXT: %10 = arith.addf %9, %7 : f32
// CHECK-NEXT: %11 = arith.subf %10, %7 : f32
// CHECK-NEXT: poly.yield %11 : f32
// CHECK-NEXT: }
// CHECK-NEXT: kernel.return

// -----

// The second result is computed where it is padded, after the first, which therefore must not stand where it reads.

kernel.func @read_after_the_result(%x: tensor<3x5xf32>) -> (tensor<3x1xf32>, tensor<3x5xf32>, tensor<4x5xf32>) {
  %0 = graph.map "exp(x0)"(%x) : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %1 = graph.reduce "add"(%0) {axes = array<i64: 1>, keepdims = true} : (tensor<3x5xf32>) -> tensor<3x1xf32>
  %2 = graph.map "neg(x0)"(%0) : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %3 = graph.map "x0 / x1"(%0, %1) : (tensor<3x5xf32>, tensor<3x1xf32>) -> tensor<3x5xf32>
  %4 = graph.pad(%2) {low = ["0", "0"], high = ["1", "0"], interior = array<i64: 0, 0>, value = "0"} : (tensor<3x5xf32>) -> tensor<4x5xf32>
  kernel.return %1, %3, %4 : tensor<3x1xf32>, tensor<3x5xf32>, tensor<4x5xf32>
}

// CHECK:      kernel.func @read_after_the_result(%0: memref<3x5xf32>, %1: memref<3x1xf32>, %2: memref<3x5xf32>, %3: memref<4x5xf32>) {
// CHECK-NEXT: %4 = kernel.local : memref<3x5xf32>
// CHECK-NEXT: poly.statement "S0" ins(%0 : memref<3x5xf32>) outs(%4 : memref<3x5xf32>)
// CHECK:      math.exp
// CHECK:      poly.statement "S1" ins(%4 : memref<3x5xf32>) outs(%1 : memref<3x1xf32>)
// CHECK:      poly.statement "S2" ins(%4, %1 : memref<3x5xf32>, memref<3x1xf32>) outs(%2 : memref<3x5xf32>)
// CHECK:      arith.divf
// CHECK:      poly.statement "S3" ins(%4 : memref<3x5xf32>) outs(%3 : memref<4x5xf32>)
// CHECK:      arith.negf
