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

// -----

// Of halves the terms are sums of f32 that are rounded: the sum reads the result as halves, whose products it adds, and
// others read the terms' product as it is.

func.func @halves(%s: tensor<2x7x9xf32>, %l: tensor<2x7x1xf32>, %v: tensor<2x9x4xf16>, %g: tensor<2x7x4xf16>) -> (tensor<2x7x4xf16>, tensor<2x7x9xf32>) {
  %p = graph.map "f16(x0 * x1)"(%s, %l) : (tensor<2x7x9xf32>, tensor<2x7x1xf32>) -> tensor<2x7x9xf16>
  %o = graph.contract "bmn,bnv->bmv"(%p, %v) {product = "f32(x0) * f32(x1)"} : (tensor<2x7x9xf16>, tensor<2x9x4xf16>) -> tensor<2x7x4xf32>
  %y = graph.map "f16(x0)"(%o) : (tensor<2x7x4xf32>) -> tensor<2x7x4xf16>
  %d = graph.contract "bmv,bnv->bmn"(%g, %v) {product = "f32(x0) * f32(x1)"} : (tensor<2x7x4xf16>, tensor<2x9x4xf16>) -> tensor<2x7x9xf32>
  %m = graph.map "neg(f32(f16(x1)) * x0) * x2"(%s, %d, %l) : (tensor<2x7x9xf32>, tensor<2x7x9xf32>, tensor<2x7x1xf32>) -> tensor<2x7x9xf32>
  %r = graph.reduce "add"(%m) {axes = array<i64: 2>, keepdims = true} : (tensor<2x7x9xf32>) -> tensor<2x7x1xf32>
  %z = graph.map "f32(f16(x0)) + x1"(%d, %r) : (tensor<2x7x9xf32>, tensor<2x7x1xf32>) -> tensor<2x7x9xf32>
  func.return %y, %z : tensor<2x7x4xf16>, tensor<2x7x9xf32>
}

// CHECK-LABEL: func.func @halves
// CHECK:      %y = graph.map "f16(x0)"(%o)
// CHECK:      graph.contract "bmv,bmv->bm"(%g, %y) {product = "f32(x0) * f32(x1)"} : (tensor<2x7x4xf16>, tensor<2x7x4xf16>) -> tensor<2x7xf32>
// CHECK-NOT:  graph.reduce
// CHECK:      graph.map "(x0 + x1)"(%d, %r)
// CHECK:      func.return %y

// -----

// A rounding of halves that are no sums of f32 is part of the terms.

func.func @sums_of_halves(%s: tensor<2x7x9xf16>, %v: tensor<2x9x4xf16>, %g: tensor<2x7x4xf16>) -> (tensor<2x7x4xf32>, tensor<2x7x1xf32>) {
  %o = graph.contract "bmn,bnv->bmv"(%s, %v) {product = "f32(x0) * f32(x1)"} : (tensor<2x7x9xf16>, tensor<2x9x4xf16>) -> tensor<2x7x4xf32>
  %d = graph.contract "bmv,bnv->bmn"(%g, %v) {product = "f32(x0) * f32(x1)"} : (tensor<2x7x4xf16>, tensor<2x9x4xf16>) -> tensor<2x7x9xf32>
  %m = graph.map "f32(f16(x0 + x0)) * x1"(%s, %d) : (tensor<2x7x9xf16>, tensor<2x7x9xf32>) -> tensor<2x7x9xf32>
  %r = graph.reduce "add"(%m) {axes = array<i64: 2>, keepdims = true} : (tensor<2x7x9xf32>) -> tensor<2x7x1xf32>
  func.return %o, %r : tensor<2x7x4xf32>, tensor<2x7x1xf32>
}

// CHECK-LABEL: func.func @sums_of_halves
// CHECK:      graph.reduce "add"
