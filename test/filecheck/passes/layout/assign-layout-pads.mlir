// RUN: mlc-opt %s --for-target x86-64-v4:vector_bits=128 -p 'assign-layout,decompose-pack' --split-input-file | filecheck %s

// What only a convolution reads is padded after the blocking, whose kernel then writes the padding as well.

func.func @of_an_input(%x: tensor<1x3x5x6xf32>) -> tensor<1x4x5x6xf32> {
  %w = graph.weight "w" : tensor<4x3x3x3xf32>
  %p = graph.pad(%x) {low = ["0", "0", "1", "2"], high = ["0", "0", "1", "0"], interior = array<i64: 0, 0, 0, 0>, value = "0"} : (tensor<1x3x5x6xf32>) -> tensor<1x3x7x8xf32>
  %y = graph.conv(%p, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x7x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x5x6xf32>
  func.return %y : tensor<1x4x5x6xf32>
}

// CHECK:      func.func @of_an_input(
// CHECK:      [[BLOCKS:%\w+]] = graph.transpose({{%\w+}}) {perm = array<i64: 0, 1, 3, 4, 2>} : (tensor<1x1x3x5x6xf32>) -> tensor<1x1x5x6x3xf32>
// CHECK-NEXT: [[PADDED:%\w+]] = graph.pad([[BLOCKS]]) {low = ["0", "0", "1", "2", "0"], high = ["0", "0", "1", "0", "0"], {{.*}}, value = "0"} : (tensor<1x1x5x6x3xf32>) -> tensor<1x1x7x8x3xf32>
// CHECK:      graph.conv([[PADDED]],

// -----

// Another reader needs it plain, lanes after the last channel may hold zeros alone, and channels are not in one place.

func.func @read_by_another(%x: tensor<1x3x5x6xf32>) -> (tensor<1x4x5x6xf32>, tensor<1x3x7x8xf32>) {
  %w = graph.weight "w" : tensor<4x3x3x3xf32>
  %p = graph.pad(%x) {low = ["0", "0", "1", "2"], high = ["0", "0", "1", "0"], interior = array<i64: 0, 0, 0, 0>, value = "0"} : (tensor<1x3x5x6xf32>) -> tensor<1x3x7x8xf32>
  %y = graph.conv(%p, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x7x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x5x6xf32>
  func.return %y, %p : tensor<1x4x5x6xf32>, tensor<1x3x7x8xf32>
}

// CHECK:      func.func @read_by_another(
// CHECK:      graph.pad(%x)

// -----

func.func @infinite(%x: tensor<1x5x5x6xf32>) -> tensor<1x4x5x6xf32> {
  %w = graph.weight "w" : tensor<4x5x3x3xf32>
  %p = graph.pad(%x) {low = ["0", "0", "1", "2"], high = ["0", "0", "1", "0"], interior = array<i64: 0, 0, 0, 0>, value = "-inf"} : (tensor<1x5x5x6xf32>) -> tensor<1x5x7x8xf32>
  %y = graph.conv(%p, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x5x7x8xf32>, tensor<4x5x3x3xf32>) -> tensor<1x4x5x6xf32>
  func.return %y : tensor<1x4x5x6xf32>
}

// CHECK:      func.func @infinite(
// CHECK:      graph.pad(%x)

// -----

func.func @of_channels(%x: tensor<1x3x7x8xf32>) -> tensor<1x4x5x6xf32> {
  %w = graph.weight "w" : tensor<4x5x3x3xf32>
  %p = graph.pad(%x) {low = ["0", "1", "0", "0"], high = ["0", "1", "0", "0"], interior = array<i64: 0, 0, 0, 0>, value = "0"} : (tensor<1x3x7x8xf32>) -> tensor<1x5x7x8xf32>
  %y = graph.conv(%p, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x5x7x8xf32>, tensor<4x5x3x3xf32>) -> tensor<1x4x5x6xf32>
  func.return %y : tensor<1x4x5x6xf32>
}

// CHECK:      func.func @of_channels(
// CHECK:      graph.pad(%x)
