// RUN: mlc-opt %s -p 'propagate-shardings{axis="model"},insert-reshards{axis="model"},verify-spmd{axis="model"}' | filecheck %s --check-prefix STATES
// RUN: mlc-opt %s -p 'propagate-shardings{axis="model"},insert-reshards{axis="model"},partition{axis="model"}' | filecheck %s --check-prefix LOCAL
// RUN: mlc-opt %s -p distribute,verify-graph | filecheck %s --check-prefix ALL

// One weight is divided by its columns. The other follows, by its rows, and the bias; one sum is left.

builtin.module attributes {dist.mesh = #dist.mesh<["model"], array<i64: 2>>} {
  func.func @main(%x: tensor<4x6xf32> {graph.name = "x"}, %w1: tensor<6x8xf32> {graph.name = "w1", dist.sharding = #dist.sharding<[[], ["model"]]>}, %b: tensor<8xf32> {graph.name = "b"}, %w2: tensor<8x6xf32> {graph.name = "w2"}) -> (tensor<4x6xf32> {graph.name = "y"}) {
    %h = graph.contract "mk,kn->mn"(%x, %w1) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    %a = graph.map "tanh(x0 + x1)"(%h, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    %y = graph.contract "mk,kn->mn"(%a, %w2) : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
    %z = graph.map "x0 + x1"(%y, %x) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    func.return %z : tensor<4x6xf32>
  }
}

// STATES: %w2: tensor<8x6xf32> {graph.name = "w2", dist.state = #dist.split<0>, dist.inferred = #dist.sharding<{{\[\[}}"model"{{\]\]}}>}
// STATES: %h = graph.contract "mk,kn->mn"(%x, %w1) {dist.operands = [#dist.whole, #dist.split<1>], dist.why = "dimension 1", dist.result = #dist.split<1>}
// STATES: %a = graph.map {{.*}} {dist.operands = [#dist.split<1>, #dist.split<0>], dist.why = "dimension 1", dist.result = #dist.split<1>}
// STATES: %y = graph.contract {{.*}} {dist.operands = [#dist.split<1>, #dist.split<0>], dist.why = "reduced k", dist.result = #dist.partial<"add">}
// STATES: %0 = dist.reshard(%y) {axis = "model", source = #dist.partial<"add">, target = #dist.whole, bytes = 96 : i64, why = "graph.map reads it whole: its operands are whole"}

// LOCAL: func.func @main(%x: tensor<4x6xf32> {graph.name = "x"}, %w1: tensor<6x4xf32>
// LOCAL: %y = graph.contract "mk,kn->mn"(%a, %w2) : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
// LOCAL: comm.all_reduce "add"(%y) {group = array<i64: 2, 1, 2>}

// ALL-NOT: dist.mesh
// ALL:     comm.all_reduce
// ALL-NOT: comm.
// ALL:     func.return
