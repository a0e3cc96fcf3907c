// RUN: mlc-opt %s --for-target x86-64-v4:vector_bits=128 -p 'assign-layout,decompose-pack' --verify-diagnostics --split-input-file | filecheck %s

// Depthwise and grouped convolutions in blocks; groups of less than a block and variable weights stay plain.

func.func @depthwise(%x: tensor<1x8x7xf32>) -> tensor<1x6x2xf32> {
  %u = graph.weight "u" : tensor<6x8x1xf32>
  %w = graph.weight "w" : tensor<6x1x3xf32>
  %c = graph.conv(%x, %u) {graph.node = ["/dense"], strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x8x7xf32>, tensor<6x8x1xf32>) -> tensor<1x6x7xf32>
  %0 = graph.conv(%c, %w) {graph.node = ["/depthwise"], strides = array<i64: 2>, dilations = array<i64: 1>, groups = 6 : i64} : (tensor<1x6x7xf32>, tensor<6x1x3xf32>) -> tensor<1x6x3xf32>
  %1 = graph.pool "max"(%0) {graph.node = ["/pool"], kernel = array<i64: 2>, strides = array<i64: 1>, dilations = array<i64: 1>} : (tensor<1x6x3xf32>) -> tensor<1x6x2xf32>
  func.return %1 : tensor<1x6x2xf32>
}

// CHECK:      func.func @depthwise(%x: tensor<1x8x7xf32>) -> tensor<1x6x2xf32> {
// CHECK-NEXT: %u = graph.weight "u" : tensor<6x8x1xf32>
// CHECK-NEXT: %w = graph.weight "w" : tensor<6x1x3xf32>
// CHECK-NEXT: %0 = graph.reshape(%x) {graph.node = ["/dense"], shape = ["1", "2", "4", "7"]} : (tensor<1x8x7xf32>) -> tensor<1x2x4x7xf32>
// CHECK-NEXT: %1 = graph.transpose(%0) {graph.node = ["/dense"], perm = array<i64: 0, 1, 3, 2>} : (tensor<1x2x4x7xf32>) -> tensor<1x2x7x4xf32>
// CHECK-NEXT: %2 = graph.reshape(%u) {graph.node = ["/dense"], shape = ["6", "2", "4", "1"]} : (tensor<6x8x1xf32>) -> tensor<6x2x4x1xf32>
// CHECK-NEXT: %3 = graph.pad(%2) {graph.node = ["/dense"], low = ["0", "0", "0", "0"], high = ["2", "0", "0", "0"], interior = array<i64: 0, 0, 0, 0>, value = "0"} : (tensor<6x2x4x1xf32>) -> tensor<8x2x4x1xf32>
// CHECK-NEXT: %4 = graph.reshape(%3) {graph.node = ["/dense"], shape = ["2", "4", "2", "4", "1"]} : (tensor<8x2x4x1xf32>) -> tensor<2x4x2x4x1xf32>
// CHECK-NEXT: %5 = graph.transpose(%4) {graph.node = ["/dense"], perm = array<i64: 0, 2, 4, 3, 1>} : (tensor<2x4x2x4x1xf32>) -> tensor<2x2x1x4x4xf32>
// CHECK-NEXT: %6 = graph.conv(%1, %5) {graph.node = ["/dense"], strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64, layouts = [#graph.layout<"aBc4b">, #graph.layout<"ABc4b4a">, #graph.layout<"aBc4b">]} : (tensor<1x2x7x4xf32>, tensor<2x2x1x4x4xf32>) -> tensor<1x2x7x4xf32>
// CHECK-NEXT: %7 = graph.pad(%w) {graph.node = ["/depthwise"], low = ["0", "0", "0"], high = ["2", "0", "0"], interior = array<i64: 0, 0, 0>, value = "0"} : (tensor<6x1x3xf32>) -> tensor<8x1x3xf32>
// CHECK-NEXT: %8 = graph.reshape(%7) {graph.node = ["/depthwise"], shape = ["2", "4", "1", "3"]} : (tensor<8x1x3xf32>) -> tensor<2x4x1x3xf32>
// CHECK-NEXT: %9 = graph.transpose(%8) {graph.node = ["/depthwise"], perm = array<i64: 0, 2, 3, 1>} : (tensor<2x4x1x3xf32>) -> tensor<2x1x3x4xf32>
// CHECK-NEXT: %10 = graph.conv(%6, %9) {graph.node = ["/depthwise"], strides = array<i64: 2>, dilations = array<i64: 1>, groups = 8 : i64, layouts = [#graph.layout<"aBc4b">, #graph.layout<"Abc4a">, #graph.layout<"aBc4b">]} : (tensor<1x2x7x4xf32>, tensor<2x1x3x4xf32>) -> tensor<1x2x3x4xf32>
// CHECK-NEXT: %11 = graph.pool "max"(%10) {graph.node = ["/pool"], kernel = array<i64: 2>, strides = array<i64: 1>, dilations = array<i64: 1>} : (tensor<1x2x3x4xf32>) -> tensor<1x2x2x4xf32>
// CHECK-NEXT: %12 = graph.transpose(%11) {graph.node = ["/pool"], perm = array<i64: 0, 1, 3, 2>} : (tensor<1x2x2x4xf32>) -> tensor<1x2x4x2xf32>
// CHECK-NEXT: %13 = graph.reshape(%12) {graph.node = ["/pool"], shape = ["1", "8", "2"]} : (tensor<1x2x4x2xf32>) -> tensor<1x8x2xf32>
// CHECK-NEXT: %14 = graph.slice(%13) {graph.node = ["/pool"], starts = ["0", "0", "0"], sizes = ["1", "6", "2"], steps = array<i64: 1, 1, 1>} : (tensor<1x8x2xf32>) -> tensor<1x6x2xf32>
// CHECK-NEXT: func.return %14 : tensor<1x6x2xf32>

