// RUN: mlc-opt %s -p 'winograd-gradients{gain=0.0}' | filecheck %s
// RUN: mlc-opt %s -p winograd-gradients | filecheck %s --check-prefix DEAR

// Whatever it costs (gain=0), a derivative by 3x3 filters is 36 products; a cut last tile is filled with zeros.

func.func @main(%x: tensor<5x2x6x9x4xf32>, %y: tensor<5x3x4x7x4xf32>) -> tensor<2x3x3x3x4x4xf32> {
  %0 = graph.conv(%x, %y) {graph.node = ["/loss"], strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, layouts = [#graph.layout<"bAcd4a">, #graph.layout<"bAcd4a">, #graph.layout<"ABcd4a4b">]} : (tensor<5x2x6x9x4xf32>, tensor<5x3x4x7x4xf32>) -> tensor<2x3x3x3x4x4xf32>
  func.return %0 : tensor<2x3x3x3x4x4xf32>
}

// CHECK:      func.func @main(%x: tensor<5x2x6x9x4xf32>, %y: tensor<5x3x4x7x4xf32>) -> tensor<2x3x3x3x4x4xf32> {
// CHECK-NEXT: %0 = graph.reshape(%x) {graph.node = ["/loss"], shape = ["5", "2", "6", "9", "4"], barrier} : (tensor<5x2x6x9x4xf32>) -> tensor<5x2x6x9x4xf32>
// CHECK-NEXT: %1 = graph.pad(%0) {graph.node = ["/loss"], low = ["0", "0", "0", "0", "0"], high = ["0", "0", "0", "1", "0"], interior = array<i64: 0, 0, 0, 0, 0>, value = "0"} : (tensor<5x2x6x9x4xf32>) -> tensor<5x2x6x10x4xf32>
// CHECK-NEXT: %2 = graph.winograd_rows(%1) {graph.node = ["/loss"], m = 4 : i64} : (tensor<5x2x6x10x4xf32>) -> tensor<5x2x1x6x10x4xf32>
// CHECK-NEXT: %3 = graph.winograd_points(%2) {graph.node = ["/loss"], m = 4 : i64} : (tensor<5x2x1x6x10x4xf32>) -> tensor<36x2x5x1x2x4xf32>
// CHECK-NEXT: %4 = graph.reshape(%3) {graph.node = ["/loss"], shape = ["36", "2", "10", "4"]} : (tensor<36x2x5x1x2x4xf32>) -> tensor<36x2x10x4xf32>
// CHECK-NEXT: %5 = graph.pad(%y) {graph.node = ["/loss"], low = ["0", "0", "0", "0", "0"], high = ["0", "0", "0", "1", "0"], interior = array<i64: 0, 0, 0, 0, 0>, value = "0"} : (tensor<5x3x4x7x4xf32>) -> tensor<5x3x4x8x4xf32>
// CHECK-NEXT: %6 = graph.winograd_rows(%5) {graph.node = ["/loss"], m = 4 : i64, adjoint} : (tensor<5x3x4x8x4xf32>) -> tensor<5x3x1x6x8x4xf32>
// CHECK-NEXT: %7 = graph.winograd_points(%6) {graph.node = ["/loss"], m = 4 : i64, adjoint} : (tensor<5x3x1x6x8x4xf32>) -> tensor<36x3x5x1x2x4xf32>
// CHECK-NEXT: %8 = graph.reshape(%7) {graph.node = ["/loss"], shape = ["36", "3", "10", "4"]} : (tensor<36x3x5x1x2x4xf32>) -> tensor<36x3x10x4xf32>
// CHECK-NEXT: %9 = graph.contract "pCkc,pFkf->CFpcf"(%4, %8) {graph.node = ["/loss"]} : (tensor<36x2x10x4xf32>, tensor<36x3x10x4xf32>) -> tensor<2x3x36x4x4xf32>
// CHECK-NEXT: %10 = graph.winograd_tap_rows(%9) {graph.node = ["/loss"], m = 4 : i64} : (tensor<2x3x36x4x4xf32>) -> tensor<2x3x4x3x6x4xf32>
// CHECK-NEXT: %11 = graph.winograd_taps(%10) {graph.node = ["/loss"], m = 4 : i64} : (tensor<2x3x4x3x6x4xf32>) -> tensor<2x3x3x3x4x4xf32>
// CHECK-NEXT: func.return %11 : tensor<2x3x3x3x4x4xf32>

// DEAR:      %0 = graph.conv(%x, %y)
// DEAR-NEXT: func.return %0
