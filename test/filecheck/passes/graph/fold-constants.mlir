// RUN: mlc-opt %s -p fold-constants | filecheck %s

func.func @main(%x: tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2x300x300xf32>) {
  %c = graph.constant dense<[1.0, 2.0, 4.0]> : tensor<3xf32> : tensor<3xf32>
  %0 = graph.map "x0 * 2"(%c) {graph.node = ["/double"]} : (tensor<3xf32>) -> tensor<3xf32>
  %1 = graph.reshape(%0) {graph.node = ["/column"], shape = ["3", "1"]} : (tensor<3xf32>) -> tensor<3x1xf32>
  %2 = graph.map "x0 + x1"(%x, %1) : (tensor<3x2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  %small = graph.constant dense<[0.0, 1.0]> : tensor<2xf32> : tensor<2xf32>
  %grown = graph.compute "x0[i0] + f32(i1 - i2)"(%small) {shape = ["2", "300", "300"], reduce = []} : (tensor<2xf32>) -> tensor<2x300x300xf32>
  func.return %2, %grown : tensor<3x2xf32>, tensor<2x300x300xf32>
}

// CHECK:      func.func @main(%x: tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2x300x300xf32>) {
// CHECK-NEXT: %0 = graph.constant dense<{{\[\[}}2.000000e+00], [4.000000e+00], [8.000000e+00{{\]\]}}> : tensor<3x1xf32> {graph.node = ["/column"]} : tensor<3x1xf32>
// CHECK-NEXT: %1 = graph.map "x0 + x1"(%x, %0) : (tensor<3x2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: %small = graph.constant dense<[0.000000e+00, 1.000000e+00]> : tensor<2xf32> : tensor<2xf32>
// CHECK-NEXT: %grown = graph.compute "x0[i0] + f32(i1 - i2)"(%small) {shape = ["2", "300", "300"], reduce = []} : (tensor<2xf32>) -> tensor<2x300x300xf32>
// CHECK-NEXT: func.return %1, %grown : tensor<3x2xf32>, tensor<2x300x300xf32>
