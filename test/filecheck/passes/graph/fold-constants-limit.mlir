// RUN: mlc-opt %s -p fold-constants | filecheck %s
// RUN: mlc-opt %s -p 'fold-constants{limit=64}' | filecheck %s --check-prefix SMALL

// What makes data out of little is computed up to the limit, 64 or 65536 bytes; a convolution's weight in any case.

func.func @main(%x: tensor<1x2x9xf32>) -> (tensor<5x5xf32>, tensor<1x3x6xf32>) {
  %c = graph.constant dense<0.5> : tensor<1xf32> : tensor<1xf32>
  %table = graph.compute "x0[0] + f32(i0 * 5 + i1)"(%c) {graph.node = ["/table"], shape = ["5", "5"], reduce = []} : (tensor<1xf32>) -> tensor<5x5xf32>
  %w = graph.broadcast(%c) {graph.node = ["/w"], shape = ["3", "2", "4"]} : (tensor<1xf32>) -> tensor<3x2x4xf32>
  %0 = graph.conv(%x, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x2x9xf32>, tensor<3x2x4xf32>) -> tensor<1x3x6xf32>
  func.return %table, %0 : tensor<5x5xf32>, tensor<1x3x6xf32>
}

// CHECK:      func.func @main(%x: tensor<1x2x9xf32>) -> (tensor<5x5xf32>, tensor<1x3x6xf32>) {
// CHECK-NEXT: %table = graph.weight "constant.folded" {graph.node = ["/table"]} : tensor<5x5xf32>
// CHECK-NEXT: %w = graph.weight "constant.folded.1" {graph.node = ["/w"]} : tensor<3x2x4xf32>
// CHECK-NEXT: %0 = graph.conv(%x, %w)

// SMALL:      %c = graph.constant
// SMALL-NEXT: %table = graph.compute "x0[0] + f32(i0 * 5 + i1)"(%c)
// SMALL-NEXT: %w = graph.weight "constant.folded" {graph.node = ["/w"]} : tensor<3x2x4xf32>
// SMALL-NEXT: %0 = graph.conv(%x, %w)
