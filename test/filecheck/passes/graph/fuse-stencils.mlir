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

// -----

// A chain of cheap stencils is one stencil; a producer that is expensive, is read elsewhere, or whose windows are many stays.

func.func @chain(%u: tensor<9xf32>) -> tensor<6xf32> {
  %s = graph.compute "x0[i0] + x0[i0 + 1]"(%u) {graph.node = ["first"], shape = ["8"], reduce = []} : (tensor<9xf32>) -> tensor<8xf32>
  %t = graph.compute "x0[i0] - x0[i0 + 2] * x1[i0]"(%s, %u) {graph.node = ["second"], shape = ["6"], reduce = []} : (tensor<8xf32>, tensor<9xf32>) -> tensor<6xf32>
  func.return %t : tensor<6xf32>
}

// CHECK:      func.func @chain(%u: tensor<9xf32>) -> tensor<6xf32> {
// CHECK-NEXT: %t = graph.compute "((x0[i0] + x0[(i0 + 1)]) - ((x0[(i0 + 2)] + x0[((i0 + 2) + 1)]) * x0[i0]))"(%u) {graph.node = ["first", "second"], shape = ["6"], reduce = []} : (tensor<9xf32>) -> tensor<6xf32>
// CHECK-NEXT: func.return %t : tensor<6xf32>

// -----

func.func @expensive(%u: tensor<9xf32>) -> tensor<6xf32> {
  %s = graph.compute "exp(x0[i0] + x0[i0 + 1])"(%u) {shape = ["8"], reduce = []} : (tensor<9xf32>) -> tensor<8xf32>
  %t = graph.compute "x0[i0] - x0[i0 + 2]"(%s) {shape = ["6"], reduce = []} : (tensor<8xf32>) -> tensor<6xf32>
  func.return %t : tensor<6xf32>
}

// CHECK:      func.func @expensive
// CHECK-NEXT: graph.compute "exp(
// CHECK-NEXT: graph.compute "x0[i0] - x0[i0 + 2]"

// -----

func.func @read_elsewhere(%u: tensor<9xf32>) -> (tensor<8xf32>, tensor<6xf32>) {
  %s = graph.compute "x0[i0] + x0[i0 + 1]"(%u) {shape = ["8"], reduce = []} : (tensor<9xf32>) -> tensor<8xf32>
  %t = graph.compute "x0[i0] - x0[i0 + 2]"(%s) {shape = ["6"], reduce = []} : (tensor<8xf32>) -> tensor<6xf32>
  func.return %s, %t : tensor<8xf32>, tensor<6xf32>
}

// CHECK:      func.func @read_elsewhere
// CHECK-NEXT: graph.compute "x0[i0] + x0[i0 + 1]"
// CHECK-NEXT: graph.compute "x0[i0] - x0[i0 + 2]"

// -----

func.func @many_windows(%u: tensor<9x9xf32>) -> tensor<5x5xf32> {
  %s = graph.compute "x0[i0, i1] + x0[i0 + 1, i1] + x0[i0 + 2, i1] + x0[i0 + 3, i1]"(%u) {shape = ["5", "9"], reduce = []} : (tensor<9x9xf32>) -> tensor<5x9xf32>
  %t = graph.compute "x0[i0, i1] + x0[i0, i1 + 1] + x0[i0, i1 + 2] + x0[i0, i1 + 3]"(%s) {shape = ["5", "5"], reduce = []} : (tensor<5x9xf32>) -> tensor<5x5xf32>
  func.return %t : tensor<5x5xf32>
}

// CHECK:      func.func @many_windows
// CHECK-NEXT: graph.compute
// CHECK-NEXT: graph.compute

// -----

func.func @gathered(%u: tensor<9xf32>, %n: tensor<6xi64>) -> tensor<6xf32> {
  %s = graph.compute "x0[i0] + x0[i0 + 1]"(%u) {shape = ["8"], reduce = []} : (tensor<9xf32>) -> tensor<8xf32>
  %t = graph.compute "x0[min(max(x1[i0], 0), 7)]"(%s, %n) {shape = ["6"], reduce = []} : (tensor<8xf32>, tensor<6xi64>) -> tensor<6xf32>
  func.return %t : tensor<6xf32>
}

// CHECK:      func.func @gathered
// CHECK-NEXT: graph.compute
// CHECK-NEXT: graph.compute
