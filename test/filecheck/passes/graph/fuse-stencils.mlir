// RUN: mlc-opt %s -p fuse-stencils --split-input-file | filecheck %s

func.func @windows(%u: tensor<8xf32>) -> tensor<6xf32> {
  %0 = graph.slice(%u) {starts = ["0"], sizes = ["6"], steps = array<i64: 1>} : (tensor<8xf32>) -> tensor<6xf32>
  %1 = graph.slice(%u) {starts = ["2"], sizes = ["6"], steps = array<i64: 1>} : (tensor<8xf32>) -> tensor<6xf32>
  %2 = graph.map "x0 + x1"(%0, %1) {graph.node = ["sum"]} : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  func.return %2 : tensor<6xf32>
}

// CHECK:      func.func @windows(%u: tensor<8xf32>) -> tensor<6xf32> {
// CHECK-NEXT: %0 = graph.compute "(x0[i0] + x0[(i0 + 2)])"(%u) {graph.node = ["sum"], shape = ["6"], reduce = []} : (tensor<8xf32>) -> tensor<6xf32>
// CHECK-NEXT: func.return %0 : tensor<6xf32>

// -----

func.func @periodic(%u: tensor<8xf32>) -> tensor<8xf32> {
  %0 = graph.slice(%u) {starts = ["7"], sizes = ["1"], steps = array<i64: 1>} : (tensor<8xf32>) -> tensor<1xf32>
  %1 = graph.slice(%u) {starts = ["0"], sizes = ["7"], steps = array<i64: 1>} : (tensor<8xf32>) -> tensor<7xf32>
  %2 = graph.concat(%0, %1) {axis = 0 : i64} : (tensor<1xf32>, tensor<7xf32>) -> tensor<8xf32>
  %3 = graph.map "x0 - x1"(%u, %2) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %3 : tensor<8xf32>
}

// CHECK:      func.func @periodic(%u: tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT: %0 = graph.piecewise ["(x0[i0] - x0[(i0 + 7)])", "(x0[(i0 + 1)] - x0[i0])"](%u) {starts = array<i64: 0, 1>, sizes = array<i64: 1, 7>} : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: func.return %0 : tensor<8xf32>
