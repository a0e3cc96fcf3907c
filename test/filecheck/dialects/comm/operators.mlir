// RUN: mlc-opt %s | mlc-opt | filecheck %s

func.func @all(%x: tensor<4x3xf32>) {
  %0 = comm.all_reduce "max"(%x) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %1 = comm.reduce_scatter "add"(%x) {ranks = 2 : i64} : (tensor<4x3xf32>) -> tensor<2x3xf32>
  %2 = comm.all_gather(%x) {ranks = 2 : i64} : (tensor<4x3xf32>) -> tensor<8x3xf32>
  %3 = comm.all_to_all(%x) {ranks = 4 : i64} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %4 = comm.broadcast(%x) {root = 1 : i64} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %5 = comm.permute(%x) {pairs = array<i64: 0, 1>} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %6 = comm.barrier(%x) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %7 = comm.rank : tensor<i64>
  %8 = comm.world : tensor<i64>
  func.return
}
// CHECK:      comm.all_reduce "max"(%x) : (tensor<4x3xf32>) -> tensor<4x3xf32>
// CHECK-NEXT: comm.reduce_scatter "add"(%x) {ranks = 2 : i64} : (tensor<4x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: comm.all_gather(%x) {ranks = 2 : i64} : (tensor<4x3xf32>) -> tensor<8x3xf32>
// CHECK-NEXT: comm.all_to_all(%x) {ranks = 4 : i64} : (tensor<4x3xf32>) -> tensor<4x3xf32>
// CHECK-NEXT: comm.broadcast(%x) {root = 1 : i64} : (tensor<4x3xf32>) -> tensor<4x3xf32>
// CHECK-NEXT: comm.permute(%x) {pairs = array<i64: 0, 1>} : (tensor<4x3xf32>) -> tensor<4x3xf32>
// CHECK-NEXT: comm.barrier(%x) : (tensor<4x3xf32>) -> tensor<4x3xf32>
// CHECK-NEXT: comm.rank : tensor<i64>
// CHECK-NEXT: comm.world : tensor<i64>
