// RUN: mlc-opt %s -p rematerialize --split-input-file | filecheck %s

// %n is read again by the derivative, where %c is read as well: it is computed anew there, and not saved.

func.func @layer(%x: tensor<64x32xf32>, %w: tensor<32x32xf32>, %s: tensor<32xf32>) -> tensor<64x32xf32> attributes {graph.derivatives} {
  %c = graph.contract "mk,kn->mn"(%x, %w) {graph.node = ["/c"]} : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %n = graph.map "x0 * x1"(%c, %s) {graph.node = ["/n"]} : (tensor<64x32xf32>, tensor<32xf32>) -> tensor<64x32xf32>
  %y = graph.map "max(x0, 0)"(%n) {graph.node = ["/y"]} : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %z = graph.contract "mk,nk->mn"(%y, %w) {graph.node = ["/z"]} : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %d = graph.map "where(x0 > 0, x1 * x2, 0)"(%n, %z, %c) {graph.node = ["/d"]} : (tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  func.return %d : tensor<64x32xf32>
}

// CHECK:      func.func @layer(%x: tensor<64x32xf32>, %w: tensor<32x32xf32>, %s: tensor<32xf32>) -> tensor<64x32xf32> attributes {graph.derivatives} {
// CHECK-NEXT: %c = graph.contract "mk,kn->mn"(%x, %w) {graph.node = ["/c"]} : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
// CHECK-NEXT: %n = graph.map "x0 * x1"(%c, %s) {graph.node = ["/n"]} : (tensor<64x32xf32>, tensor<32xf32>) -> tensor<64x32xf32>
// CHECK-NEXT: %y = graph.map "max(x0, 0)"(%n) {graph.node = ["/y"]} : (tensor<64x32xf32>) -> tensor<64x32xf32>
// CHECK-NEXT: %z = graph.contract "mk,nk->mn"(%y, %w) {graph.node = ["/z"]} : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
// CHECK-NEXT: %d = graph.map "where(((x0 * x1) > 0), (x2 * x0), 0)"(%c, %s, %z) {graph.node = ["/d", "/n"]} : (tensor<64x32xf32>, tensor<32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
// CHECK-NEXT: func.return %d : tensor<64x32xf32>

// -----

// A function without derivatives stays as it is.

func.func @inference(%x: tensor<64x32xf32>, %w: tensor<32x32xf32>, %s: tensor<32xf32>) -> tensor<64x32xf32> {
  %c = graph.contract "mk,kn->mn"(%x, %w) {graph.node = ["/c"]} : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %n = graph.map "x0 * x1"(%c, %s) {graph.node = ["/n"]} : (tensor<64x32xf32>, tensor<32xf32>) -> tensor<64x32xf32>
  %y = graph.map "max(x0, 0)"(%n) {graph.node = ["/y"]} : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %z = graph.contract "mk,nk->mn"(%y, %w) {graph.node = ["/z"]} : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %d = graph.map "where(x0 > 0, x1 * x2, 0)"(%n, %z, %c) {graph.node = ["/d"]} : (tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  func.return %d : tensor<64x32xf32>
}

// CHECK:      func.func @inference(%x: tensor<64x32xf32>, %w: tensor<32x32xf32>, %s: tensor<32xf32>) -> tensor<64x32xf32> {
// CHECK-NEXT: %c = graph.contract "mk,kn->mn"(%x, %w) {graph.node = ["/c"]} : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
// CHECK-NEXT: %n = graph.map "x0 * x1"(%c, %s) {graph.node = ["/n"]} : (tensor<64x32xf32>, tensor<32xf32>) -> tensor<64x32xf32>
// CHECK-NEXT: %y = graph.map "max(x0, 0)"(%n) {graph.node = ["/y"]} : (tensor<64x32xf32>) -> tensor<64x32xf32>
// CHECK-NEXT: %z = graph.contract "mk,nk->mn"(%y, %w) {graph.node = ["/z"]} : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
// CHECK-NEXT: %d = graph.map "where(x0 > 0, x1 * x2, 0)"(%n, %z, %c) {graph.node = ["/d"]} : (tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
// CHECK-NEXT: func.return %d : tensor<64x32xf32>