// -----

// Rows of two elements would fill half of a vector.

func.func @depthwise_narrow(%x: tensor<1x8x4xf32>) -> tensor<1x8x2xf32> {
  %w = graph.weight "w" : tensor<8x1x3xf32>
  %0 = graph.conv(%x, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 8 : i64} : (tensor<1x8x4xf32>, tensor<8x1x3xf32>) -> tensor<1x8x2xf32>
  func.return %0 : tensor<1x8x2xf32>
}

// CHECK-LABEL: func.func @depthwise_narrow(
// CHECK:       graph.conv({{.*}}#graph.layout<"Abc4a">{{.*}} : (tensor<1x2x4x4xf32>, tensor<2x1x3x4xf32>) -> tensor<1x2x2x4xf32>

// -----

// These channels would not fill vectors either.

func.func @depthwise_narrow_uneven(%x: tensor<1x6x4xf32>) -> tensor<1x6x2xf32> {
  %w = graph.weight "w" : tensor<6x1x3xf32>
  %0 = graph.conv(%x, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 6 : i64} : (tensor<1x6x4xf32>, tensor<6x1x3xf32>) -> tensor<1x6x2xf32>
  func.return %0 : tensor<1x6x2xf32>
}

// CHECK-LABEL: func.func @depthwise_narrow_uneven(
// CHECK:       graph.conv({{.*}}groups = 6 : i64}

// -----

// What is not held in blocks stays so for a depthwise convolution.

func.func @depthwise_alone(%x: tensor<1x6x7xf32>) -> tensor<1x6x5xf32> {
  %w = graph.weight "w" : tensor<6x1x3xf32>
  %0 = graph.conv(%x, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 6 : i64} : (tensor<1x6x7xf32>, tensor<6x1x3xf32>) -> tensor<1x6x5xf32>
  func.return %0 : tensor<1x6x5xf32>
}

// CHECK:      func.func @depthwise_alone(%x: tensor<1x6x7xf32>) -> tensor<1x6x5xf32> {
// CHECK-NEXT: %w = graph.weight "w" : tensor<6x1x3xf32>
// CHECK-NEXT: %0 = graph.conv(%x, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 6 : i64} : (tensor<1x6x7xf32>, tensor<6x1x3xf32>) -> tensor<1x6x5xf32>
// CHECK-NEXT: func.return %0 : tensor<1x6x5xf32>

