// RUN: mlc-opt %s --for-target x86-64-v3 -p 'lower-kernels,choose-schedule,tile-kernels,lower-tiles' --split-input-file | filecheck %s

// The 8 steps of a register tile share nothing: they are a loop, after the prefetches of all of them.

kernel.func @rolled(%a: tensor<12x8xf32>, %b: tensor<1024x8x16xf32>) -> tensor<12x16384xf32> {
  %0 = graph.contract "mk,kn->mn"(%a, %b) {layouts = [#graph.layout<"ab">, #graph.layout<"Ba16b">, #graph.layout<"ab">]} : (tensor<12x8xf32>, tensor<1024x8x16xf32>) -> tensor<12x16384xf32>
  kernel.return %0 : tensor<12x16384xf32>
}

// CHECK:         kernel.func @rolled(
// CHECK-COUNT-4: kernel.prefetch
// CHECK:         scf.for %[[K:.*]] = %c0 to %c8 step %c1 iter_args(%{{.*}}) -> (vector<6x16xf32>) {
// CHECK-NOT:     kernel.prefetch
// CHECK:         kernel.read {{.*}} -> vector<6x1xf32>
// CHECK-NOT:     kernel.read {{.*}} -> vector<6x1xf32>
// CHECK:         scf.yield
// CHECK:         kernel.write

// -----

// Three steps are too few for a loop.

kernel.func @unrolled(%a: tensor<12x3xf32>, %b: tensor<1024x3x16xf32>) -> tensor<12x16384xf32> {
  %0 = graph.contract "mk,kn->mn"(%a, %b) {layouts = [#graph.layout<"ab">, #graph.layout<"Ba16b">, #graph.layout<"ab">]} : (tensor<12x3xf32>, tensor<1024x3x16xf32>) -> tensor<12x16384xf32>
  kernel.return %0 : tensor<12x16384xf32>
}

// CHECK:         kernel.func @unrolled(
// CHECK-COUNT-3: kernel.read {{.*}} -> vector<6x1xf32>
// CHECK-NOT:     iter_args
// CHECK:         kernel.write

// -----

// The 5 steps of a filter slide over the rows of a tile, and read the same elements: the C compiler sees them together.

kernel.func @slides(%x: tensor<1x1x20x1xf32>, %w: tensor<2x1x5x1x8xf32>) -> tensor<1x2x16x8xf32> {
  %0 = graph.conv(%x, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64, layouts = [#graph.layout<"aBc1b">, #graph.layout<"ABc1b8a">, #graph.layout<"aBc8b">]} : (tensor<1x1x20x1xf32>, tensor<2x1x5x1x8xf32>) -> tensor<1x2x16x8xf32>
  kernel.return %0 : tensor<1x2x16x8xf32>
}

// CHECK:         kernel.func @slides(
// CHECK-COUNT-5: kernel.read %0
// CHECK-NOT:     iter_args
// CHECK:         kernel.write
