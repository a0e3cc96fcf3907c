// RUN: mlc-opt %s -p factor-sums,fuse-reductions | filecheck %s

// The sums of a batch normalization's pullback differ by factors of channels: one of each is left, which computes its
// terms. Sums over the trailing axis stay.

func.func @main(%g: tensor<4x3x5xf32>, %x: tensor<4x3x5xf32>, %m: tensor<3x1xf32>, %s: tensor<3x1xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<4x3xf32>) {
  %0 = graph.map "(x0 * ((x1 - x2) * x3))"(%g, %x, %m, %s) {graph.node = ["/scale"]} : (tensor<4x3x5xf32>, tensor<4x3x5xf32>, tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<4x3x5xf32>
  %1 = graph.reduce "add"(%0) {axes = array<i64: 0, 2>, graph.node = ["/scale"], keepdims = false} : (tensor<4x3x5xf32>) -> tensor<3xf32>
  %2 = graph.map "(-0.5 * (x0 * (x1 - x2)))"(%g, %x, %m) {graph.node = ["/variance"]} : (tensor<4x3x5xf32>, tensor<4x3x5xf32>, tensor<3x1xf32>) -> tensor<4x3x5xf32>
  %3 = graph.reduce "add"(%2) {axes = array<i64: 0, 2>, graph.node = ["/variance"], keepdims = false} : (tensor<4x3x5xf32>) -> tensor<3xf32>
  %4 = graph.map "(x0 * x1)"(%g, %s) {graph.node = ["/rows"]} : (tensor<4x3x5xf32>, tensor<3x1xf32>) -> tensor<4x3x5xf32>
  %5 = graph.reduce "add"(%4) {axes = array<i64: 2>, graph.node = ["/rows"], keepdims = false} : (tensor<4x3x5xf32>) -> tensor<4x3xf32>
  func.return %1, %3, %5 : tensor<3xf32>, tensor<3xf32>, tensor<4x3xf32>
}

// CHECK:      func.func @main(%g: tensor<4x3x5xf32>, %x: tensor<4x3x5xf32>, %m: tensor<3x1xf32>, %s: tensor<3x1xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<4x3xf32>) {
// CHECK-NEXT: %0 = graph.compute "(x0[r0, i0, r1] * (x1[r0, i0, r1] - x2[i0, 0]))"(%g, %x, %m) {graph.node = ["/scale", "/variance"], shape = ["3"], reduce = ["4", "5"], monoid = "add"} : (tensor<4x3x5xf32>, tensor<4x3x5xf32>, tensor<3x1xf32>) -> tensor<3xf32>
// CHECK-NEXT: %1 = graph.reshape(%0) {graph.node = ["/scale", "/variance"], shape = ["1", "3", "1"]} : (tensor<3xf32>) -> tensor<1x3x1xf32>
// CHECK-NEXT: %2 = graph.map "(x0 * x1)"(%s, %1) {graph.node = ["/scale"]} : (tensor<3x1xf32>, tensor<1x3x1xf32>) -> tensor<1x3x1xf32>
// CHECK-NEXT: %3 = graph.reshape(%2) {graph.node = ["/scale"], shape = ["3"]} : (tensor<1x3x1xf32>) -> tensor<3xf32>
// CHECK-NEXT: %4 = graph.map "(-0.5 * x0)"(%1) {graph.node = ["/variance"]} : (tensor<1x3x1xf32>) -> tensor<1x3x1xf32>
// CHECK-NEXT: %5 = graph.reshape(%4) {graph.node = ["/variance"], shape = ["3"]} : (tensor<1x3x1xf32>) -> tensor<3xf32>
// CHECK-NEXT: %6 = graph.map "(x0 * x1)"(%g, %s) {graph.node = ["/rows"]} : (tensor<4x3x5xf32>, tensor<3x1xf32>) -> tensor<4x3x5xf32>
// CHECK-NEXT: %7 = graph.reduce "add"(%6) {graph.node = ["/rows"], axes = array<i64: 2>, keepdims = false} : (tensor<4x3x5xf32>) -> tensor<4x3xf32>
// CHECK-NEXT: func.return %3, %5, %7 : tensor<3xf32>, tensor<3xf32>, tensor<4x3xf32>
