// RUN: mlc-opt %s -p 'lower-kernels,choose-schedule' | filecheck %s

// Two rows of a small image are one tile: as many cycles as tiles of one row, which read the weights more often.

kernel.func @small_image(%x: tensor<1x4x9x9x16xf32>, %w: tensor<2x4x3x3x16x16xf32>) -> tensor<1x2x7x7x16xf32> {
  %0 = graph.conv(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, layouts = [#graph.layout<"aBcd16b">, #graph.layout<"ABcd16b16a">, #graph.layout<"aBcd16b">]} : (tensor<1x4x9x9x16xf32>, tensor<2x4x3x3x16x16xf32>) -> tensor<1x2x7x7x16xf32>
  kernel.return %0 : tensor<1x2x7x7x16xf32>
}

// CHECK:      kernel.func @small_image{{.*}}schedule = #poly.schedule<"contraction: S0 | f/2*1 fi/16v y0/2*3+1*1 y1/7*1 | {{.*}}">
