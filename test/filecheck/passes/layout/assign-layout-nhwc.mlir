// RUN: mlc-opt %s --for-target cuda -p 'assign-layout,decompose-pack,canonicalize-graph' --split-input-file | filecheck %s

// Images of halves have all channels in one block: NHWC. Three channels are filled to four.
// CHECK-LABEL: func.func @halves
// CHECK:      %1 = graph.transpose(%0) {{.*}}perm = array<i64: 0, 1, 3, 4, 2>} : (tensor<1x1x3x9x9xf16>) -> tensor<1x1x9x9x3xf16>
// CHECK-NEXT: %2 = graph.pad(%1) {{.*}} : (tensor<1x1x9x9x3xf16>) -> tensor<1x1x9x9x4xf16>
// CHECK:      %6 = graph.conv(%2, %5) {{.*}}layouts = [#graph.layout<"aBcd4b">, #graph.layout<"ABcd4b16a">, #graph.layout<"aBcd16b">]} : (tensor<1x1x9x9x4xf16>, tensor<1x1x3x3x4x16xf16>) -> tensor<1x1x7x7x16xf32>
// CHECK-NEXT: %7 = graph.map
// CHECK-NEXT: %8 = graph.slice(%7) {{.*}}starts = ["0", "0", "0", "0", "8"]{{.*}} -> tensor<1x1x7x7x8xf16>
// CHECK-NEXT: %9 = graph.concat(%8, %8) {{.*}}axis = 4 : i64} : (tensor<1x1x7x7x8xf16>, tensor<1x1x7x7x8xf16>) -> tensor<1x1x7x7x16xf16>
// CHECK-NEXT: %10 = graph.transpose(%9) {{.*}}perm = array<i64: 0, 1, 4, 2, 3>}
func.func @halves(%x: tensor<1x3x9x9xf16>) -> tensor<1x16x7x7xf16> {
  %w = graph.weight "w" : tensor<16x3x3x3xf16>
  %0 = graph.conv(%x, %w) {graph.node = ["/conv"], strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, product = "f32(x0) * f32(x1)"} : (tensor<1x3x9x9xf16>, tensor<16x3x3x3xf16>) -> tensor<1x16x7x7xf32>
  %1 = graph.map "f16(max(x0, 0))"(%0) {graph.node = ["/relu"]} : (tensor<1x16x7x7xf32>) -> tensor<1x16x7x7xf16>
  %2 = graph.slice(%1) {graph.node = ["/half"], starts = ["0", "8", "0", "0"], sizes = ["1", "8", "7", "7"], steps = array<i64: 1, 1, 1, 1>} : (tensor<1x16x7x7xf16>) -> tensor<1x8x7x7xf16>
  %3 = graph.concat(%2, %2) {graph.node = ["/twice"], axis = 1 : i64} : (tensor<1x8x7x7xf16>, tensor<1x8x7x7xf16>) -> tensor<1x16x7x7xf16>
  func.return %3 : tensor<1x16x7x7xf16>
}

// -----

// Weights of run time, and floats, keep the plain layout.
// CHECK-LABEL: func.func @plain
// CHECK-NOT:   layouts
// CHECK:       func.return
func.func @plain(%x: tensor<1x8x9x9xf16>, %w: tensor<16x8x3x3xf16>, %y: tensor<1x8x9x9xf32>) -> (tensor<1x16x7x7xf32>, tensor<1x16x7x7xf32>) {
  %v = graph.weight "v" : tensor<16x8x3x3xf32>
  %0 = graph.conv(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, product = "f32(x0) * f32(x1)"} : (tensor<1x8x9x9xf16>, tensor<16x8x3x3xf16>) -> tensor<1x16x7x7xf32>
  %1 = graph.conv(%y, %v) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x9x9xf32>, tensor<16x8x3x3xf32>) -> tensor<1x16x7x7xf32>
  func.return %0, %1 : tensor<1x16x7x7xf32>, tensor<1x16x7x7xf32>
}

// -----

// Weights of run time are transposed in each run, where the result has many positions. A convolution over the batch, which
// is the derivative by filters, reads the channels of pixels too.
// CHECK-LABEL: func.func @training
// CHECK:      %3 = graph.transpose(%2) {{.*}} : (tensor<1x24x1x16x3x3xf16>) -> tensor<1x1x3x3x16x24xf16>
// CHECK-NEXT: %4 = graph.conv(%1, %3) {{.*}}layouts = [#graph.layout<"aBcd16b">, #graph.layout<"ABcd16b24a">, #graph.layout<"aBcd24b">]}
// CHECK:      %9 = graph.conv(%6, %8) {{.*}}layouts = [#graph.layout<"bAcd16a">, #graph.layout<"bAcd24a">, #graph.layout<"ABcd16a24b">]} : (tensor<2x1x12x12x16xf16>, tensor<2x1x10x10x24xf16>) -> tensor<1x1x3x3x16x24xf32>
func.func @training(%x: tensor<2x16x12x12xf16>, %w: tensor<24x16x3x3xf16>, %g: tensor<2x24x10x10xf16>) -> (tensor<2x24x10x10xf32>, tensor<16x24x3x3xf32>) {
  %0 = graph.conv(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, product = "f32(x0) * f32(x1)"} : (tensor<2x16x12x12xf16>, tensor<24x16x3x3xf16>) -> tensor<2x24x10x10xf32>
  %1 = graph.transpose(%x) {perm = array<i64: 1, 0, 2, 3>} : (tensor<2x16x12x12xf16>) -> tensor<16x2x12x12xf16>
  %2 = graph.transpose(%g) {perm = array<i64: 1, 0, 2, 3>} : (tensor<2x24x10x10xf16>) -> tensor<24x2x10x10xf16>
  %3 = graph.conv(%1, %2) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, product = "f32(x0) * f32(x1)"} : (tensor<16x2x12x12xf16>, tensor<24x2x10x10xf16>) -> tensor<16x24x3x3xf32>
  func.return %0, %3 : tensor<2x24x10x10xf32>, tensor<16x24x3x3xf32>
}
