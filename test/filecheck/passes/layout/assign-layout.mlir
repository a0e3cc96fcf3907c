// RUN: mlc-opt %s --for-target x86-64-v4:vector_bits=128 -p 'assign-layout,decompose-pack,canonicalize-graph' | filecheck %s

func.func @main(%x: tensor<?x3x5x6xf32, #graph.dims<["n", "3", "5", "6"]>>) -> tensor<?x8x3x5xf32, #graph.dims<["n", "8", "3", "5"]>> {
  %w = graph.weight "w" : tensor<6x3x3x2xf32>
  %bias = graph.weight "bias" : tensor<6x1x1xf32>
  %v = graph.weight "v" : tensor<8x6x1x1xf32>
  %0 = graph.conv(%x, %w) {graph.node = ["/conv"], strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x3x5x6xf32, #graph.dims<["n", "3", "5", "6"]>>, tensor<6x3x3x2xf32>) -> tensor<?x6x3x5xf32, #graph.dims<["n", "6", "3", "5"]>>
  %1 = graph.map "max(x0 + x1, 0)"(%0, %bias) {graph.node = ["/relu"]} : (tensor<?x6x3x5xf32, #graph.dims<["n", "6", "3", "5"]>>, tensor<6x1x1xf32>) -> tensor<?x6x3x5xf32, #graph.dims<["n", "6", "3", "5"]>>
  %2 = graph.conv(%1, %v) {graph.node = ["/pointwise"], strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x6x3x5xf32, #graph.dims<["n", "6", "3", "5"]>>, tensor<8x6x1x1xf32>) -> tensor<?x8x3x5xf32, #graph.dims<["n", "8", "3", "5"]>>
  func.return %2 : tensor<?x8x3x5xf32, #graph.dims<["n", "8", "3", "5"]>>
}

// CHECK:      func.func @main(%x: tensor<?x3x5x6xf32, #graph.dims<["n", "3", "5", "6"]>>) -> tensor<?x8x3x5xf32, #graph.dims<["n", "8", "3", "5"]>> {
// CHECK-NEXT: %w = graph.weight "w" : tensor<6x3x3x2xf32>
// CHECK-NEXT: %bias = graph.weight "bias" : tensor<6x1x1xf32>
// CHECK-NEXT: %v = graph.weight "v" : tensor<8x6x1x1xf32>
// CHECK-NEXT: %0 = graph.reshape(%x) {graph.node = ["/conv"], shape = ["n", "1", "3", "5", "6"]} : (tensor<?x3x5x6xf32, #graph.dims<["n", "3", "5", "6"]>>) -> tensor<?x1x3x5x6xf32, #graph.dims<["n", "1", "3", "5", "6"]>>
// CHECK-NEXT: %1 = graph.transpose(%0) {graph.node = ["/conv"], perm = array<i64: 0, 1, 3, 4, 2>} : (tensor<?x1x3x5x6xf32, #graph.dims<["n", "1", "3", "5", "6"]>>) -> tensor<?x1x5x6x3xf32, #graph.dims<["n", "1", "5", "6", "3"]>>
// CHECK-NEXT: %2 = graph.reshape(%w) {graph.node = ["/conv"], shape = ["6", "1", "3", "3", "2"]} : (tensor<6x3x3x2xf32>) -> tensor<6x1x3x3x2xf32>
// CHECK-NEXT: %3 = graph.pad(%2) {graph.node = ["/conv"], low = ["0", "0", "0", "0", "0"], high = ["2", "0", "0", "0", "0"], interior = array<i64: 0, 0, 0, 0, 0>, value = "0"} : (tensor<6x1x3x3x2xf32>) -> tensor<8x1x3x3x2xf32>
// CHECK-NEXT: %4 = graph.reshape(%3) {graph.node = ["/conv"], shape = ["2", "4", "1", "3", "3", "2"]} : (tensor<8x1x3x3x2xf32>) -> tensor<2x4x1x3x3x2xf32>
// CHECK-NEXT: %5 = graph.transpose(%4) {graph.node = ["/conv"], perm = array<i64: 0, 2, 4, 5, 3, 1>} : (tensor<2x4x1x3x3x2xf32>) -> tensor<2x1x3x2x3x4xf32>
// CHECK-NEXT: %6 = graph.conv(%1, %5) {graph.node = ["/conv"], strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, layouts = [#graph.layout<"aBcd3b">, #graph.layout<"ABcd3b4a">, #graph.layout<"aBcd4b">]} : (tensor<?x1x5x6x3xf32, #graph.dims<["n", "1", "5", "6", "3"]>>, tensor<2x1x3x2x3x4xf32>) -> tensor<?x2x3x5x4xf32, #graph.dims<["n", "2", "3", "5", "4"]>>
// CHECK-NEXT: %7 = graph.reshape(%bias) {graph.node = ["/relu"], shape = ["1", "6", "1", "1"]} : (tensor<6x1x1xf32>) -> tensor<1x6x1x1xf32>
// CHECK-NEXT: %8 = graph.pad(%7) {graph.node = ["/relu"], low = ["0", "0", "0", "0"], high = ["0", "2", "0", "0"], interior = array<i64: 0, 0, 0, 0>, value = "0"} : (tensor<1x6x1x1xf32>) -> tensor<1x8x1x1xf32>
// CHECK-NEXT: %9 = graph.reshape(%8) {graph.node = ["/relu"], shape = ["1", "2", "1", "1", "4"]} : (tensor<1x8x1x1xf32>) -> tensor<1x2x1x1x4xf32>
// CHECK-NEXT: %10 = graph.map "max((x0 + x1), 0)"(%6, %9) {graph.node = ["/relu"]} : (tensor<?x2x3x5x4xf32, #graph.dims<["n", "2", "3", "5", "4"]>>, tensor<1x2x1x1x4xf32>) -> tensor<?x2x3x5x4xf32, #graph.dims<["n", "2", "3", "5", "4"]>>
// CHECK-NEXT: %11 = graph.pad(%v) {graph.node = ["/pointwise"], low = ["0", "0", "0", "0"], high = ["0", "2", "0", "0"], interior = array<i64: 0, 0, 0, 0>, value = "0"} : (tensor<8x6x1x1xf32>) -> tensor<8x8x1x1xf32>
// CHECK-NEXT: %12 = graph.reshape(%11) {graph.node = ["/pointwise"], shape = ["2", "4", "2", "4", "1", "1"]} : (tensor<8x8x1x1xf32>) -> tensor<2x4x2x4x1x1xf32>
// CHECK-NEXT: %13 = graph.transpose(%12) {graph.node = ["/pointwise"], perm = array<i64: 0, 2, 4, 5, 3, 1>} : (tensor<2x4x2x4x1x1xf32>) -> tensor<2x2x1x1x4x4xf32>
// CHECK-NEXT: %14 = graph.reshape(%13) {graph.node = ["/pointwise"], shape = ["2", "2", "1", "4", "4"]} : (tensor<2x2x1x1x4x4xf32>) -> tensor<2x2x1x4x4xf32>
// CHECK-NEXT: %15 = graph.reshape(%10) {graph.node = ["/pointwise"], shape = ["n", "2", "15", "4"]} : (tensor<?x2x3x5x4xf32, #graph.dims<["n", "2", "3", "5", "4"]>>) -> tensor<?x2x15x4xf32, #graph.dims<["n", "2", "15", "4"]>>
// CHECK-NEXT: %16 = graph.conv(%15, %14) {graph.node = ["/pointwise"], strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64, layouts = [#graph.layout<"aBc4b">, #graph.layout<"ABc4b4a">, #graph.layout<"aBc4b">]} : (tensor<?x2x15x4xf32, #graph.dims<["n", "2", "15", "4"]>>, tensor<2x2x1x4x4xf32>) -> tensor<?x2x15x4xf32, #graph.dims<["n", "2", "15", "4"]>>
// CHECK-NEXT: %17 = graph.transpose(%16) {graph.node = ["/pointwise"], perm = array<i64: 0, 1, 3, 2>} : (tensor<?x2x15x4xf32, #graph.dims<["n", "2", "15", "4"]>>) -> tensor<?x2x4x15xf32, #graph.dims<["n", "2", "4", "15"]>>
// CHECK-NEXT: %18 = graph.reshape(%17) {graph.node = ["/pointwise"], shape = ["n", "8", "3", "5"]} : (tensor<?x2x4x15xf32, #graph.dims<["n", "2", "4", "15"]>>) -> tensor<?x8x3x5xf32, #graph.dims<["n", "8", "3", "5"]>>
// CHECK-NEXT: func.return %18 : tensor<?x8x3x5xf32, #graph.dims<["n", "8", "3", "5"]>>
