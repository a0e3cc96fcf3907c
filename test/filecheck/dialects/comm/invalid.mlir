// RUN: mlc-opt %s --verify-diagnostics --split-input-file | filecheck %s

func.func @monoid(%x: tensor<4xf32>) {
  %0 = comm.all_reduce "mean"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}
// CHECK: comm.all_reduce: 'mean' is none of add, mul, max, min

// -----

func.func @half(%x: tensor<4xf16>) {
  %0 = comm.all_reduce "add"(%x) : (tensor<4xf16>) -> tensor<4xf16>
  func.return
}
// CHECK: comm.all_reduce: it combines elements of f32, f64, {{.*}}, not f16

// -----

func.func @narrow(%x: tensor<4xi4>) {
  %0 = comm.broadcast(%x) {root = 0 : i64} : (tensor<4xi4>) -> tensor<4xi4>
  func.return
}
// CHECK: comm.broadcast: elements of type i4 are not sent between ranks; cast them first

// -----

func.func @result(%x: tensor<4xf32>) {
  %0 = comm.all_gather(%x) {ranks = 3 : i64} : (tensor<4xf32>) -> tensor<8xf32>
  func.return
}
// CHECK: comm.all_gather: the result type is tensor<8xf32>, inferred from the operands tensor<12xf32>

// -----

func.func @divided(%x: tensor<4xf32>) {
  %0 = comm.all_to_all(%x) {ranks = 3 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}
// CHECK: comm.all_to_all: axis 0 of 4 elements is not divided evenly among 3 ranks

// -----

func.func @scalar(%x: tensor<f32>) {
  %0 = comm.reduce_scatter "add"(%x) {ranks = 2 : i64} : (tensor<f32>) -> tensor<f32>
  func.return
}
// CHECK: comm.reduce_scatter: it takes a tensor of rank 1 or more, not tensor<f32>

// -----

func.func @none(%x: tensor<4xf32>) {
  %0 = comm.all_gather(%x) {ranks = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}
// CHECK: comm.all_gather: 0 ranks; give 1 or more

// -----

func.func @root(%x: tensor<4xf32>) {
  %0 = comm.broadcast(%x) {root = -1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}
// CHECK: comm.broadcast: the root is rank -1; give 0 or more

// -----

func.func @twice(%x: tensor<4xf32>) {
  %0 = comm.permute(%x) {pairs = array<i64: 0, 1, 2, 1>} : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}
// CHECK: comm.permute: pairs [0, 1, 2, 1] let one rank receive twice

// -----

func.func @odd(%x: tensor<4xf32>) {
  %0 = comm.permute(%x) {pairs = array<i64: 0, 1, 2>} : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}
// CHECK: comm.permute: pairs [0, 1, 2]; give ranks from, to, from, to, …
