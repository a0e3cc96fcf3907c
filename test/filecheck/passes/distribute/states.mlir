// RUN: mlc-opt %s -p 'insert-reshards{axis="a"},verify-spmd{axis="a"},partition{axis="a"},verify-graph' --split-input-file --verify-diagnostics | filecheck %s

// Each change of state is one collective of the axis: all_gather, all_to_all and reduce_scatter.

builtin.module attributes {dist.mesh = #dist.mesh<["a", "b"], array<i64: 2, 3>>} {
  func.func @main(%x: tensor<4x6xf32> {graph.name = "x", dist.state = #dist.split<1>}, %p: tensor<4x6xf32> {graph.name = "p", dist.state = #dist.partial<"add">}) -> (tensor<4x6xf32> {graph.name = "y"}, tensor<4x6xf32> {graph.name = "z"}) {
    %y = graph.map "tanh(x0)"(%x) {dist.operands = [#dist.split<0>], dist.result = #dist.split<0>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %z = graph.map "tanh(x0)"(%p) {dist.operands = [#dist.split<0>], dist.result = #dist.split<0>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
    func.return {dist.operands = [#dist.whole, #dist.split<0>]} %y, %z : tensor<4x6xf32>, tensor<4x6xf32>
  }
}
// CHECK:      comm.all_to_all(%{{.*}}) {ranks = 2 : i64, group = array<i64: 2, 3, 6>} : (tensor<4x3xf32>) -> tensor<4x3xf32>
// CHECK:      graph.map "tanh(x0)"(%{{.*}}) : (tensor<2x6xf32>) -> tensor<2x6xf32>
// CHECK:      comm.reduce_scatter "add"(%p) {ranks = 2 : i64, group = array<i64: 2, 3, 6>} : (tensor<4x6xf32>) -> tensor<2x6xf32>
// CHECK:      comm.all_gather(%{{.*}}) {ranks = 2 : i64, group = array<i64: 2, 3, 6>} : (tensor<2x6xf32>) -> tensor<4x6xf32>

// -----

// A window takes its borders from the neighbours, a gather from a divided table is masked, an iterator counts all ranks' elements.

builtin.module attributes {dist.mesh = #dist.mesh<["a"], array<i64: 2>>} {
  func.func @main(%x: tensor<1x1x10xf32> {graph.name = "x", dist.state = #dist.split<2>}, %k: tensor<1x1x3xf32> {graph.name = "k", dist.state = #dist.whole}, %t: tensor<6x2xf32> {graph.name = "t", dist.state = #dist.split<0>}, %i: tensor<4xi64> {graph.name = "i", dist.state = #dist.whole}) -> (tensor<1x1x8xf32> {graph.name = "y"}, tensor<4x2xf32> {graph.name = "z"}, tensor<8xi64> {graph.name = "n"}) {
    %y = graph.conv(%x, %k) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64, dist.operands = [#dist.window<2, 4, 0, 6>, #dist.whole], dist.result = #dist.split<2>} : (tensor<1x1x10xf32>, tensor<1x1x3xf32>) -> tensor<1x1x8xf32>
    %z = graph.compute "x0[x1[i0], i1]"(%t, %i) {shape = ["4", "2"], reduce = [], dist.operands = [#dist.split<0>, #dist.whole], dist.result = #dist.partial<"add">} : (tensor<6x2xf32>, tensor<4xi64>) -> tensor<4x2xf32>
    %n = graph.compute "i0"() {shape = ["8"], reduce = [], dist.operands = [], dist.result = #dist.split<0>} : () -> tensor<8xi64>
    func.return {dist.operands = [#dist.split<2>, #dist.whole, #dist.split<0>]} %y, %z, %n : tensor<1x1x8xf32>, tensor<4x2xf32>, tensor<8xi64>
  }
}
// CHECK:      comm.permute(%{{.*}}) {pairs = array<i64: 0, 1>, group = array<i64: 2, 1, 2>} : (tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
// CHECK:      comm.permute(%{{.*}}) {pairs = array<i64: 1, 0>, group = array<i64: 2, 1, 2>} : (tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
// CHECK:      graph.conv({{.*}} : (tensor<1x1x6xf32>, tensor<1x1x3xf32>) -> tensor<1x1x4xf32>
// CHECK:      graph.compute "where(((
// CHECK:      graph.compute "(i0 + (x0[()] * 4))"(%{{.*}}) {shape = ["4"], reduce = []}

// -----

builtin.module attributes {dist.mesh = #dist.mesh<["a"], array<i64: 2>>} {
  func.func @main(%x: tensor<4x6xf32> {graph.name = "x", dist.state = #dist.partial<"add">}) -> (tensor<4x6xf32> {graph.name = "y"}) {
    %y = graph.map "tanh(x0)"(%x) {dist.operands = [#dist.partial<"add">], dist.result = #dist.partial<"add">} : (tensor<4x6xf32>) -> tensor<4x6xf32>
    func.return {dist.operands = [#dist.whole]} %y : tensor<4x6xf32>
  }
}
// CHECK: graph.map of operands partial add with result partial add keeps no partial value

// -----

builtin.module attributes {dist.mesh = #dist.mesh<["a"], array<i64: 2>>} {
  func.func @main(%x: tensor<4x6xf32> {graph.name = "x", dist.state = #dist.split<0>}) -> (tensor<6x4xf32> {graph.name = "y"}) {
    %y = graph.transpose(%x) {perm = array<i64: 1, 0>, dist.operands = [#dist.split<0>], dist.result = #dist.split<0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
    func.return {dist.operands = [#dist.whole]} %y : tensor<6x4xf32>
  }
}
// CHECK: graph.transpose of operands split 0 with result split 0 is not proved
