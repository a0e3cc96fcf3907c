// RUN: mlc-opt %s -p lower-kernels --verify-diagnostics --split-input-file | filecheck %s

kernel.func @contraction(%x: tensor<?x5xf32, #graph.dims<["batch", "5"]>>, %w: tensor<5x7xf32>, %b: tensor<7xf32>) -> tensor<?x7xf32, #graph.dims<["batch", "7"]>> {
  %0 = graph.contract "mk,kn->mn"(%x, %w) : (tensor<?x5xf32, #graph.dims<["batch", "5"]>>, tensor<5x7xf32>) -> tensor<?x7xf32, #graph.dims<["batch", "7"]>>
  %1 = graph.map "max(x0 + x1, 0)"(%0, %b) : (tensor<?x7xf32, #graph.dims<["batch", "7"]>>, tensor<7xf32>) -> tensor<?x7xf32, #graph.dims<["batch", "7"]>>
  kernel.return %1 : tensor<?x7xf32, #graph.dims<["batch", "7"]>>
}

// CHECK:      kernel.func @contraction(%0: memref<?x5xf32, #graph.dims<["batch", "5"]>>, %1: memref<5x7xf32>, %2: memref<7xf32>, %3: memref<?x7xf32, #graph.dims<["batch", "7"]>>) {
// CHECK-NEXT: %4 = kernel.local : memref<?x7xf32, #graph.dims<["batch", "7"]>>
// CHECK-NEXT: poly.statement "S0" ins(%0, %1 : memref<?x5xf32, #graph.dims<["batch", "5"]>>, memref<5x7xf32>) outs(%4 : memref<?x7xf32, #graph.dims<["batch", "7"]>>) {domain = #poly.domain<"0 <= m < batch and 0 <= n < 7 and 0 <= k < 5">, accesses = [#poly.access<"b0[m, k]">, #poly.access<"b1[k, n]">, #poly.access<"t0[m, n]">], monoid = "add", init = 0.000000e+00 : f32} do {
// CHECK-NEXT: ^bb0(%5: f32, %6: f32):
// CHECK-NEXT: %7 = arith.mulf %5, %6 : f32
// CHECK-NEXT: poly.yield %7 : f32
// CHECK-NEXT: }
// CHECK-NEXT: poly.statement "S1" ins(%4, %2 : memref<?x7xf32, #graph.dims<["batch", "7"]>>, memref<7xf32>) outs(%3 : memref<?x7xf32, #graph.dims<["batch", "7"]>>) {domain = #poly.domain<"0 <= m < batch and 0 <= n < 7">, accesses = [#poly.access<"t0[m, n]">, #poly.access<"b2[n]">, #poly.access<"b3[m, n]">]} do {
// CHECK-NEXT: ^bb0(%8: f32, %9: f32):
// CHECK-NEXT: %10 = arith.addf %8, %9 : f32
// CHECK-NEXT: %11 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %12 = arith.maximumf %10, %11 : f32
// CHECK-NEXT: poly.yield %12 : f32
// CHECK-NEXT: }
// CHECK-NEXT: kernel.return

// -----

kernel.func @two_results(%x: tensor<3x5xf32>) -> (tensor<3xf32>, tensor<3x5xf32>) {
  %0 = graph.map "neg(x0)"(%x) : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %1 = graph.reduce "min"(%0) {axes = array<i64: 1>, keepdims = false} : (tensor<3x5xf32>) -> tensor<3xf32>
  kernel.return %1, %0 : tensor<3xf32>, tensor<3x5xf32>
}

// CHECK:      kernel.func @two_results(%0: memref<3x5xf32>, %1: memref<3xf32>, %2: memref<3x5xf32>) {
// CHECK-NEXT: poly.statement "S0" ins(%0 : memref<3x5xf32>) outs(%2 : memref<3x5xf32>) {domain = #poly.domain<"0 <= i0 < 3 and 0 <= i1 < 5">, accesses = [#poly.access<"b0[i0, i1]">, #poly.access<"b2[i0, i1]">]} do {
// CHECK-NEXT: ^bb0(%3: f32):
// CHECK-NEXT: %4 = arith.negf %3 : f32
// CHECK-NEXT: poly.yield %4 : f32
// CHECK-NEXT: }
// CHECK-NEXT: poly.statement "S1" ins(%2 : memref<3x5xf32>) outs(%1 : memref<3xf32>) {domain = #poly.domain<"0 <= i0 < 3 and 0 <= i1 < 5">, accesses = [#poly.access<"b2[i0, i1]">, #poly.access<"b1[i0]">], monoid = "min", init = 0x7f800000 : f32} do {
// CHECK-NEXT: ^bb0(%5: f32):
// CHECK-NEXT: poly.yield %5 : f32
// CHECK-NEXT: }
// CHECK-NEXT: kernel.return

// -----

kernel.func @pieces_of_a_pad(%x: tensor<3x?xf32, #graph.dims<["3", "batch"]>>) -> tensor<3x?xf32, #graph.dims<["3", "batch+3"]>> {
  %0 = graph.pad(%x) {low = ["0", "1"], high = ["0", "2"], interior = array<i64: 0, 0>, value = "1.5"} : (tensor<3x?xf32, #graph.dims<["3", "batch"]>>) -> tensor<3x?xf32, #graph.dims<["3", "batch+3"]>>
  kernel.return %0 : tensor<3x?xf32, #graph.dims<["3", "batch+3"]>>
}

// CHECK:      kernel.func @pieces_of_a_pad(%0: memref<3x?xf32, #graph.dims<["3", "batch"]>>, %1: memref<3x?xf32, #graph.dims<["3", "batch+3"]>>) {
// CHECK-NEXT: poly.statement "S0" ins(%0 : memref<3x?xf32, #graph.dims<["3", "batch"]>>) outs(%1 : memref<3x?xf32, #graph.dims<["3", "batch+3"]>>) {domain = #poly.domain<"0 <= i0 < 3 and 0 <= i1 < batch">, accesses = [#poly.access<"b0[i0, i1]">, #poly.access<"b1[i0, i1 + 1]">]} do {
// CHECK-NEXT: ^bb0(%2: f32):
// CHECK-NEXT: poly.yield %2 : f32
// CHECK-NEXT: }
// CHECK-NEXT: poly.statement "S1" outs(%1 : memref<3x?xf32, #graph.dims<["3", "batch+3"]>>) {domain = #poly.domain<"0 <= i0 < 3">, accesses = [#poly.access<"b1[i0, 0]">]} do {
// CHECK-NEXT: %3 = arith.constant 1.500000e+00 : f32
// CHECK-NEXT: poly.yield %3 : f32
// CHECK-NEXT: }
// CHECK-NEXT: poly.statement "S2" outs(%1 : memref<3x?xf32, #graph.dims<["3", "batch+3"]>>) {domain = #poly.domain<"0 <= i0 < 3 and 0 <= i1 < 2">, accesses = [#poly.access<"b1[i0, batch + i1 + 1]">]} do {
// CHECK-NEXT: %4 = arith.constant 1.500000e+00 : f32
// CHECK-NEXT: poly.yield %4 : f32
// CHECK-NEXT: }
// CHECK-NEXT: kernel.return

// -----

kernel.func @loaded_index(%t: tensor<9x4xf32>, %ids: tensor<3xi64>) -> tensor<3x4xf32> {
  %0 = graph.compute "x0[x1[i0], i1]"(%t, %ids) {shape = ["3", "4"], reduce = []} : (tensor<9x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  kernel.return %0 : tensor<3x4xf32>
}

// CHECK:      kernel.func @loaded_index(%0: memref<9x4xf32>, %1: memref<3xi64>, %2: memref<3x4xf32>) {
// CHECK-NEXT: poly.statement "S0" ins(%1 : memref<3xi64>) outs(%2 : memref<3x4xf32>) {domain = #poly.domain<"0 <= i0 < 3 and 0 <= i1 < 4">, accesses = [#poly.access<"b1[i0]">, #poly.access<"b2[i0, i1]">]} do {
// CHECK-NEXT: ^bb0(%3: i64):
// CHECK-NEXT: %4 = arith.index_cast %3 : i64 to index
// CHECK-NEXT: %5 = kernel.index "i1"
// CHECK-NEXT: %6 = memref.load %0[%4, %5] : memref<9x4xf32>
// CHECK-NEXT: poly.yield %6 : f32
// CHECK-NEXT: }
// CHECK-NEXT: kernel.return

// -----

kernel.func @unit_dimensions_and_unsigned(%x: tensor<3x1x5xui8>) -> tensor<3x1x1xui8> {
  %0 = graph.reduce "max"(%x) {axes = array<i64: 2>, keepdims = true} : (tensor<3x1x5xui8>) -> tensor<3x1x1xui8>
  kernel.return %0 : tensor<3x1x1xui8>
}

// CHECK:      kernel.func @unit_dimensions_and_unsigned(%0: memref<3x1x5xui8>, %1: memref<3x1x1xui8>) {
// CHECK-NEXT: poly.statement "S0" ins(%0 : memref<3x1x5xui8>) outs(%1 : memref<3x1x1xui8>) {domain = #poly.domain<"0 <= i0 < 3 and 0 <= i2 < 5">, accesses = [#poly.access<"b0[i0, 0, i2]">, #poly.access<"b1[i0, 0, 0]">], monoid = "max", init = 0 : i8} do {
// CHECK-NEXT: ^bb0(%2: ui8):
// CHECK-NEXT: %3 = builtin.unrealized_conversion_cast %2 : ui8 to i8
// CHECK-NEXT: %4 = builtin.unrealized_conversion_cast %3 : i8 to ui8
// CHECK-NEXT: poly.yield %4 : ui8
// CHECK-NEXT: }
// CHECK-NEXT: kernel.return

// -----

kernel.func @into_the_middle_of_a_pad(%x: tensor<?x5xf32, #graph.dims<["batch", "5"]>>, %w: tensor<5x7xf32>, %b: tensor<7xf32>) -> tensor<?x7xf32, #graph.dims<["batch+1", "7"]>> {
  %0 = graph.contract "mk,kn->mn"(%x, %w) : (tensor<?x5xf32, #graph.dims<["batch", "5"]>>, tensor<5x7xf32>) -> tensor<?x7xf32, #graph.dims<["batch", "7"]>>
  %1 = graph.map "max(x0 + x1, 0)"(%0, %b) : (tensor<?x7xf32, #graph.dims<["batch", "7"]>>, tensor<7xf32>) -> tensor<?x7xf32, #graph.dims<["batch", "7"]>>
  %2 = graph.pad(%1) {low = ["1", "0"], high = ["0", "0"], interior = array<i64: 0, 0>, value = "0"} : (tensor<?x7xf32, #graph.dims<["batch", "7"]>>) -> tensor<?x7xf32, #graph.dims<["batch+1", "7"]>>
  kernel.return %2 : tensor<?x7xf32, #graph.dims<["batch+1", "7"]>>
}

// CHECK:      kernel.func @into_the_middle_of_a_pad(%0: memref<?x5xf32, #graph.dims<["batch", "5"]>>, %1: memref<5x7xf32>, %2: memref<7xf32>, %3: memref<?x7xf32, #graph.dims<["batch+1", "7"]>>) {
// CHECK-NEXT: %4 = kernel.local : memref<?x7xf32, #graph.dims<["batch", "7"]>>
// CHECK-NEXT: poly.statement "S0" ins(%0, %1 : memref<?x5xf32, #graph.dims<["batch", "5"]>>, memref<5x7xf32>) outs(%4 : memref<?x7xf32, #graph.dims<["batch", "7"]>>) {domain = #poly.domain<"0 <= m < batch and 0 <= n < 7 and 0 <= k < 5">, accesses = [#poly.access<"b0[m, k]">, #poly.access<"b1[k, n]">, #poly.access<"t0[m, n]">], monoid = "add", init = 0.000000e+00 : f32} do {
// CHECK-NEXT: ^bb0(%5: f32, %6: f32):
// CHECK-NEXT: %7 = arith.mulf %5, %6 : f32
// CHECK-NEXT: poly.yield %7 : f32
// CHECK-NEXT: }
// CHECK-NEXT: poly.statement "S1" ins(%4, %2 : memref<?x7xf32, #graph.dims<["batch", "7"]>>, memref<7xf32>) outs(%3 : memref<?x7xf32, #graph.dims<["batch+1", "7"]>>) {domain = #poly.domain<"0 <= m < batch and 0 <= n < 7">, accesses = [#poly.access<"t0[m, n]">, #poly.access<"b2[n]">, #poly.access<"b3[m + 1, n]">]} do {
// CHECK-NEXT: ^bb0(%8: f32, %9: f32):
// CHECK-NEXT: %10 = arith.addf %8, %9 : f32
// CHECK-NEXT: %11 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %12 = arith.maximumf %10, %11 : f32
// CHECK-NEXT: poly.yield %12 : f32
// CHECK-NEXT: }
// CHECK-NEXT: poly.statement "S2" outs(%3 : memref<?x7xf32, #graph.dims<["batch+1", "7"]>>) {domain = #poly.domain<"0 <= i1 < 7">, accesses = [#poly.access<"b3[0, i1]">]} do {
// CHECK-NEXT: %13 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: poly.yield %13 : f32
// CHECK-NEXT: }
// CHECK-NEXT: kernel.return
