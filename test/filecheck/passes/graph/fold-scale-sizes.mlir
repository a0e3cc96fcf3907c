// RUN: mlc-opt %s -p fold-scale | filecheck %s

// Constants come first, but what reads a size of data stays after the operator that makes it known.

func.func @main(%x: tensor<2x3xf32>, %n: tensor<i64>) -> (tensor<2x5xf32>, tensor<4xf32>) {
  %s = graph.size "size0"(%n) most "1" else "Slice '/slice': too far" {graph.node = ["/slice"]} : tensor<i64> -> tensor<i64>
  %v = graph.weight "v" : tensor<5xf32>
  %t = graph.slice(%v) {graph.node = ["/slice"], starts = ["size0"], sizes = ["4"], steps = array<i64: 1>} : (tensor<5xf32>) -> tensor<4xf32>
  %w = graph.weight "w" : tensor<3x5xf32>
  %0 = graph.contract "mk,kn->mn"(%x, %w) {graph.node = ["/fc"]} : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  func.return %0, %t : tensor<2x5xf32>, tensor<4xf32>
}

// CHECK:      func.func @main(
// CHECK-NEXT: %v = graph.weight "v"
// CHECK-NEXT: %w = graph.weight "w"
// CHECK-NEXT: %s = graph.size "size0"
// CHECK-NEXT: %t = graph.slice(%v)
// CHECK-NEXT: %0 = graph.contract
