// RUN: mlc-opt %s --for-target znver3 -p winograd-bytes --split-input-file | filecheck %s

func.func @tiles(%x: tensor<1x2x26x26x8xui8>, %s: tensor<1x4x1x1x8xf32>) -> tensor<1x4x24x24x8xf32> {
  %w = graph.weight "w" : tensor<4x2x3x3x2x8xi32>
  %i = graph.bitcast(%x) {element = "i32"} : (tensor<1x2x26x26x8xui8>) -> tensor<1x2x26x26x2xi32>
  %y = graph.conv(%i, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, product = "dot4(x0, x1)", layouts = [#graph.layout<"aBcd2b">, #graph.layout<"ABcd2b8a">, #graph.layout<"aBcd8b">]} : (tensor<1x2x26x26x2xi32>, tensor<4x2x3x3x2x8xi32>) -> tensor<1x4x24x24x8xi32>
  %z = graph.map "f32(x1) * x0"(%s, %y) : (tensor<1x4x1x1x8xf32>, tensor<1x4x24x24x8xi32>) -> tensor<1x4x24x24x8xf32>
  func.return %z : tensor<1x4x24x24x8xf32>
}

// CHECK:      func.func @tiles(%x: tensor<1x2x26x26x8xui8>, %s: tensor<1x4x1x1x8xf32>) -> tensor<1x4x24x24x8xf32> {
// CHECK-NEXT: %w = graph.weight "w" : tensor<4x2x3x3x2x8xi32>
// CHECK-NEXT: %0 = graph.winograd_rows(%x) {m = 2 : i64} : (tensor<1x2x26x26x8xui8>) -> tensor<1x2x12x4x26x8xi16>
// CHECK-NEXT: %1 = graph.winograd_input(%0) {m = 2 : i64} : (tensor<1x2x12x4x26x8xi16>) -> tensor<1x32x12x12x8xi16>
// CHECK-NEXT: %2 = graph.bitcast(%1) {element = "i32"} : (tensor<1x32x12x12x8xi16>) -> tensor<1x32x12x12x4xi32>
// CHECK-NEXT: %3 = graph.constant dense<[[-2, 0, 0], [1, 1, 1], [1, -1, 1], [0, 0, 2]]> : tensor<4x3xi32> : tensor<4x3xi32>
// CHECK-NEXT: %4 = graph.map "((x0 << 24) >> 24)"(%w) : (tensor<4x2x3x3x2x8xi32>) -> tensor<4x2x3x3x2x8xi32>
// CHECK-NEXT: %5 = graph.contract "ai,FCijwf->FCajwf"(%3, %4) : (tensor<4x3xi32>, tensor<4x2x3x3x2x8xi32>) -> tensor<4x2x4x3x2x8xi32>
// CHECK-NEXT: %6 = graph.contract "bj,FCajwf->abFCwf"(%3, %5) : (tensor<4x3xi32>, tensor<4x2x4x3x2x8xi32>) -> tensor<4x4x4x2x2x8xi32>
// CHECK-NEXT: %7 = graph.map "((x0 << 16) >> 24)"(%w) : (tensor<4x2x3x3x2x8xi32>) -> tensor<4x2x3x3x2x8xi32>
// CHECK-NEXT: %8 = graph.contract "ai,FCijwf->FCajwf"(%3, %7) : (tensor<4x3xi32>, tensor<4x2x3x3x2x8xi32>) -> tensor<4x2x4x3x2x8xi32>
// CHECK-NEXT: %9 = graph.contract "bj,FCajwf->abFCwf"(%3, %8) : (tensor<4x3xi32>, tensor<4x2x4x3x2x8xi32>) -> tensor<4x4x4x2x2x8xi32>
// CHECK-NEXT: %10 = graph.map "((x0 << 8) >> 24)"(%w) : (tensor<4x2x3x3x2x8xi32>) -> tensor<4x2x3x3x2x8xi32>
// CHECK-NEXT: %11 = graph.contract "ai,FCijwf->FCajwf"(%3, %10) : (tensor<4x3xi32>, tensor<4x2x3x3x2x8xi32>) -> tensor<4x2x4x3x2x8xi32>
// CHECK-NEXT: %12 = graph.contract "bj,FCajwf->abFCwf"(%3, %11) : (tensor<4x3xi32>, tensor<4x2x4x3x2x8xi32>) -> tensor<4x4x4x2x2x8xi32>
// CHECK-NEXT: %13 = graph.map "((x0 << 0) >> 24)"(%w) : (tensor<4x2x3x3x2x8xi32>) -> tensor<4x2x3x3x2x8xi32>
// CHECK-NEXT: %14 = graph.contract "ai,FCijwf->FCajwf"(%3, %13) : (tensor<4x3xi32>, tensor<4x2x3x3x2x8xi32>) -> tensor<4x2x4x3x2x8xi32>
// CHECK-NEXT: %15 = graph.contract "bj,FCajwf->abFCwf"(%3, %14) : (tensor<4x3xi32>, tensor<4x2x4x3x2x8xi32>) -> tensor<4x4x4x2x2x8xi32>
// CHECK-NEXT: %16 = graph.map "((x0 & 65535) | (x1 << 16))"(%6, %9) : (tensor<4x4x4x2x2x8xi32>, tensor<4x4x4x2x2x8xi32>) -> tensor<4x4x4x2x2x8xi32>
// CHECK-NEXT: %17 = graph.map "((x0 & 65535) | (x1 << 16))"(%12, %15) : (tensor<4x4x4x2x2x8xi32>, tensor<4x4x4x2x2x8xi32>) -> tensor<4x4x4x2x2x8xi32>
// CHECK-NEXT: %18 = graph.reshape(%16) {shape = ["4", "4", "4", "2", "2", "1", "8"]} : (tensor<4x4x4x2x2x8xi32>) -> tensor<4x4x4x2x2x1x8xi32>
// CHECK-NEXT: %19 = graph.reshape(%17) {shape = ["4", "4", "4", "2", "2", "1", "8"]} : (tensor<4x4x4x2x2x8xi32>) -> tensor<4x4x4x2x2x1x8xi32>
// CHECK-NEXT: %20 = graph.concat(%18, %19) {axis = 5 : i64} : (tensor<4x4x4x2x2x1x8xi32>, tensor<4x4x4x2x2x1x8xi32>) -> tensor<4x4x4x2x2x2x8xi32>
// CHECK-NEXT: %21 = graph.reshape(%20) {shape = ["64", "2", "1", "1", "4", "8"]} : (tensor<4x4x4x2x2x2x8xi32>) -> tensor<64x2x1x1x4x8xi32>
// CHECK-NEXT: %22 = graph.conv(%2, %21) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 16 : i64, product = "dot2_i16(x0, x1)", layouts = [#graph.layout<"aBcd4b">, #graph.layout<"ABcd4b8a">, #graph.layout<"aBcd8b">]} : (tensor<1x32x12x12x4xi32>, tensor<64x2x1x1x4x8xi32>) -> tensor<1x64x12x12x8xi32>
// CHECK-NEXT: %23 = graph.winograd_sums(%22) {m = 2 : i64, extents = array<i64: 24, 24>} : (tensor<1x64x12x12x8xi32>) -> tensor<1x4x12x2x12x4x8xi32>
// CHECK-NEXT: %z = graph.winograd_output "(f32(x0) * x1)"(%23, %s) {m = 2 : i64, extents = array<i64: 24, 24>} : (tensor<1x4x12x2x12x4x8xi32>, tensor<1x4x1x1x8xf32>) -> tensor<1x4x24x24x8xf32>
// CHECK-NEXT: func.return %z : tensor<1x4x24x24x8xf32>

// -----

// Strides have no tiles.
func.func @strides(%x: tensor<1x2x25x25x8xui8>) -> tensor<1x4x12x12x8xi32> {
  %w = graph.weight "w" : tensor<4x2x3x3x2x8xi32>
  %i = graph.bitcast(%x) {element = "i32"} : (tensor<1x2x25x25x8xui8>) -> tensor<1x2x25x25x2xi32>
  %y = graph.conv(%i, %w) {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, groups = 1 : i64, product = "dot4(x0, x1)", layouts = [#graph.layout<"aBcd2b">, #graph.layout<"ABcd2b8a">, #graph.layout<"aBcd8b">]} : (tensor<1x2x25x25x2xi32>, tensor<4x2x3x3x2x8xi32>) -> tensor<1x4x12x12x8xi32>
  func.return %y : tensor<1x4x12x12x8xi32>
}

// CHECK:      func.func @strides(%x: tensor<1x2x25x25x8xui8>) -> tensor<1x4x12x12x8xi32> {
// CHECK-NEXT: %w = graph.weight "w" : tensor<4x2x3x3x2x8xi32>
// CHECK-NEXT: %i = graph.bitcast(%x) {element = "i32"} : (tensor<1x2x25x25x8xui8>) -> tensor<1x2x25x25x2xi32>
// CHECK-NEXT: %y = graph.conv(%i, %w) {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, groups = 1 : i64, product = "dot4(x0, x1)", layouts = [#graph.layout<"aBcd2b">, #graph.layout<"ABcd2b8a">, #graph.layout<"aBcd8b">]} : (tensor<1x2x25x25x2xi32>, tensor<4x2x3x3x2x8xi32>) -> tensor<1x4x12x12x8xi32>
// CHECK-NEXT: func.return %y : tensor<1x4x12x12x8xi32>