// -----

func.func @plain(%x: tensor<1x6x7xf32>, %w: tensor<4x6x3xf32>) -> (tensor<1x4x5xf32>, tensor<1x6x5xf32>) {
  %v = graph.weight "v" : tensor<6x3x3xf32>
  %0 = graph.conv(%x, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x6x7xf32>, tensor<4x6x3xf32>) -> tensor<1x4x5xf32>
  %1 = graph.conv(%x, %v) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 2 : i64} : (tensor<1x6x7xf32>, tensor<6x3x3xf32>) -> tensor<1x6x5xf32>
  func.return %0, %1 : tensor<1x4x5xf32>, tensor<1x6x5xf32>
}

// CHECK:      func.func @plain(%x: tensor<1x6x7xf32>, %w: tensor<4x6x3xf32>) -> (tensor<1x4x5xf32>, tensor<1x6x5xf32>) {
// CHECK-NEXT: %v = graph.weight "v" : tensor<6x3x3xf32>
// CHECK-NEXT: %0 = graph.conv(%x, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x6x7xf32>, tensor<4x6x3xf32>) -> tensor<1x4x5xf32>
// CHECK-NEXT: %1 = graph.conv(%x, %v) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 2 : i64} : (tensor<1x6x7xf32>, tensor<6x3x3xf32>) -> tensor<1x6x5xf32>
// CHECK-NEXT: func.return %0, %1 : tensor<1x4x5xf32>, tensor<1x6x5xf32>

// -----

func.func @grouped(%x: tensor<1x8x7xf64>) -> tensor<1x12x4xf64> {
  %w = graph.weight "w" : tensor<12x4x4xf64>
  %0 = graph.conv(%x, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 2 : i64} : (tensor<1x8x7xf64>, tensor<12x4x4xf64>) -> tensor<1x12x4xf64>
  func.return %0 : tensor<1x12x4xf64>
}

// CHECK:      func.func @grouped(%x: tensor<1x8x7xf64>) -> tensor<1x12x4xf64> {
// CHECK-NEXT: %w = graph.weight "w" : tensor<12x4x4xf64>
// CHECK-NEXT: %0 = graph.reshape(%x) {shape = ["1", "4", "2", "7"]} : (tensor<1x8x7xf64>) -> tensor<1x4x2x7xf64>
// CHECK-NEXT: %1 = graph.transpose(%0) {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x4x2x7xf64>) -> tensor<1x4x7x2xf64>
// CHECK-NEXT: %2 = graph.reshape(%w) {shape = ["12", "2", "2", "4"]} : (tensor<12x4x4xf64>) -> tensor<12x2x2x4xf64>
// CHECK-NEXT: %3 = graph.reshape(%2) {shape = ["6", "2", "2", "2", "4"]} : (tensor<12x2x2x4xf64>) -> tensor<6x2x2x2x4xf64>
// CHECK-NEXT: %4 = graph.transpose(%3) {perm = array<i64: 0, 2, 4, 3, 1>} : (tensor<6x2x2x2x4xf64>) -> tensor<6x2x4x2x2xf64>
// CHECK-NEXT: %5 = graph.conv(%1, %4) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 2 : i64, layouts = [#graph.layout<"aBc2b">, #graph.layout<"ABc2b2a">, #graph.layout<"aBc2b">]} : (tensor<1x4x7x2xf64>, tensor<6x2x4x2x2xf64>) -> tensor<1x6x4x2xf64>
// CHECK-NEXT: %6 = graph.transpose(%5) {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x6x4x2xf64>) -> tensor<1x6x2x4xf64>
// CHECK-NEXT: %7 = graph.reshape(%6) {shape = ["1", "12", "4"]} : (tensor<1x6x2x4xf64>) -> tensor<1x12x4xf64>
// CHECK-NEXT: func.return %7 : tensor<1x12x4xf64>
