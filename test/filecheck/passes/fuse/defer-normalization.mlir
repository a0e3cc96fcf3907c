// RUN: mlc-opt %s -p defer-normalization --for-target x86-64-v4 --split-input-file | filecheck %s

// An attention of many keys: its rows are scaled after the product with the values, whose result is transposed here.

func.func @main(%s: tensor<2x4x509x8xf32>, %k: tensor<2x4x8x1001xf32>, %v: tensor<2x4x1001x6xf32>) -> tensor<2x509x4x6xf32> {
  %0 = graph.contract "abmk,abkn->abmn"(%s, %k) : (tensor<2x4x509x8xf32>, tensor<2x4x8x1001xf32>) -> tensor<2x4x509x1001xf32>
  %1 = graph.reduce "max"(%0) {axes = array<i64: 3>, keepdims = true} : (tensor<2x4x509x1001xf32>) -> tensor<2x4x509x1xf32>
  %2 = graph.map "exp(x0 - x1)"(%0, %1) : (tensor<2x4x509x1001xf32>, tensor<2x4x509x1xf32>) -> tensor<2x4x509x1001xf32>
  %3 = graph.reduce "add"(%2) {axes = array<i64: 3>, keepdims = true} : (tensor<2x4x509x1001xf32>) -> tensor<2x4x509x1xf32>
  %4 = graph.map "x0 / x1"(%2, %3) : (tensor<2x4x509x1001xf32>, tensor<2x4x509x1xf32>) -> tensor<2x4x509x1001xf32>
  %5 = graph.contract "abmk,abkn->ambn"(%4, %v) {graph.node = ["/values"]} : (tensor<2x4x509x1001xf32>, tensor<2x4x1001x6xf32>) -> tensor<2x509x4x6xf32>
  func.return %5 : tensor<2x509x4x6xf32>
}

// CHECK:      %[[E:.*]] = graph.map "exp(x0 - x1)"
// CHECK-NEXT: %[[SUM:.*]] = graph.reduce "add"(%[[E]])
// CHECK-NEXT: %[[C:.*]] = graph.contract "abmk,abkn->ambn"(%[[E]], %v) {graph.node = ["/values"]}
// CHECK-NEXT: %[[O:.*]] = graph.compute "(x0[i0, i1, i2, i3] / x1[i0, i2, i1, 0])"(%[[C]], %[[SUM]]) {graph.node = ["/values"]
// CHECK-NEXT: func.return %[[O]]

// -----

// Scores that stay in the cache are normalized where they are.

func.func @main(%s: tensor<8x64x8xf32>, %k: tensor<8x8x96xf32>, %v: tensor<8x96x6xf32>) -> tensor<8x64x6xf32> {
  %0 = graph.contract "bmk,bkn->bmn"(%s, %k) : (tensor<8x64x8xf32>, tensor<8x8x96xf32>) -> tensor<8x64x96xf32>
  %1 = graph.reduce "max"(%0) {axes = array<i64: 2>, keepdims = true} : (tensor<8x64x96xf32>) -> tensor<8x64x1xf32>
  %2 = graph.map "exp(x0 - x1)"(%0, %1) : (tensor<8x64x96xf32>, tensor<8x64x1xf32>) -> tensor<8x64x96xf32>
  %3 = graph.reduce "add"(%2) {axes = array<i64: 2>, keepdims = true} : (tensor<8x64x96xf32>) -> tensor<8x64x1xf32>
  %4 = graph.map "x0 / x1"(%2, %3) : (tensor<8x64x96xf32>, tensor<8x64x1xf32>) -> tensor<8x64x96xf32>
  %5 = graph.contract "bmk,bkn->bmn"(%4, %v) : (tensor<8x64x96xf32>, tensor<8x96x6xf32>) -> tensor<8x64x6xf32>
  func.return %5 : tensor<8x64x6xf32>
}

// CHECK:      func.func @main
// CHECK-NOT:  graph.compute
// CHECK:      func.return

// -----

// One more score of each row (attention sink) is in its maximum: blocks of keys do not rescale by that.

func.func @main(%s: tensor<8x509x8xf32>, %k: tensor<8x8x1001xf32>, %v: tensor<8x1001x6xf32>, %sink: tensor<8x1x1xf32>) -> tensor<8x509x6xf32> {
  %0 = graph.contract "bmk,bkn->bmn"(%s, %k) : (tensor<8x509x8xf32>, tensor<8x8x1001xf32>) -> tensor<8x509x1001xf32>
  %1 = graph.reduce "max"(%0) {axes = array<i64: 2>, keepdims = true} : (tensor<8x509x1001xf32>) -> tensor<8x509x1xf32>
  %2 = graph.map "exp(x0 - max(x1, x2))"(%0, %1, %sink) : (tensor<8x509x1001xf32>, tensor<8x509x1xf32>, tensor<8x1x1xf32>) -> tensor<8x509x1001xf32>
  %3 = graph.reduce "add"(%2) {axes = array<i64: 2>, keepdims = true} : (tensor<8x509x1001xf32>) -> tensor<8x509x1xf32>
  %4 = graph.map "x0 / x1"(%2, %3) : (tensor<8x509x1001xf32>, tensor<8x509x1xf32>) -> tensor<8x509x1001xf32>
  %5 = graph.contract "bmk,bkn->bmn"(%4, %v) : (tensor<8x509x1001xf32>, tensor<8x1001x6xf32>) -> tensor<8x509x6xf32>
  func.return %5 : tensor<8x509x6xf32>
}

// CHECK:      func.func @main
// CHECK-NOT:  graph.compute
// CHECK:      func.return
