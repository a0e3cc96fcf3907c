// RUN: mlc-opt %s -p canonicalize-graph --verify-diagnostics --split-input-file | filecheck %s

// Expressions are simplified without changing a bit; constants become literals, operands are read unstretched and once.

func.func @algebra(%x: tensor<3xf32>, %c: tensor<3xi1>, %n: tensor<3xi64>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xi64>) {
  %0 = graph.map "where(x0, neg(neg(x1)), max(x1, (-inf)))"(%c, %x) : (tensor<3xi1>, tensor<3xf32>) -> tensor<3xf32>
  %1 = graph.map "(x0 + 0.0) * 1.0 + 2.0 * 3.0"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %2 = graph.map "i64((x0 + 0) * 1) - x1"(%n, %n) : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
  func.return %0, %1, %2 : tensor<3xf32>, tensor<3xf32>, tensor<3xi64>
}

// CHECK:      func.func @algebra(%x: tensor<3xf32>, %c: tensor<3xi1>, %n: tensor<3xi64>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xi64>) {
// CHECK-NEXT: %0 = graph.map "where(x0, x1, x1)"(%c, %x) : (tensor<3xi1>, tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT: %1 = graph.map "((x0 + 0.0) + (2.0 * 3.0))"(%x) : (tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT: %2 = graph.map "(x0 - x0)"(%n) : (tensor<3xi64>) -> tensor<3xi64>
// CHECK-NEXT: func.return %0, %1, %2 : tensor<3xf32>, tensor<3xf32>, tensor<3xi64>

// -----

func.func @powers_and_quotients(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %0 = graph.map "x0 ** 3 + x0 ** -1 + x0 ** 5"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %1 = graph.map "x0 / 8.0 - x0 / 3.0"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  func.return %0, %1 : tensor<3xf32>, tensor<3xf32>
}

// CHECK:      func.func @powers_and_quotients(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
// CHECK-NEXT: %0 = graph.map "((((x0 * x0) * x0) + (1 / x0)) + (x0 ** 5))"(%x) : (tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT: %1 = graph.map "((x0 * 0.125) - (x0 / 3.0))"(%x) : (tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT: func.return %0, %1 : tensor<3xf32>, tensor<3xf32>

// -----

func.func @operands(%x: tensor<2x3xf32>, %b: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi1>) {
  %c = graph.constant dense<[1.0, 2.0, 4.0]> : tensor<3xf32> : tensor<3xf32>
  %t = graph.constant dense<true> : tensor<2x1xi1> : tensor<2x1xi1>
  %r = graph.reshape(%b) {shape = ["1", "3"]} : (tensor<3xf32>) -> tensor<1x3xf32>
  %w = graph.broadcast(%c) {shape = ["2", "3"]} : (tensor<3xf32>) -> tensor<2x3xf32>
  %0 = graph.map "x1 * x0 + x3"(%w, %x, %x, %r) : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %1 = graph.map "where(x0, x1 > 0.5, x1 < 0.25)"(%t, %x) : (tensor<2x1xi1>, tensor<2x3xf32>) -> tensor<2x3xi1>
  func.return %0, %1 : tensor<2x3xf32>, tensor<2x3xi1>
}

// CHECK:      func.func @operands(%x: tensor<2x3xf32>, %b: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi1>) {
// CHECK-NEXT: %c = graph.constant dense<[1.000000e+00, 2.000000e+00, 4.000000e+00]> : tensor<3xf32> : tensor<3xf32>
// CHECK-NEXT: %0 = graph.map "((x1 * x0) + x2)"(%c, %x, %b) : (tensor<3xf32>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %1 = graph.map "(x0 > 0.5)"(%x) : (tensor<2x3xf32>) -> tensor<2x3xi1>
// CHECK-NEXT: func.return %0, %1 : tensor<2x3xf32>, tensor<2x3xi1>

// -----

func.func @the_shape_stays(%x: tensor<2x1xf32>, %y: tensor<1x3xf32>) -> tensor<2x3xf32> {
  %w = graph.broadcast(%x) {shape = ["2", "3"]} : (tensor<2x1xf32>) -> tensor<2x3xf32>
  %0 = graph.map "exp(x0)"(%w) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = graph.map "x0 + 0.0 * x1"(%x, %y) : (tensor<2x1xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %2 = graph.map "x0 - x1"(%0, %1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %2 : tensor<2x3xf32>
}

// CHECK:      func.func @the_shape_stays(%x: tensor<2x1xf32>, %y: tensor<1x3xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT: %w = graph.broadcast(%x) {shape = ["2", "3"]} : (tensor<2x1xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %0 = graph.map "exp(x0)"(%w) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %1 = graph.map "x0 + 0.0 * x1"(%x, %y) : (tensor<2x1xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %2 = graph.map "x0 - x1"(%0, %1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: func.return %2 : tensor<2x3xf32>
