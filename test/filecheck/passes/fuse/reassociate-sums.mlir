// RUN: mlc-opt %s -p reassociate-sums --split-input-file | filecheck %s

// The derivative of a softmax: its row sums read the attention's result, and not a row of scores.

func.func @main(%p: tensor<2x7x9xf32>, %v: tensor<2x9x4xf32>, %g: tensor<2x7x4xf32>) -> (tensor<2x7x4xf32>, tensor<2x7x1xf32>) {
  %o = graph.contract "bmn,bnv->bmv"(%p, %v) : (tensor<2x7x9xf32>, tensor<2x9x4xf32>) -> tensor<2x7x4xf32>
  %d = graph.contract "bmv,bnv->bmn"(%g, %v) : (tensor<2x7x4xf32>, tensor<2x9x4xf32>) -> tensor<2x7x9xf32>
  %m = graph.map "x0 * x1"(%p, %d) : (tensor<2x7x9xf32>, tensor<2x7x9xf32>) -> tensor<2x7x9xf32>
  %r = graph.reduce "add"(%m) {axes = array<i64: 2>, keepdims = true} : (tensor<2x7x9xf32>) -> tensor<2x7x1xf32>
  func.return %o, %r : tensor<2x7x4xf32>, tensor<2x7x1xf32>
}

// CHECK:      %[[O:.*]] = graph.contract "bmn,bnv->bmv"(%p, %v)
// CHECK-NOT:  tensor<2x7x9xf32>) -> tensor<2x7x1xf32>
// CHECK:      graph.contract "{{.*}}"(%g, %[[O]]) : (tensor<2x7x4xf32>, tensor<2x7x4xf32>) -> tensor<2x7xf32>
// CHECK:      func.return %[[O]]

// -----

// A sum of the terms of two products with different right operands stays.

func.func @main(%p: tensor<2x7x9xf32>, %v: tensor<2x9x4xf32>, %w: tensor<2x9x4xf32>, %g: tensor<2x7x4xf32>) -> (tensor<2x7x4xf32>, tensor<2x7x1xf32>) {
  %o = graph.contract "bmn,bnv->bmv"(%p, %v) : (tensor<2x7x9xf32>, tensor<2x9x4xf32>) -> tensor<2x7x4xf32>
  %d = graph.contract "bmv,bnv->bmn"(%g, %w) : (tensor<2x7x4xf32>, tensor<2x9x4xf32>) -> tensor<2x7x9xf32>
  %m = graph.map "x0 * x1"(%p, %d) : (tensor<2x7x9xf32>, tensor<2x7x9xf32>) -> tensor<2x7x9xf32>
  %r = graph.reduce "add"(%m) {axes = array<i64: 2>, keepdims = true} : (tensor<2x7x9xf32>) -> tensor<2x7x1xf32>
  func.return %o, %r : tensor<2x7x4xf32>, tensor<2x7x1xf32>
}

// CHECK:      graph.reduce "add"({{.*}}) {axes = array<i64: 2>, keepdims = true} : (tensor<2x7x9xf32>) -> tensor<2x7x1xf32>
