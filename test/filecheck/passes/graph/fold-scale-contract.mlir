// RUN: mlc-opt %s -p fold-scale --verify-diagnostics --split-input-file | filecheck %s

// Divisions and differences after a contraction; what is no constant of each column, or read elsewhere, stays.

func.func @contraction(%x: tensor<2x3xf32>) -> tensor<2x5xf32> {
  %w = graph.weight "w" : tensor<5x3xf32>
  %s = graph.weight "s" : tensor<5xf32>
  %b = graph.weight "b" : tensor<5xf32>
  %0 = graph.contract "mk,nk->mn"(%x, %w) {graph.node = ["/fc"]} : (tensor<2x3xf32>, tensor<5x3xf32>) -> tensor<2x5xf32>
  %1 = graph.map "x0 / x1"(%0, %s) {graph.node = ["/div"]} : (tensor<2x5xf32>, tensor<5xf32>) -> tensor<2x5xf32>
  %2 = graph.map "x1 - x0"(%1, %b) {graph.node = ["/sub"]} : (tensor<2x5xf32>, tensor<5xf32>) -> tensor<2x5xf32>
  func.return %2 : tensor<2x5xf32>
}

// CHECK:      func.func @contraction(%x: tensor<2x3xf32>) -> tensor<2x5xf32> {
// CHECK-NEXT: %w = graph.weight "w" : tensor<5x3xf32>
// CHECK-NEXT: %s = graph.weight "s" : tensor<5xf32>
// CHECK-NEXT: %b = graph.weight "b" : tensor<5xf32>
// CHECK-NEXT: %0 = graph.map "((1 / x0) * -1)"(%s) {graph.node = ["/fc", "/div"]} : (tensor<5xf32>) -> tensor<5xf32>
// CHECK-NEXT: %1 = graph.reshape(%0) {graph.node = ["/fc", "/div"], shape = ["5", "1"]} : (tensor<5xf32>) -> tensor<5x1xf32>
// CHECK-NEXT: %2 = graph.map "(x0 * x1)"(%w, %1) {graph.node = ["/fc", "/div"]} : (tensor<5x3xf32>, tensor<5x1xf32>) -> tensor<5x3xf32>
// CHECK-NEXT: %3 = graph.contract "mk,nk->mn"(%x, %2) {graph.node = ["/fc"]} : (tensor<2x3xf32>, tensor<5x3xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: %4 = graph.map "x0"(%b) {graph.node = ["/div", "/sub"]} : (tensor<5xf32>) -> tensor<5xf32>
// CHECK-NEXT: %5 = graph.map "(x0 + x1)"(%3, %4) {graph.node = ["/div", "/sub"]} : (tensor<2x5xf32>, tensor<5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: func.return %5 : tensor<2x5xf32>

// -----

func.func @not_by_channel(%x: tensor<2x3xf32>, %v: tensor<5xf32>) -> (tensor<2x5xf32>, tensor<2x5xf32>) {
  %w = graph.weight "w" : tensor<3x5xf32>
  %r = graph.weight "r" : tensor<2x1xf32>
  %0 = graph.contract "mk,kn->mn"(%x, %w) : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  %1 = graph.map "x0 * x1"(%0, %r) : (tensor<2x5xf32>, tensor<2x1xf32>) -> tensor<2x5xf32>
  %2 = graph.contract "mk,kn->mn"(%x, %w) : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  %3 = graph.map "x0 * x1"(%2, %v) : (tensor<2x5xf32>, tensor<5xf32>) -> tensor<2x5xf32>
  func.return %1, %3 : tensor<2x5xf32>, tensor<2x5xf32>
}

// CHECK:      func.func @not_by_channel(%x: tensor<2x3xf32>, %v: tensor<5xf32>) -> (tensor<2x5xf32>, tensor<2x5xf32>) {
// CHECK-NEXT: %w = graph.weight "w" : tensor<3x5xf32>
// CHECK-NEXT: %r = graph.weight "r" : tensor<2x1xf32>
// CHECK-NEXT: %0 = graph.contract "mk,kn->mn"(%x, %w) : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: %1 = graph.map "x0 * x1"(%0, %r) : (tensor<2x5xf32>, tensor<2x1xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: %2 = graph.contract "mk,kn->mn"(%x, %w) : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: %3 = graph.map "x0 * x1"(%2, %v) : (tensor<2x5xf32>, tensor<5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: func.return %1, %3 : tensor<2x5xf32>, tensor<2x5xf32>

// -----

func.func @read_twice(%x: tensor<2x3xf32>) -> (tensor<2x5xf32>, tensor<2x5xf32>) {
  %w = graph.weight "w" : tensor<3x5xf32>
  %s = graph.weight "s" : tensor<5xf32>
  %0 = graph.contract "mk,kn->mn"(%x, %w) : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  %1 = graph.map "x0 * x1"(%0, %s) : (tensor<2x5xf32>, tensor<5xf32>) -> tensor<2x5xf32>
  func.return %0, %1 : tensor<2x5xf32>, tensor<2x5xf32>
}

// CHECK:      func.func @read_twice(%x: tensor<2x3xf32>) -> (tensor<2x5xf32>, tensor<2x5xf32>) {
// CHECK-NEXT: %w = graph.weight "w" : tensor<3x5xf32>
// CHECK-NEXT: %s = graph.weight "s" : tensor<5xf32>
// CHECK-NEXT: %0 = graph.contract "mk,kn->mn"(%x, %w) : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: %1 = graph.map "x0 * x1"(%0, %s) : (tensor<2x5xf32>, tensor<5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: func.return %0, %1 : tensor<2x5xf32>, tensor<2x5xf32>
