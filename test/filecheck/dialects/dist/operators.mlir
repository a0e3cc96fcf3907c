// RUN: mlc-opt %s --split-input-file --verify-diagnostics | filecheck %s

builtin.module attributes {dist.mesh = #dist.mesh<["data", "model"], array<i64: 2, 3>>} {
  func.func @main(%x: tensor<4x6xf32> {dist.sharding = #dist.sharding<[["data"], []]>}) -> tensor<4x6xf32> {
    %0 = dist.shard(%x) {sharding = #dist.sharding<[[], ["model"]]>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %1 = dist.reshard(%0) {axis = "model", source = #dist.window<1, 2, -1, 4>, target = #dist.partial<"add">, bytes = 8 : i64, why = "a test"} : (tensor<4x6xf32>) -> tensor<4x6xf32>
    func.return %1 : tensor<4x6xf32>
  }
}
// CHECK: dist.mesh = #dist.mesh<["data", "model"], array<i64: 2, 3>>
// CHECK: dist.shard(%x) {sharding = #dist.sharding<[[], ["model"]]>}
// CHECK: source = #dist.window<1, 2, -1, 4>, target = #dist.partial<"add">

// -----

func.func @twice(%x: tensor<4x6xf32>) {
  %0 = dist.shard(%x) {sharding = #dist.sharding<[["data"], ["data"]]>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return
}
// CHECK: names an axis twice

// -----

func.func @rank(%x: tensor<4xf32>) {
  %0 = dist.shard(%x) {sharding = #dist.sharding<[["data"], []]>} : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}
// CHECK: dist.shard: 2 dimensions of a tensor<4xf32>

// -----

func.func @group(%x: tensor<4xf32>) {
  %0 = comm.all_reduce "add"(%x) {group = array<i64: 2, 1, 3>} : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}
// CHECK: comm.all_reduce: group [2, 1, 3] is no size, stride and number of ranks that they divide

// -----

func.func @ranks(%x: tensor<4xf32>) {
  %0 = comm.all_gather(%x) {ranks = 2 : i64, group = array<i64: 3, 1, 6>} : (tensor<4xf32>) -> tensor<8xf32>
  func.return
}
// CHECK: comm.all_gather: groups of 3 ranks, and shapes for 2
