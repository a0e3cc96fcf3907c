// RUN: mlc-opt %s -p 'winograd{gain=0.0}' --split-input-file | filecheck %s

// A padding of another number is not made larger: the rows after the last tile would be ones.
func.func @ones(%x: tensor<1x2x12x14x4xf32>) -> tensor<1x3x12x14x4xf32> {
  %p = graph.pad(%x) {low = ["0", "0", "1", "1", "0"], high = ["0", "0", "1", "1", "0"], interior = array<i64: 0, 0, 0, 0, 0>, value = "1"} : (tensor<1x2x12x14x4xf32>) -> tensor<1x2x14x16x4xf32>
  %w = graph.weight "w" : tensor<3x2x3x3x4x4xf32>
  %0 = graph.conv(%p, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, layouts = [#graph.layout<"aBcd4b">, #graph.layout<"ABcd4b4a">, #graph.layout<"aBcd4b">]} : (tensor<1x2x14x16x4xf32>, tensor<3x2x3x3x4x4xf32>) -> tensor<1x3x12x14x4xf32>
  func.return %0 : tensor<1x3x12x14x4xf32>
}

// CHECK:      func.func @ones(%x: tensor<1x2x12x14x4xf32>) -> tensor<1x3x12x14x4xf32> {
// CHECK:      %p = graph.pad(%x) {low = ["0", "0", "1", "1", "0"], high = ["0", "0", "1", "1", "0"], interior = array<i64: 0, 0, 0, 0, 0>, value = "1"} : (tensor<1x2x12x14x4xf32>) -> tensor<1x2x14x16x4xf32>
// CHECK:      %0 = graph.pad(%p) {low = ["0", "0", "0", "0", "0"], high = ["0", "0", "0", "2", "0"], interior = array<i64: 0, 0, 0, 0, 0>, value = "0"} : (tensor<1x2x14x16x4xf32>) -> tensor<1x2x14x18x4xf32>
// CHECK:      %1 = graph.winograd_rows(%0) {m = 4 : i64} : (tensor<1x2x14x18x4xf32>) -> tensor<1x2x3x6x18x4xf32>
// CHECK:      %11 = graph.winograd_output "x0"(%10) {m = 4 : i64, extents = array<i64: 12, 14>} : (tensor<1x3x3x4x4x6x4xf32>) -> tensor<1x3x12x14x4xf32>
// CHECK:      func.return %11 : tensor<1x3x12x14x4xf32>

// -----

// A padding that something else reads keeps its shape.
func.func @padding_read_twice(%x: tensor<1x2x12x14x4xf32>) -> (tensor<1x3x12x14x4xf32>, tensor<1x2x14x16x4xf32>) {
  %p = graph.pad(%x) {low = ["0", "0", "1", "1", "0"], high = ["0", "0", "1", "1", "0"], interior = array<i64: 0, 0, 0, 0, 0>, value = "0"} : (tensor<1x2x12x14x4xf32>) -> tensor<1x2x14x16x4xf32>
  %w = graph.weight "w" : tensor<3x2x3x3x4x4xf32>
  %0 = graph.conv(%p, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, layouts = [#graph.layout<"aBcd4b">, #graph.layout<"ABcd4b4a">, #graph.layout<"aBcd4b">]} : (tensor<1x2x14x16x4xf32>, tensor<3x2x3x3x4x4xf32>) -> tensor<1x3x12x14x4xf32>
  %1 = graph.map "exp(x0)"(%p) : (tensor<1x2x14x16x4xf32>) -> tensor<1x2x14x16x4xf32>
  func.return %0, %1 : tensor<1x3x12x14x4xf32>, tensor<1x2x14x16x4xf32>
}

// CHECK:      func.func @padding_read_twice(%x: tensor<1x2x12x14x4xf32>) -> (tensor<1x3x12x14x4xf32>, tensor<1x2x14x16x4xf32>) {
// CHECK:      %p = graph.pad(%x) {low = ["0", "0", "1", "1", "0"], high = ["0", "0", "1", "1", "0"], interior = array<i64: 0, 0, 0, 0, 0>, value = "0"} : (tensor<1x2x12x14x4xf32>) -> tensor<1x2x14x16x4xf32>
// CHECK:      %0 = graph.pad(%p) {low = ["0", "0", "0", "0", "0"], high = ["0", "0", "0", "2", "0"], interior = array<i64: 0, 0, 0, 0, 0>, value = "0"} : (tensor<1x2x14x16x4xf32>) -> tensor<1x2x14x18x4xf32>
// CHECK:      %1 = graph.winograd_rows(%0) {m = 4 : i64} : (tensor<1x2x14x18x4xf32>) -> tensor<1x2x3x6x18x4xf32>
// CHECK:      %11 = graph.winograd_output "x0"(%10) {m = 4 : i64, extents = array<i64: 12, 14>} : (tensor<1x3x3x4x4x6x4xf32>) -> tensor<1x3x12x14x4xf32>
// CHECK:      %12 = graph.map "exp(x0)"(%p) : (tensor<1x2x14x16x4xf32>) -> tensor<1x2x14x16x4xf32>
// CHECK:      func.return %11, %12 : tensor<1x3x12x14x4xf32>, tensor<1x2x14x16x4xf32>

// -----

// A map is an epilogue where the convolution is its first operand, and nothing else reads that.
func.func @second_operand(%x: tensor<1x2x14x16x4xf32>, %y: tensor<1x3x12x14x4xf32>) -> tensor<1x3x12x14x4xf32> {
  %w = graph.weight "w" : tensor<3x2x3x3x4x4xf32>
  %0 = graph.conv(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, layouts = [#graph.layout<"aBcd4b">, #graph.layout<"ABcd4b4a">, #graph.layout<"aBcd4b">]} : (tensor<1x2x14x16x4xf32>, tensor<3x2x3x3x4x4xf32>) -> tensor<1x3x12x14x4xf32>
  %1 = graph.map "x0 - x1"(%y, %0) : (tensor<1x3x12x14x4xf32>, tensor<1x3x12x14x4xf32>) -> tensor<1x3x12x14x4xf32>
  func.return %1 : tensor<1x3x12x14x4xf32>
}

// CHECK:      func.func @second_operand(%x: tensor<1x2x14x16x4xf32>, %y: tensor<1x3x12x14x4xf32>) -> tensor<1x3x12x14x4xf32> {
// CHECK:      %0 = graph.pad(%x) {low = ["0", "0", "0", "0", "0"], high = ["0", "0", "0", "2", "0"], interior = array<i64: 0, 0, 0, 0, 0>, value = "0"} : (tensor<1x2x14x16x4xf32>) -> tensor<1x2x14x18x4xf32>
// CHECK:      %1 = graph.winograd_rows(%0) {m = 4 : i64} : (tensor<1x2x14x18x4xf32>) -> tensor<1x2x3x6x18x4xf32>
// CHECK:      %11 = graph.winograd_output "x0"(%10) {m = 4 : i64, extents = array<i64: 12, 14>} : (tensor<1x3x3x4x4x6x4xf32>) -> tensor<1x3x12x14x4xf32>
// CHECK:      %12 = graph.map "x0 - x1"(%y, %11) : (tensor<1x3x12x14x4xf32>, tensor<1x3x12x14x4xf32>) -> tensor<1x3x12x14x4xf32>
// CHECK:      func.return %12 : tensor<1x3x12x14x4xf32>

// -----

func.func @result_read_twice(%x: tensor<1x2x14x16x4xf32>) -> (tensor<1x3x12x14x4xf32>, tensor<1x3x12x14x4xf32>) {
  %w = graph.weight "w" : tensor<3x2x3x3x4x4xf32>
  %0 = graph.conv(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, layouts = [#graph.layout<"aBcd4b">, #graph.layout<"ABcd4b4a">, #graph.layout<"aBcd4b">]} : (tensor<1x2x14x16x4xf32>, tensor<3x2x3x3x4x4xf32>) -> tensor<1x3x12x14x4xf32>
  %1 = graph.map "exp(x0)"(%0) : (tensor<1x3x12x14x4xf32>) -> tensor<1x3x12x14x4xf32>
  %2 = graph.map "tanh(x0)"(%0) : (tensor<1x3x12x14x4xf32>) -> tensor<1x3x12x14x4xf32>
  func.return %1, %2 : tensor<1x3x12x14x4xf32>, tensor<1x3x12x14x4xf32>
}

// CHECK:      func.func @result_read_twice(%x: tensor<1x2x14x16x4xf32>) -> (tensor<1x3x12x14x4xf32>, tensor<1x3x12x14x4xf32>) {
// CHECK:      %0 = graph.pad(%x) {low = ["0", "0", "0", "0", "0"], high = ["0", "0", "0", "2", "0"], interior = array<i64: 0, 0, 0, 0, 0>, value = "0"} : (tensor<1x2x14x16x4xf32>) -> tensor<1x2x14x18x4xf32>
// CHECK:      %1 = graph.winograd_rows(%0) {m = 4 : i64} : (tensor<1x2x14x18x4xf32>) -> tensor<1x2x3x6x18x4xf32>
// CHECK:      %11 = graph.winograd_output "x0"(%10) {m = 4 : i64, extents = array<i64: 12, 14>} : (tensor<1x3x3x4x4x6x4xf32>) -> tensor<1x3x12x14x4xf32>
// CHECK:      %12 = graph.map "exp(x0)"(%11) : (tensor<1x3x12x14x4xf32>) -> tensor<1x3x12x14x4xf32>
// CHECK:      %13 = graph.map "tanh(x0)"(%11) : (tensor<1x3x12x14x4xf32>) -> tensor<1x3x12x14x4xf32>
// CHECK:      func.return %12, %13 : tensor<1x3x12x14x4xf32>, tensor<1x3x12x14x4xf32>
