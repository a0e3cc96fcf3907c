// RUN: mlc-opt %s -p lower-kernels --verify-diagnostics --split-input-file | filecheck %s

kernel.func @contraction(%x: tensor<?x5xf32, #graph.dims<["batch", "5"]>>, %w: tensor<5x7xf32>, %b: tensor<7xf32>) -> tensor<?x7xf32, #graph.dims<["batch", "7"]>> {
  %0 = graph.contract "mk,kn->mn"(%x, %w) : (tensor<?x5xf32, #graph.dims<["batch", "5"]>>, tensor<5x7xf32>) -> tensor<?x7xf32, #graph.dims<["batch", "7"]>>
  %1 = graph.map "max(x0 + x1, 0)"(%0, %b) : (tensor<?x7xf32, #graph.dims<["batch", "7"]>>, tensor<7xf32>) -> tensor<?x7xf32, #graph.dims<["batch", "7"]>>
  kernel.return %1 : tensor<?x7xf32, #graph.dims<["batch", "7"]>>
}

// CHECK:      kernel.func @contraction(%0: memref<?x5xf32, #graph.dims<["batch", "5"]>>, %1: memref<5x7xf32>, %2: memref<7xf32>, %3: memref<?x7xf32, #graph.dims<["batch", "7"]>>) {
// CHECK-NEXT: %4 = kernel.local : memref<?x7xf32, #graph.dims<["batch", "7"]>>
// CHECK-NEXT: poly.statement "S0" ins(%0, %1 : memref<?x5xf32, #graph.dims<["batch", "5"]>>, memref<5x7xf32>) outs(%4 : memref<?x7xf32, #graph.dims<["batch", "7"]>>) {domain = #poly.domain<"0 <= m < batch and 0 <= n < 7 and 0 <= k < 5">, accesses = [#poly.access<"b0[m, k]">, #poly.access<"b1[k, n]">, #poly.access<"t0[m, n]">], monoid = "add", init = 0.000000e+00 : f32} do {
// CHECK:      poly.yield %7 : f32
// CHECK:      poly.statement "S1" ins(%4, %2 : memref<?x7xf32, #graph.dims<["batch", "7"]>>, memref<7xf32>) outs(%3 : memref<?x7xf32, #graph.dims<["batch", "7"]>>) {domain = #poly.domain<"0 <= m < batch and 0 <= n < 7">, accesses = [#poly.access<"t0[m, n]">, #poly.access<"b2[n]">, #poly.access<"b3[m, n]">]} do {
// CHECK:      poly.yield %12 : f32
// CHECK:      kernel.return

// -----

kernel.func @product_of_symbols(%x: tensor<?x?xf32, #graph.dims<["h", "w"]>>) -> tensor<?xf32, #graph.dims<["h*w"]>> {
  %0 = graph.reshape(%x) {shape = ["h*w"]} : (tensor<?x?xf32, #graph.dims<["h", "w"]>>) -> tensor<?xf32, #graph.dims<["h*w"]>>
  kernel.return %0 : tensor<?xf32, #graph.dims<["h*w"]>>
}

// CHECK:      kernel.func @product_of_symbols(%0: memref<?x?xf32, #graph.dims<["h", "w"]>>, %1: memref<?xf32, #graph.dims<["h*w"]>>) {
// CHECK-NEXT: poly.statement "S0" outs(%1 : memref<?xf32, #graph.dims<["h*w"]>>) {domain = #poly.domain<"0 <= i0 < h*w">, accesses = [#poly.access<"b1[i0]">]} do {

// -----

kernel.func @index_of_an_iterator(%x: tensor<?x5xf32, #graph.dims<["batch", "5"]>>) -> tensor<?x2x5xf32, #graph.dims<["batch", "2", "5"]>> {
  %0 = graph.compute "x0[i0, i2] + f32(i1)"(%x) {shape = ["batch", "2", "5"], reduce = []} : (tensor<?x5xf32, #graph.dims<["batch", "5"]>>) -> tensor<?x2x5xf32, #graph.dims<["batch", "2", "5"]>>
  kernel.return %0 : tensor<?x2x5xf32, #graph.dims<["batch", "2", "5"]>>
}

// CHECK:      kernel.func @index_of_an_iterator(%0: memref<?x5xf32, #graph.dims<["batch", "5"]>>, %1: memref<?x2x5xf32, #graph.dims<["batch", "2", "5"]>>) {
// CHECK-NEXT: poly.statement "S0" ins(%0 : memref<?x5xf32, #graph.dims<["batch", "5"]>>) outs(%1 : memref<?x2x5xf32, #graph.dims<["batch", "2", "5"]>>) {domain = #poly.domain<"0 <= i0 < batch and 0 <= i1 < 2 and 0 <= i2 < 5">, accesses = [#poly.access<"b0[i0, i2]">, #poly.access<"b1[i0, i1, i2]">]} do {
// CHECK:      %3 = kernel.index "i1"
// CHECK-NEXT: %4 = arith.index_cast %3 : index to i64
// CHECK-NEXT: %5 = arith.sitofp %4 : i64 to f32
// CHECK-NEXT: %6 = arith.addf %2, %5 : f32
// CHECK-NEXT: poly.yield %6 : f32
// CHECK:      kernel.return

// -----

kernel.func @written_at_an_offset(%x: tensor<3x?xf32, #graph.dims<["3", "batch"]>>) -> tensor<3x?xf32, #graph.dims<["3", "2*batch+2"]>> {
  %0 = graph.pad(%x) {low = ["0", "1"], high = ["0", "2"], interior = array<i64: 0, 1>, value = "1.5"} : (tensor<3x?xf32, #graph.dims<["3", "batch"]>>) -> tensor<3x?xf32, #graph.dims<["3", "2*batch+2"]>>
  kernel.return %0 : tensor<3x?xf32, #graph.dims<["3", "2*batch+2"]>>
}

// CHECK:      poly.statement "S0" outs(%1 : memref<3x?xf32, #graph.dims<["3", "2*batch+2"]>>) {domain = #poly.domain<"0 <= i0 < 3 and 0 <= i1 < 2*batch+2">, accesses = [#poly.access<"b1[i0, i1]">]} do {
// CHECK:      poly.statement "S1" ins(%0 : memref<3x?xf32, #graph.dims<["3", "batch"]>>) outs(%1 : memref<3x?xf32, #graph.dims<["3", "2*batch+2"]>>) {domain = #poly.domain<"0 <= i0 < 3 and 0 <= i1 < batch">, accesses = [#poly.access<"b0[i0, i1]">, #poly.access<"b1[i0, 2*i1 + 1]">]} do {
