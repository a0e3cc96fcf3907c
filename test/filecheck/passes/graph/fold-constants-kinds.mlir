// RUN: mlc-opt %s -p fold-constants --verify-diagnostics --split-input-file | filecheck %s

// Integers wrap as their elements do, small results are constants, large ones weights; what is unknown or symbolic stays.

func.func @table(%x: tensor<4x3xf32>) -> tensor<2x3xf32> {
  %ids = graph.constant dense<[6, 1]> : tensor<2xi64> : tensor<2xi64>
  %0 = graph.map "x0 % 4"(%ids) {graph.node = ["/mod"]} : (tensor<2xi64>) -> tensor<2xi64>
  %1 = graph.compute "x0[x1[i0], i1]"(%x, %0) {graph.node = ["/gather"], shape = ["2", "3"], reduce = []} : (tensor<4x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// CHECK:      func.func @table(%x: tensor<4x3xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT: %0 = graph.constant dense<[2, 1]> : tensor<2xi64> {graph.node = ["/mod"]} : tensor<2xi64>
// CHECK-NEXT: %1 = graph.compute "x0[x1[i0], i1]"(%x, %0) {graph.node = ["/gather"], shape = ["2", "3"], reduce = []} : (tensor<4x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
// CHECK-NEXT: func.return %1 : tensor<2x3xf32>

// -----

func.func @moves() -> (tensor<3x2xi32>, tensor<2x4xui8>, tensor<f64>) {
  %c = graph.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32> : tensor<2x3xi32>
  %0 = graph.transpose(%c) {graph.node = ["/t"], perm = array<i64: 1, 0>} : (tensor<2x3xi32>) -> tensor<3x2xi32>
  %d = graph.constant dense<[[250, 251], [252, 253]]> : tensor<2x2xui8> : tensor<2x2xui8>
  %1 = graph.map "x0 + 4"(%d) : (tensor<2x2xui8>) -> tensor<2x2xui8>
  %2 = graph.concat(%1, %d) {axis = 1 : i64} : (tensor<2x2xui8>, tensor<2x2xui8>) -> tensor<2x4xui8>
  %e = graph.constant dense<[0.5, 1.5, 4.0]> : tensor<3xf64> : tensor<3xf64>
  %3 = graph.reduce "mul"(%e) {axes = array<i64: 0>, keepdims = false} : (tensor<3xf64>) -> tensor<f64>
  func.return %0, %2, %3 : tensor<3x2xi32>, tensor<2x4xui8>, tensor<f64>
}

// CHECK:      func.func @moves() -> (tensor<3x2xi32>, tensor<2x4xui8>, tensor<f64>) {
// CHECK-NEXT: %0 = graph.constant dense<{{\[\[}}1, 4], [2, 5], [3, 6{{\]\]}}> : tensor<3x2xi32> {graph.node = ["/t"]} : tensor<3x2xi32>
// CHECK-NEXT: %1 = graph.constant dense<{{\[\[}}254, 255, 250, 251], [0, 1, 252, 253{{\]\]}}> : tensor<2x4xui8> : tensor<2x4xui8>
// CHECK-NEXT: %2 = graph.constant dense<3.000000e+00> : tensor<f64> : tensor<f64>
// CHECK-NEXT: func.return %0, %1, %2 : tensor<3x2xi32>, tensor<2x4xui8>, tensor<f64>

// -----

func.func @stays(%x: tensor<?x3xf32, #graph.dims<["n", "3"]>>) -> (tensor<?x3xf32, #graph.dims<["n", "3"]>>, tensor<9xf32>) {
  %w = graph.weight "unknown" : tensor<3xf32>
  %0 = graph.map "x0 * 2.0"(%w) : (tensor<3xf32>) -> tensor<3xf32>
  %c = graph.constant dense<3.0> : tensor<1xf32> : tensor<1xf32>
  %1 = graph.broadcast(%c) {shape = ["n", "3"]} : (tensor<1xf32>) -> tensor<?x3xf32, #graph.dims<["n", "3"]>>
  %2 = graph.map "x0 + x1 * x2"(%x, %0, %1) : (tensor<?x3xf32, #graph.dims<["n", "3"]>>, tensor<3xf32>, tensor<?x3xf32, #graph.dims<["n", "3"]>>) -> tensor<?x3xf32, #graph.dims<["n", "3"]>>
  %nine = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32> : tensor<3xf32>
  %3 = graph.concat(%nine, %nine, %nine) {graph.node = ["/nine"], axis = 0 : i64} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<9xf32>
  func.return %2, %3 : tensor<?x3xf32, #graph.dims<["n", "3"]>>, tensor<9xf32>
}

// CHECK:      func.func @stays(%x: tensor<?x3xf32, #graph.dims<["n", "3"]>>) -> (tensor<?x3xf32, #graph.dims<["n", "3"]>>, tensor<9xf32>) {
// CHECK-NEXT: %w = graph.weight "unknown" : tensor<3xf32>
// CHECK-NEXT: %0 = graph.map "x0 * 2.0"(%w) : (tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT: %c = graph.constant dense<3.000000e+00> : tensor<1xf32> : tensor<1xf32>
// CHECK-NEXT: %1 = graph.broadcast(%c) {shape = ["n", "3"]} : (tensor<1xf32>) -> tensor<?x3xf32, #graph.dims<["n", "3"]>>
// CHECK-NEXT: %2 = graph.map "x0 + x1 * x2"(%x, %0, %1) : (tensor<?x3xf32, #graph.dims<["n", "3"]>>, tensor<3xf32>, tensor<?x3xf32, #graph.dims<["n", "3"]>>) -> tensor<?x3xf32, #graph.dims<["n", "3"]>>
// CHECK-NEXT: %3 = graph.weight "constant.folded" {graph.node = ["/nine"]} : tensor<9xf32>
// CHECK-NEXT: func.return %2, %3 : tensor<?x3xf32, #graph.dims<["n", "3"]>>, tensor<9xf32>

// -----

func.func @mean_of_symbolic_rows(%x: tensor<?xf32, #graph.dims<["n"]>>) -> tensor<f32> {
  %c = graph.constant dense<1.0> : tensor<f32> : tensor<f32>
  %0 = graph.map "x0 / f32(n)"(%c) {graph.node = ["/share"]} : (tensor<f32>) -> tensor<f32>
  func.return %0 : tensor<f32>
}

// CHECK:      func.func @mean_of_symbolic_rows
// CHECK-NEXT: %c = graph.constant dense<1.000000e+00> : tensor<f32> : tensor<f32>
// CHECK-NEXT: %0 = graph.map "x0 / f32(n)"(%c) {graph.node = ["/share"]} : (tensor<f32>) -> tensor<f32>
