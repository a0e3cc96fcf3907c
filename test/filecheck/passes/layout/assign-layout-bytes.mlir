// RUN: mlc-opt %s --for-target x86-64-v4:vector_bits=256 -p 'assign-layout,decompose-pack' | filecheck %s

func.func @main(%x: tensor<1x6x4x4xui8>) -> tensor<1x12x2x2xi32> {
  %w = graph.weight "w" : tensor<12x6x3x3xi8>
  %0 = graph.conv(%x, %w) {graph.node = ["/c"], strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, product = "i32(x0) * i32(x1)"} : (tensor<1x6x4x4xui8>, tensor<12x6x3x3xi8>) -> tensor<1x12x2x2xi32>
  func.return %0 : tensor<1x12x2x2xi32>
}

// CHECK:      func.func @main(%x: tensor<1x6x4x4xui8>) -> tensor<1x12x2x2xi32> {
// CHECK-NEXT: %w = graph.weight "w" : tensor<12x6x3x3xi8>
// CHECK-NEXT: %0 = graph.pad(%x) {graph.node = ["/c"], low = ["0", "0", "0", "0"], high = ["0", "2", "0", "0"], interior = array<i64: 0, 0, 0, 0>, value = "0"} : (tensor<1x6x4x4xui8>) -> tensor<1x8x4x4xui8>
// CHECK-NEXT: %1 = graph.reshape(%0) {graph.node = ["/c"], shape = ["1", "1", "8", "4", "4"]} : (tensor<1x8x4x4xui8>) -> tensor<1x1x8x4x4xui8>
// CHECK-NEXT: %2 = graph.transpose(%1) {graph.node = ["/c"], perm = array<i64: 0, 1, 3, 4, 2>} : (tensor<1x1x8x4x4xui8>) -> tensor<1x1x4x4x8xui8>
// CHECK-NEXT: %3 = graph.pad(%w) {graph.node = ["/c"], low = ["0", "0", "0", "0"], high = ["0", "2", "0", "0"], interior = array<i64: 0, 0, 0, 0>, value = "0"} : (tensor<12x6x3x3xi8>) -> tensor<12x8x3x3xi8>
// CHECK-NEXT: %4 = graph.reshape(%3) {graph.node = ["/c"], shape = ["12", "1", "8", "3", "3"]} : (tensor<12x8x3x3xi8>) -> tensor<12x1x8x3x3xi8>
// CHECK-NEXT: %5 = graph.pad(%4) {graph.node = ["/c"], low = ["0", "0", "0", "0", "0"], high = ["4", "0", "0", "0", "0"], interior = array<i64: 0, 0, 0, 0, 0>, value = "0"} : (tensor<12x1x8x3x3xi8>) -> tensor<16x1x8x3x3xi8>
// CHECK-NEXT: %6 = graph.reshape(%5) {graph.node = ["/c"], shape = ["2", "8", "1", "8", "3", "3"]} : (tensor<16x1x8x3x3xi8>) -> tensor<2x8x1x8x3x3xi8>
// CHECK-NEXT: %7 = graph.transpose(%6) {graph.node = ["/c"], perm = array<i64: 0, 2, 4, 5, 3, 1>} : (tensor<2x8x1x8x3x3xi8>) -> tensor<2x1x3x3x8x8xi8>
// CHECK-NEXT: %8 = graph.transpose(%7) {graph.node = ["/c"], perm = array<i64: 0, 1, 2, 3, 5, 4>} : (tensor<2x1x3x3x8x8xi8>) -> tensor<2x1x3x3x8x8xi8>
// CHECK-NEXT: %9 = graph.bitcast(%8) {graph.node = ["/c"], element = "i32"} : (tensor<2x1x3x3x8x8xi8>) -> tensor<2x1x3x3x8x2xi32>
// CHECK-NEXT: %10 = graph.transpose(%9) {graph.node = ["/c"], perm = array<i64: 0, 1, 2, 3, 5, 4>} : (tensor<2x1x3x3x8x2xi32>) -> tensor<2x1x3x3x2x8xi32>
// CHECK-NEXT: %11 = graph.bitcast(%2) {graph.node = ["/c"], element = "i32"} : (tensor<1x1x4x4x8xui8>) -> tensor<1x1x4x4x2xi32>
// CHECK-NEXT: %12 = graph.conv(%11, %10) {graph.node = ["/c"], strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, product = "dot4(x0, x1)", layouts = [#graph.layout<"aBcd2b">, #graph.layout<"ABcd2b8a">, #graph.layout<"aBcd8b">]} : (tensor<1x1x4x4x2xi32>, tensor<2x1x3x3x2x8xi32>) -> tensor<1x2x2x2x8xi32>
// CHECK-NEXT: %13 = graph.transpose(%12) {graph.node = ["/c"], perm = array<i64: 0, 1, 4, 2, 3>} : (tensor<1x2x2x2x8xi32>) -> tensor<1x2x8x2x2xi32>
// CHECK-NEXT: %14 = graph.reshape(%13) {graph.node = ["/c"], shape = ["1", "16", "2", "2"]} : (tensor<1x2x8x2x2xi32>) -> tensor<1x16x2x2xi32>
// CHECK-NEXT: %15 = graph.slice(%14) {graph.node = ["/c"], starts = ["0", "0", "0", "0"], sizes = ["1", "12", "2", "2"], steps = array<i64: 1, 1, 1, 1>} : (tensor<1x16x2x2xi32>) -> tensor<1x12x2x2xi32>
// CHECK-NEXT: func.return %15 : tensor<1x12x2x2xi32>
