// RUN: mlc-opt %s --verify-diagnostics --split-input-file | filecheck %s

func.func @map_shapes(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  %0 = graph.map "x0 + x1"(%x, %y) : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK:      shapes (2, 3), (2, 4) do not broadcast at axis 1

// -----

func.func @map_types(%x: tensor<2xf32>, %y: tensor<2xi64>) {
  %0 = graph.map "x0 + x1"(%x, %y) : (tensor<2xf32>, tensor<2xi64>) -> tensor<2xf32>
  func.return
}

// CHECK:      graph.map: (x0 + x1) mixes ['f32', 'i64']; insert a cast

// -----

func.func @map_result(%x: tensor<2xf32>) {
  %0 = graph.map "exp(x0)"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  func.return
}

// CHECK:      graph.map: the result type is tensor<3xf32>, inferred from the operands tensor<2xf32>

// -----

func.func @map_operands(%x: tensor<2xf32>) {
  %0 = graph.map "x0 + x1"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// CHECK:      graph.map: x0 + x1 reads x1 of 1 operands

// -----

func.func @map_function(%x: tensor<2xf32>) {
  %0 = graph.map "gelu(x0)"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// CHECK:      graph.map: gelu with 1 arguments: unknown function

// -----

func.func @contract_extent(%x: tensor<2x3xf32>, %y: tensor<4x5xf32>) {
  %0 = graph.contract "mk,kn->mn"(%x, %y) : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  func.return
}

// CHECK:      graph.contract: dimension 'k' is 3 and 4

// -----

func.func @contract_rank(%x: tensor<2x3xf32>, %y: tensor<3xf32>) {
  %0 = graph.contract "mk,kn->mn"(%x, %y) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK:      graph.contract: 'kn' names 2 dimensions of an operand of shape (3,)

// -----

func.func @contract_panels(%x: tensor<2x8xf32>, %p: tensor<3x8x4xf32>) {
  %0 = graph.contract "mk,kn->mn"(%x, %p) {layouts = [#graph.layout<"ab">, #graph.layout<"Ba4b", padding = [2]>, #graph.layout<"ab">]} : (tensor<2x8xf32>, tensor<3x8x4xf32>) -> tensor<2x6xf32>
  func.return
}

// CHECK:      graph.contract: the result type is tensor<2x6xf32>, inferred from the operands tensor<2x10xf32>

// -----

func.func @conv_channels(%x: tensor<1x8x9x10xf32>, %w: tensor<4x3x2x2xf32>) {
  %0 = graph.conv(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x8x9x10xf32>, tensor<4x3x2x2xf32>) -> tensor<1x4x8x9xf32>
  func.return
}

// CHECK:      graph.conv: channels of input (1, 8, 9, 10) and weight (4, 3, 2, 2) with 2 groups do not match

// -----

func.func @conv_layout(%x: tensor<1x8x9xf32>, %w: tensor<4x8x2xf32>) {
  %0 = graph.conv(%x, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64, layouts = [#graph.layout<"abc">, #graph.layout<"abc">]} : (tensor<1x8x9xf32>, tensor<4x8x2xf32>) -> tensor<1x4x8xf32>
  func.return
}

// CHECK:      2 layouts for 2 operands and a result

// -----

func.func @conv_window(%x: tensor<1x8x2xf32>, %w: tensor<4x8x9xf32>) {
  %0 = graph.conv(%x, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x8x2xf32>, tensor<4x8x9xf32>) -> tensor<1x4x1xf32>
  func.return
}

// CHECK:      graph.conv: window (9,) does not fit into input (1, 8, 2)

// -----

func.func @reduce_monoid(%x: tensor<2x3xf32>) {
  %0 = graph.reduce "mean"(%x) {axes = array<i64: 1>, keepdims = false} : (tensor<2x3xf32>) -> tensor<2xf32>
  func.return
}

// CHECK:      graph.reduce: 'mean' is none of add, mul, max, min, and_, or_

// -----

func.func @reduce_axes(%x: tensor<2x3xf32>) {
  %0 = graph.reduce "add"(%x) {axes = array<i64: 2>, keepdims = false} : (tensor<2x3xf32>) -> tensor<2xf32>
  func.return
}

// CHECK:      graph.reduce: axes [2] of an operand of rank 2

// -----

func.func @pool_window(%x: tensor<1x2x3xf32>) {
  %0 = graph.pool "max"(%x) {kernel = array<i64: 7>, strides = array<i64: 1>, dilations = array<i64: 1>} : (tensor<1x2x3xf32>) -> tensor<1x2x1xf32>
  func.return
}

// CHECK:      graph.pool: window [7] does not fit into input (1, 2, 3)

// -----

func.func @reshape(%x: tensor<2x3xf32>) {
  %0 = graph.reshape(%x) {shape = ["7"]} : (tensor<2x3xf32>) -> tensor<7xf32>
  func.return
}

// CHECK:      graph.reshape: (2, 3) has other elements than (7,)

// -----

func.func @transpose(%x: tensor<2x3xf32>) {
  %0 = graph.transpose(%x) {perm = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<2x2xf32>
  func.return
}

// CHECK:      graph.transpose: [0, 0] is not a permutation of 2 dimensions

// -----

func.func @broadcast(%x: tensor<2x3xf32>) {
  %0 = graph.broadcast(%x) {shape = ["4", "3"]} : (tensor<2x3xf32>) -> tensor<4x3xf32>
  func.return
}

// CHECK:      shapes (2, 3), (4, 3) do not broadcast at axis 0

// -----

func.func @slice(%x: tensor<5xf32>) {
  %0 = graph.slice(%x) {starts = ["2"], sizes = ["3"], steps = array<i64: 2>} : (tensor<5xf32>) -> tensor<3xf32>
  func.return
}

// CHECK:      graph.slice: elements 2..6 of a dimension of extent 5

// -----

func.func @pad(%x: tensor<5xf32>) {
  %0 = graph.pad(%x) {low = ["-1"], high = ["0"], interior = array<i64: 0>, value = "0"} : (tensor<5xf32>) -> tensor<4xf32>
  func.return
}

// CHECK:      graph.pad: negative padding [-1], [0]; use graph.slice

// -----

func.func @concat(%x: tensor<2x3xf32>, %y: tensor<3x3xf32>) {
  %0 = graph.concat(%x, %y) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x6xf32>
  func.return
}

// CHECK:      graph.concat: operands tensor<2x3xf32>, tensor<3x3xf32> differ in an axis other than 1

// -----

func.func @compute_monoid(%x: tensor<2x3xf32>) {
  %0 = graph.compute "x0[i0, r0]"(%x) {shape = ["2"], reduce = ["3"]} : (tensor<2x3xf32>) -> tensor<2xf32>
  func.return
}

// CHECK:      graph.compute: reduced extents [3] with the monoid None
