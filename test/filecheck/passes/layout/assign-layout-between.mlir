// RUN: mlc-opt %s --for-target x86-64-v4:vector_bits=128 -p 'assign-layout,decompose-pack' --verify-diagnostics --split-input-file | filecheck %s

// What stands between convolutions works on blocks, unless it cuts one or makes padding lanes infinite.

func.func @between(%x: tensor<1x2x6xf32>) -> (tensor<1x16x1xf32>, tensor<1x6xf32>) {
  %w = graph.weight "w" : tensor<8x2x2xf32>
  %0 = graph.conv(%x, %w) {graph.node = ["/conv"], strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x2x6xf32>, tensor<8x2x2xf32>) -> tensor<1x8x5xf32>
  %1 = graph.pad(%0) {graph.node = ["/pad"], low = ["0", "0", "1"], high = ["0", "0", "2"], interior = array<i64: 0, 0, 0>, value = "0"} : (tensor<1x8x5xf32>) -> tensor<1x8x8xf32>
  %2 = graph.concat(%1, %1) {graph.node = ["/concat"], axis = 1 : i64} : (tensor<1x8x8xf32>, tensor<1x8x8xf32>) -> tensor<1x16x8xf32>
  %3 = graph.reduce "add"(%2) {graph.node = ["/mean"], axes = array<i64: 2>, keepdims = true} : (tensor<1x16x8xf32>) -> tensor<1x16x1xf32>
  %4 = graph.slice(%0) {graph.node = ["/slice"], starts = ["0", "1", "0"], sizes = ["1", "6", "1"], steps = array<i64: 1, 1, 1>} : (tensor<1x8x5xf32>) -> tensor<1x6x1xf32>
  %5 = graph.reshape(%4) {graph.node = ["/flat"], shape = ["1", "6"]} : (tensor<1x6x1xf32>) -> tensor<1x6xf32>
  func.return %3, %5 : tensor<1x16x1xf32>, tensor<1x6xf32>
}

// CHECK:      %5 = graph.conv(%1, %4) {graph.node = ["/conv"], strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64, layouts = [#graph.layout<"aBc2b">, #graph.layout<"ABc2b4a">, #graph.layout<"aBc4b">]} : (tensor<1x1x6x2xf32>, tensor<2x1x2x2x4xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: %6 = graph.pad(%5) {graph.node = ["/pad"], low = ["0", "0", "1", "0"], high = ["0", "0", "2", "0"], interior = array<i64: 0, 0, 0, 0>, value = "0"} : (tensor<1x2x5x4xf32>) -> tensor<1x2x8x4xf32>
// CHECK-NEXT: %7 = graph.concat(%6, %6) {graph.node = ["/concat"], axis = 1 : i64} : (tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>) -> tensor<1x4x8x4xf32>
// CHECK-NEXT: %8 = graph.reduce "add"(%7) {graph.node = ["/mean"], axes = array<i64: 2>, keepdims = true} : (tensor<1x4x8x4xf32>) -> tensor<1x4x1x4xf32>
// CHECK-NEXT: %9 = graph.transpose(%5) {graph.node = ["/conv"], perm = array<i64: 0, 1, 3, 2>} : (tensor<1x2x5x4xf32>) -> tensor<1x2x4x5xf32>
// CHECK-NEXT: %10 = graph.reshape(%9) {graph.node = ["/conv"], shape = ["1", "8", "5"]} : (tensor<1x2x4x5xf32>) -> tensor<1x8x5xf32>
// CHECK-NEXT: %11 = graph.slice(%10) {graph.node = ["/slice"], starts = ["0", "1", "0"], sizes = ["1", "6", "1"], steps = array<i64: 1, 1, 1>} : (tensor<1x8x5xf32>) -> tensor<1x6x1xf32>
// CHECK-NEXT: %12 = graph.reshape(%11) {graph.node = ["/flat"], shape = ["1", "6"]} : (tensor<1x6x1xf32>) -> tensor<1x6xf32>
// CHECK-NEXT: %13 = graph.transpose(%8) {graph.node = ["/mean"], perm = array<i64: 0, 1, 3, 2>} : (tensor<1x4x1x4xf32>) -> tensor<1x4x4x1xf32>
// CHECK-NEXT: %14 = graph.reshape(%13) {graph.node = ["/mean"], shape = ["1", "16", "1"]} : (tensor<1x4x4x1xf32>) -> tensor<1x16x1xf32>
// CHECK-NEXT: func.return %14, %12 : tensor<1x16x1xf32>, tensor<1x6xf32>

// -----

func.func @padding_lanes(%x: tensor<1x2x6xf32>) -> tensor<1x6x5xf32> {
  %w = graph.weight "w" : tensor<6x2x2xf32>
  %0 = graph.conv(%x, %w) {graph.node = ["/conv"], strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x2x6xf32>, tensor<6x2x2xf32>) -> tensor<1x6x5xf32>
  %1 = graph.map "1.0 / x0"(%0) {graph.node = ["/div"]} : (tensor<1x6x5xf32>) -> tensor<1x6x5xf32>
  func.return %1 : tensor<1x6x5xf32>
}

// CHECK:      %6 = graph.conv(%1, %5) {graph.node = ["/conv"], strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64, layouts = [#graph.layout<"aBc2b">, #graph.layout<"ABc2b4a">, #graph.layout<"aBc4b">]} : (tensor<1x1x6x2xf32>, tensor<2x1x2x2x4xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: %7 = graph.transpose(%6) {graph.node = ["/conv"], perm = array<i64: 0, 1, 3, 2>} : (tensor<1x2x5x4xf32>) -> tensor<1x2x4x5xf32>
// CHECK-NEXT: %8 = graph.reshape(%7) {graph.node = ["/conv"], shape = ["1", "8", "5"]} : (tensor<1x2x4x5xf32>) -> tensor<1x8x5xf32>
// CHECK-NEXT: %9 = graph.slice(%8) {graph.node = ["/conv"], starts = ["0", "0", "0"], sizes = ["1", "6", "5"], steps = array<i64: 1, 1, 1>} : (tensor<1x8x5xf32>) -> tensor<1x6x5xf32>
// CHECK-NEXT: %10 = graph.map "1.0 / x0"(%9) {graph.node = ["/div"]} : (tensor<1x6x5xf32>) -> tensor<1x6x5xf32>
// CHECK-NEXT: func.return %10 : tensor<1x6x5xf32>
