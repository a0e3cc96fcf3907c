// RUN: mlc-opt %s --for-target x86-64-v4:vector_bits=128,vector_registers=16 -p 'lower-kernels,choose-schedule' --split-input-file | filecheck %s
// RUN: mlc-opt %s --for-target x86-64-v4:vector_bits=128,vector_registers=16 -p 'lower-kernels,choose-schedule,tile-kernels,lower-tiles' --split-input-file | filecheck %s --check-prefix LOOPS

// A Winograd convolution is three nests that run on one row of tiles after the other. What they hand over has no
// dimension for the row (2 of it), and what the transforms keep between their halves only what an iteration needs.

kernel.func @rows(%x: tensor<1x1x6x10x4xf32>, %w: tensor<32x1x1x1x4x4xf32>, %b: tensor<1x2x1x1x4xf32>) -> tensor<1x2x4x8x4xf32> {
  %t = graph.winograd_rows(%x) {m = 2 : i64} : (tensor<1x1x6x10x4xf32>) -> tensor<1x1x2x4x10x4xf32>
  %v = graph.winograd_input(%t) {m = 2 : i64} : (tensor<1x1x2x4x10x4xf32>) -> tensor<1x16x2x4x4xf32>
  %q = graph.conv(%v, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 16 : i64, layouts = [#graph.layout<"aBcd4b">, #graph.layout<"ABcd4b4a">, #graph.layout<"aBcd4b">]} : (tensor<1x16x2x4x4xf32>, tensor<32x1x1x1x4x4xf32>) -> tensor<1x32x2x4x4xf32>
  %s = graph.winograd_sums(%q) {m = 2 : i64, extents = array<i64: 4, 8>} : (tensor<1x32x2x4x4xf32>) -> tensor<1x2x2x2x4x4x4xf32>
  %y = graph.winograd_output "max(x0 + x1, 0)"(%s, %b) {m = 2 : i64, extents = array<i64: 4, 8>} : (tensor<1x2x2x2x4x4x4xf32>, tensor<1x2x1x1x4xf32>) -> tensor<1x2x4x8x4xf32>
  kernel.return %y : tensor<1x2x4x8x4xf32>
}

// CHECK:      kernel.func @rows{{.*}}schedule = #poly.schedule<"stages: S0 S1 S2 S3 S4 S5 S6 S7 | ty@2 ty ci/4v | w i tx & contraction: S8 | y0@2 g f/2*1 fi/4v y0 y1/4*1 | ci & stages: S9 S10 S11 S12 | ty@2 f ty tx fi/4v | j i">
// LOOPS:      kernel.func @rows(
// LOOPS:      [[ROWS:%\w+]] = kernel.local : memref<4x10x4xf32>
// LOOPS-NEXT: [[TILES:%\w+]] = kernel.local : memref<16x4x4xf32>
// LOOPS-NEXT: [[PRODUCTS:%\w+]] = kernel.local : memref<32x4x4xf32>
// LOOPS-NEXT: [[SUMS:%\w+]] = kernel.local : memref<2x4x4xf32>
// LOOPS-COUNT-1: "scf.parallel"
// LOOPS:      kernel.write {{.*}}, [[ROWS]][
// LOOPS:      kernel.read [[ROWS]][
// LOOPS:      kernel.write {{.*}}, [[TILES]][
// LOOPS:      kernel.read [[TILES]][
// LOOPS:      kernel.write {{.*}}, [[PRODUCTS]][
// LOOPS:      kernel.read [[PRODUCTS]][
// LOOPS:      kernel.write {{.*}}, [[SUMS]][
// LOOPS:      kernel.read [[SUMS]][
// LOOPS:      kernel.write {{.*}}, %3[
// LOOPS-NOT:  "scf.parallel"
// LOOPS:      scf.reduce

// -----

// Products that need more than one row of what is before them are no chain, nor those of an unknown number of rows.

kernel.func @matrices(%a: tensor<6x5xf32>, %b: tensor<5x6xf32>, %c: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %0 = graph.contract "ik,kj->ij"(%a, %b) : (tensor<6x5xf32>, tensor<5x6xf32>) -> tensor<6x6xf32>
  %1 = graph.contract "ji,jk->ik"(%0, %c) : (tensor<6x6xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  kernel.return %1 : tensor<6x4xf32>
}

// CHECK:      kernel.func @matrices{{.*}}schedule = #poly.schedule<"{{[^&">]*}}"
// LOOPS:      kernel.func @matrices(

// -----

kernel.func @symbolic(%a: tensor<?x5xf32, #graph.dims<["n", "5"]>>, %b: tensor<5x6xf32>, %c: tensor<6x4xf32>) -> tensor<?x4xf32, #graph.dims<["n", "4"]>> {
  %0 = graph.contract "ik,kj->ij"(%a, %b) : (tensor<?x5xf32, #graph.dims<["n", "5"]>>, tensor<5x6xf32>) -> tensor<?x6xf32, #graph.dims<["n", "6"]>>
  %1 = graph.contract "ij,jk->ik"(%0, %c) : (tensor<?x6xf32, #graph.dims<["n", "6"]>>, tensor<6x4xf32>) -> tensor<?x4xf32, #graph.dims<["n", "4"]>>
  kernel.return %1 : tensor<?x4xf32, #graph.dims<["n", "4"]>>
}

// CHECK:      kernel.func @symbolic{{.*}}schedule = #poly.schedule<"{{[^&">]*}}"

// -----

// A padding and the window that reads it run a plane at a time; the sides of the padding, which no rule takes together
// with its middle, are nests of their own, and a plane is all that is kept.

kernel.func @padded(%x: tensor<1x9x5x6xf32>) -> tensor<1x9x3x3xf32> {
  %p = graph.pad(%x) {low = ["0", "0", "1", "1"], high = ["0", "0", "1", "0"], interior = array<i64: 0, 0, 0, 0>, value = "-inf"} : (tensor<1x9x5x6xf32>) -> tensor<1x9x7x7xf32>
  %y = graph.pool "max"(%p) {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>} : (tensor<1x9x7x7xf32>) -> tensor<1x9x3x3xf32>
  kernel.return %y : tensor<1x9x3x3xf32>
}

// CHECK:      kernel.func @padded{{.*}}schedule = #poly.schedule<"elementwise: S0 | i1@9 i1 i2 i3/4v |  & elementwise: S1 S2 | i1@9 i1 i3/4v |  & elementwise: S3 | i1@9 i1 i2/4v |  & window: S4 | i1@9 i1 i2/2*1+1*1 i3/3v | k1 k0">
// LOOPS:      kernel.func @padded(
// LOOPS:      [[PLANE:%\w+]] = kernel.local : memref<7x7xf32>
// LOOPS-COUNT-1: "scf.parallel"
// LOOPS:      kernel.write {{.*}}, [[PLANE]][
// LOOPS:      kernel.read [[PLANE]][
// LOOPS-NOT:  "scf.parallel"
// LOOPS:      scf.reduce
