// RUN: mlc-opt %s -p 'lower-kernels,raise-to-poly,choose-schedule{lanes=8 registers=16},tile-kernels,lower-tiles' --split-input-file | filecheck %s

// The 8 steps written out of a tile of 6 rows together ask for 8·16·6/128 elements of the next column tile, less than a
// line: one of them asks. There are two kinds of tiles.

kernel.func @lines(%a: tensor<128x8xf32>, %b: tensor<2048x8x16xf32>) -> tensor<128x32768xf32> {
  %0 = graph.contract "mk,kn->mn"(%a, %b) {columns = 32768 : i64, block = 16 : i64} : (tensor<128x8xf32>, tensor<2048x8x16xf32>) -> tensor<128x32768xf32>
  kernel.return %0 : tensor<128x32768xf32>
}

// CHECK:         kernel.func @lines(
// CHECK-SAME:    schedule = "contraction: S0 | n/16v m/6*20+4*2 | k"
// CHECK-COUNT-2: kernel.prefetch
// CHECK-NOT:     kernel.prefetch

// -----

// 8 steps over half of the rows: 64 elements, one for each line.

kernel.func @several(%a: tensor<12x8xf32>, %b: tensor<1024x8x16xf32>) -> tensor<12x16384xf32> {
  %0 = graph.contract "mk,kn->mn"(%a, %b) {columns = 16384 : i64, block = 16 : i64} : (tensor<12x8xf32>, tensor<1024x8x16xf32>) -> tensor<12x16384xf32>
  kernel.return %0 : tensor<12x16384xf32>
}

// CHECK:         kernel.func @several(
// CHECK-SAME:    schedule = "contraction: S0 | n/16v m/6*2 | k"
// CHECK-COUNT-4: kernel.prefetch
// CHECK-NOT:     kernel.prefetch
