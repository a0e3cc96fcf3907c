// RUN: mlc-opt %s -p 'split-concats{operands=3}' --split-input-file | filecheck %s

// A kernel copies these operands, which are not contiguous in the result: a tree, whose last operand needs no copy of
// its own.

func.func @main(%a: tensor<2x1xf32>, %b: tensor<2x2xf32>, %c: tensor<2x3xf32>) -> tensor<2x13xf32> {
  %0 = graph.concat(%a, %b, %c, %a, %b, %c, %a) {graph.node = ["/join"], axis = 1 : i64} : (tensor<2x1xf32>, tensor<2x2xf32>, tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x2xf32>, tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x13xf32>
  func.return %0 : tensor<2x13xf32>
}

// CHECK:      %0 = graph.concat(%a, %b, %c) {graph.node = ["/join"], axis = 1 : i64}
// CHECK-NEXT: %1 = graph.concat(%a, %b, %c) {graph.node = ["/join"], axis = 1 : i64}
// CHECK-NEXT: %2 = graph.concat(%0, %1, %a) {graph.node = ["/join"], axis = 1 : i64} : (tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x1xf32>) -> tensor<2x13xf32>

// -----

// The kernels of the operands write into the result: a view, which stays.

func.func @main(%a: tensor<1xf32>) -> tensor<4xf32> {
  %0 = graph.map "sin(x0)"(%a) {graph.node = ["/s"]} : (tensor<1xf32>) -> tensor<1xf32>
  %1 = graph.map "cos(x0)"(%a) {graph.node = ["/c"]} : (tensor<1xf32>) -> tensor<1xf32>
  %2 = graph.map "tan(x0)"(%a) {graph.node = ["/t"]} : (tensor<1xf32>) -> tensor<1xf32>
  %3 = graph.map "exp(x0)"(%a) {graph.node = ["/e"]} : (tensor<1xf32>) -> tensor<1xf32>
  %4 = graph.concat(%0, %1, %2, %3) {graph.node = ["/join"], axis = 0 : i64} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<4xf32>
  func.return %4 : tensor<4xf32>
}

// CHECK: graph.concat(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {graph.node = ["/join"], axis = 0 : i64}
