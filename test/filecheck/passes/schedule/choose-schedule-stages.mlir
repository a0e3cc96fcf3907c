// RUN: mlc-opt %s --for-target x86-64-v4:vector_bits=128,vector_registers=16 -p 'lower-kernels,choose-schedule' --split-input-file | filecheck %s
// RUN: mlc-opt %s --for-target x86-64-v4:vector_bits=128,vector_registers=16 -p 'lower-kernels,choose-schedule,tile-kernels,lower-tiles' --split-input-file | filecheck %s --check-prefix LOOPS

// The second half of a transform reads several columns of the first; what an iteration of the shared loops needs is local.

kernel.func @in(%x: tensor<1x3x6x10x4xf32>) -> tensor<1x48x2x4x4xf32> {
  %0 = graph.winograd_rows(%x) {m = 2 : i64} : (tensor<1x3x6x10x4xf32>) -> tensor<1x3x2x4x10x4xf32>
  %1 = graph.winograd_input(%0) {m = 2 : i64} : (tensor<1x3x2x4x10x4xf32>) -> tensor<1x48x2x4x4xf32>
  kernel.return %1 : tensor<1x48x2x4x4xf32>
}

// CHECK:      kernel.func @in{{.*}}schedule = #poly.schedule<"stages: S0 S1 S2 S3 S4 S5 S6 S7 | c ty ci/4v | w i tx">
// LOOPS:      kernel.func @in(
// LOOPS:      kernel.local : memref<4x10x4xf32>
// LOOPS:      scf.for {{.*}} {
// LOOPS-COUNT-4: kernel.write
// LOOPS:      scf.for {{.*}} {
// LOOPS:      scf.for {{.*}} {
// LOOPS-COUNT-4: kernel.write

// -----

// Rows that are cut from the last tiles have other extents: a nest of their own, though statements are reordered.

kernel.func @out(%q: tensor<1x32x3x3x4xf32>) -> tensor<1x2x5x6x4xf32> {
  %0 = graph.winograd_sums(%q) {m = 2 : i64, extents = array<i64: 5, 6>} : (tensor<1x32x3x3x4xf32>) -> tensor<1x2x3x2x3x4x4xf32>
  %1 = graph.winograd_output "max(x0, 0.0)"(%0) {m = 2 : i64, extents = array<i64: 5, 6>} : (tensor<1x2x3x2x3x4x4xf32>) -> tensor<1x2x5x6x4xf32>
  kernel.return %1 : tensor<1x2x5x6x4xf32>
}

// CHECK:      kernel.func @out{{.*}}schedule = #poly.schedule<"stages: S0 S1 S3 S4 | f ty tx fi/4v | j i; stages: S2 S5 S6 | f tx fi/4v | j">
// LOOPS:      kernel.func @out(
// LOOPS:      kernel.local : memref<2x4x4xf32>
// LOOPS:      "scf.parallel"
// LOOPS:      "scf.parallel"

// -----

// A cut last column is a statement of its own; the others share its rows.

kernel.func @columns(%q: tensor<1x32x2x3x4xf32>) -> tensor<1x2x4x5x4xf32> {
  %0 = graph.winograd_sums(%q) {m = 2 : i64, extents = array<i64: 4, 5>} : (tensor<1x32x2x3x4xf32>) -> tensor<1x2x2x2x3x4x4xf32>
  %1 = graph.winograd_output "x0"(%0) {m = 2 : i64, extents = array<i64: 4, 5>} : (tensor<1x2x2x2x3x4x4xf32>) -> tensor<1x2x4x5x4xf32>
  kernel.return %1 : tensor<1x2x4x5x4xf32>
}

// CHECK:      kernel.func @columns{{.*}}schedule = #poly.schedule<"stages: S0 S1 S2 S3 S4 | f ty fi/4v | t j i tx">
// LOOPS:      kernel.func @columns(
