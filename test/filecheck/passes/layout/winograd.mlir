// RUN: mlc-opt %s -p 'winograd{gain=0.0}' | filecheck %s
// RUN: mlc-opt %s -p winograd | filecheck %s --check-prefix DEAR

// Whatever it costs (gain=0), a 3x3 convolution is 36 products, its padding larger, and its map an epilogue.

func.func @main(%x: tensor<1x2x12x16x4xf32>, %b: tensor<1x3x1x1x4xf32>) -> tensor<1x3x12x14x4xf32> {
  %p = graph.pad(%x) {graph.node = ["/pad"], low = ["0", "0", "1", "0", "0"], high = ["0", "0", "1", "0", "0"], interior = array<i64: 0, 0, 0, 0, 0>, value = "(0.0)"} : (tensor<1x2x12x16x4xf32>) -> tensor<1x2x14x16x4xf32>
  %w = graph.weight "w" : tensor<3x2x3x3x4x4xf32>
  %0 = graph.conv(%p, %w) {graph.node = ["/conv"], strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, layouts = [#graph.layout<"aBcd4b">, #graph.layout<"ABcd4b4a">, #graph.layout<"aBcd4b">]} : (tensor<1x2x14x16x4xf32>, tensor<3x2x3x3x4x4xf32>) -> tensor<1x3x12x14x4xf32>
  %1 = graph.map "max(x0 + x1, 0)"(%0, %b) {graph.node = ["/relu"]} : (tensor<1x3x12x14x4xf32>, tensor<1x3x1x1x4xf32>) -> tensor<1x3x12x14x4xf32>
  func.return %1 : tensor<1x3x12x14x4xf32>
}

// CHECK:      func.func @main(%x: tensor<1x2x12x16x4xf32>, %b: tensor<1x3x1x1x4xf32>) -> tensor<1x3x12x14x4xf32> {
// CHECK-NEXT: %w = graph.weight "w" : tensor<3x2x3x3x4x4xf32>
// CHECK-NEXT: %0 = graph.pad(%x) {graph.node = ["/pad"], low = ["0", "0", "1", "0", "0"], high = ["0", "0", "1", "2", "0"], interior = array<i64: 0, 0, 0, 0, 0>, value = "(0.0)"} : (tensor<1x2x12x16x4xf32>) -> tensor<1x2x14x18x4xf32>
// CHECK-NEXT: %1 = graph.winograd_rows(%0) {graph.node = ["/conv", "/relu"], m = 4 : i64} : (tensor<1x2x14x18x4xf32>) -> tensor<1x2x3x6x18x4xf32>
// CHECK-NEXT: %2 = graph.winograd_input(%1) {graph.node = ["/conv", "/relu"], m = 4 : i64} : (tensor<1x2x3x6x18x4xf32>) -> tensor<1x72x3x4x4xf32>
// CHECK-NEXT: %3 = graph.reshape(%2) {graph.node = ["/conv", "/relu"], shape = ["1", "72", "12", "4"]} : (tensor<1x72x3x4x4xf32>) -> tensor<1x72x12x4xf32>
// CHECK-NEXT: %4 = graph.constant dense<{{.*}}> : tensor<6x3xf32>
// CHECK-NEXT: %5 = graph.contract "ai,FCijcf->FCajcf"(%4, %w) {graph.node = ["/conv", "/relu"]} : (tensor<6x3xf32>, tensor<3x2x3x3x4x4xf32>) -> tensor<3x2x6x3x4x4xf32>
// CHECK-NEXT: %6 = graph.contract "bj,FCajcf->abFCcf"(%4, %5) {graph.node = ["/conv", "/relu"]} : (tensor<6x3xf32>, tensor<3x2x6x3x4x4xf32>) -> tensor<6x6x3x2x4x4xf32>
// CHECK-NEXT: %7 = graph.reshape(%6) {graph.node = ["/conv", "/relu"], shape = ["108", "2", "1", "4", "4"]} : (tensor<6x6x3x2x4x4xf32>) -> tensor<108x2x1x4x4xf32>
// CHECK-NEXT: %8 = graph.conv(%3, %7) {graph.node = ["/conv", "/relu"], strides = array<i64: 1>, dilations = array<i64: 1>, groups = 36 : i64, layouts = [#graph.layout<"aBc4b">, #graph.layout<"ABc4b4a">, #graph.layout<"aBc4b">]} : (tensor<1x72x12x4xf32>, tensor<108x2x1x4x4xf32>) -> tensor<1x108x12x4xf32>
// CHECK-NEXT: %9 = graph.reshape(%8) {graph.node = ["/conv", "/relu"], shape = ["1", "108", "3", "4", "4"]} : (tensor<1x108x12x4xf32>) -> tensor<1x108x3x4x4xf32>
// CHECK-NEXT: %10 = graph.winograd_sums(%9) {graph.node = ["/conv", "/relu"], m = 4 : i64, extents = array<i64: 12, 14>} : (tensor<1x108x3x4x4xf32>) -> tensor<1x3x3x4x4x6x4xf32>
// CHECK-NEXT: %11 = graph.winograd_output "max(x0 + x1, 0)"(%10, %b) {graph.node = ["/conv", "/relu"], m = 4 : i64, extents = array<i64: 12, 14>} : (tensor<1x3x3x4x4x6x4xf32>, tensor<1x3x1x1x4xf32>) -> tensor<1x3x12x14x4xf32>
// CHECK-NEXT: func.return %11 : tensor<1x3x12x14x4xf32>

// DEAR:      %p = graph.pad(%x)
// DEAR-NEXT: %w = graph.weight "w" : tensor<3x2x3x3x4x4xf32>
// DEAR-NEXT: %0 = graph.conv(%p, %w)
// DEAR-NEXT: %1 = graph.map "max(x0 + x1, 0)"(%0, %b)
