// RUN: mlc-opt %s --for-target x86-64-v3 -p 'lower-kernels,choose-schedule,tile-kernels,lower-tiles' --split-input-file | filecheck %s

// The 8 unrolled steps of a tile of 6 rows together prefetch 8·16·6/128 elements of the next column tile, less than a
// line: one of them asks. There are two kinds of tiles.

kernel.func @lines(%a: tensor<128x8xf32>, %b: tensor<2048x8x16xf32>) -> tensor<128x32768xf32> {
  %0 = graph.contract "mk,kn->mn"(%a, %b) {layouts = [#graph.layout<"ab">, #graph.layout<"Ba16b">, #graph.layout<"ab">]} : (tensor<128x8xf32>, tensor<2048x8x16xf32>) -> tensor<128x32768xf32>
  kernel.return %0 : tensor<128x32768xf32>
}

// CHECK:         kernel.func @lines(
// CHECK-SAME:    schedule = #poly.schedule<"contraction: S0 | n/16v m/6*20+4*2 | k">
// CHECK-COUNT-2: kernel.prefetch
// CHECK-NOT:     kernel.prefetch

// -----

// 8 steps over half of the rows: 64 elements, one for each line.

kernel.func @several(%a: tensor<12x8xf32>, %b: tensor<1024x8x16xf32>) -> tensor<12x16384xf32> {
  %0 = graph.contract "mk,kn->mn"(%a, %b) {layouts = [#graph.layout<"ab">, #graph.layout<"Ba16b">, #graph.layout<"ab">]} : (tensor<12x8xf32>, tensor<1024x8x16xf32>) -> tensor<12x16384xf32>
  kernel.return %0 : tensor<12x16384xf32>
}

// CHECK:         kernel.func @several(
// CHECK-SAME:    schedule = #poly.schedule<"contraction: S0 | n/16v m/6*2 | k">
// CHECK-COUNT-4: kernel.prefetch
// CHECK-NOT:     kernel.prefetch
