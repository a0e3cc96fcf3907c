// RUN: mlc-opt %s --for-target x86-64-v4:vector_bits=128 -p 'assign-layout,canonicalize-graph,lower-kernels,decompose-pack' --split-input-file | filecheck %s

// A transposed convolution of constant weights works on blocks of channels.

func.func @main(%x: tensor<1x8x5x6xf32>) -> tensor<1x4x8x8xf32> {
  %w = graph.weight "w" : tensor<2x2x4x8x2x2xf32>
  %y = graph.conv_transpose(%x, %w) {graph.node = ["/up"], strides = array<i64: 2, 2>, low = array<i64: 0, 1>} : (tensor<1x8x5x6xf32>, tensor<2x2x4x8x2x2xf32>) -> tensor<1x4x8x8xf32>
  func.return %y : tensor<1x4x8x8xf32>
}

// CHECK:      graph.transpose(%{{.*}}) {{{.*}}perm = array<i64: 0, 1, 3, 4, 2>} : (tensor<1x2x4x5x6xf32>) -> tensor<1x2x5x6x4xf32>
// CHECK:      graph.conv_transpose(%{{.*}}) {graph.node = ["/up"], strides = array<i64: 2, 2>, low = array<i64: 0, 1>, layouts = [#graph.layout<"aBcd4b">, #graph.layout<"abCDef4d4c">, #graph.layout<"aBcd4b">]} : (tensor<1x2x5x6x4xf32>, tensor<2x2x1x2x2x2x4x4xf32>) -> tensor<1x1x8x8x4xf32>

// -----

// Output s*i + p of a phase p stands where it belongs; what is cut from the beginning moves the input's rows.

kernel.func @k(%x: tensor<1x8x6xf32>, %w: tensor<3x4x8x2xf32>) -> tensor<1x4x12xf32> {
  %y = graph.conv_transpose(%x, %w) {strides = array<i64: 3>, low = array<i64: 1>} : (tensor<1x8x6xf32>, tensor<3x4x8x2xf32>) -> tensor<1x4x12xf32>
  kernel.return %y : tensor<1x4x12xf32>
}

// CHECK:      kernel.func @k
// CHECK:      poly.statement "S0"
// CHECK-SAME: domain = #poly.domain<"0 <= p0 < 3 and 0 <= f < 4 and 0 <= y0 < 4 and 0 <= c < 8 and 0 <= k0 < 2">
