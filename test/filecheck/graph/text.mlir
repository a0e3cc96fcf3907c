// RUN: mlc-opt %s -p verify-graph --verify-diagnostics --split-input-file | filecheck %s

// A text is its number between the routines that take it in and give it out.

func.func @main(%x: tensor<2x!graph.text> {graph.name = "x"}) -> (tensor<2x!graph.text> {graph.name = "y"}) attributes {graph.texts = ["", "caf\\xe9"]} {
  %0 = graph.text "intern"(%x) {graph.node = ["x"]} : (tensor<2x!graph.text>) -> tensor<2xi64>
  %c = graph.constant dense<1> : tensor<2xi64> : tensor<2xi64>
  %1 = graph.text "concat"(%0, %c) {graph.node = ["/concat"]} : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %2 = graph.text "pieces"(%1) {words = [" "], numbers = array<i64: -1, 1024>} : (tensor<2xi64>) -> tensor<2xi64>
  %3 = graph.text "split"(%1) {words = [" "], numbers = array<i64: -1>} : (tensor<2xi64>) -> tensor<2x4xi64>
  %y = graph.text "extern"(%1) {graph.node = ["y"]} : (tensor<2xi64>) -> tensor<2x!graph.text>
  func.return %y : tensor<2x!graph.text>
}

// CHECK:      func.func @main(%x: tensor<2x!graph.text> {graph.name = "x"}) -> (tensor<2x!graph.text> {graph.name = "y"}) attributes {graph.texts = ["", "caf\\xe9"]} {
// CHECK-NEXT: %0 = graph.text "intern"(%x) {graph.node = ["x"]} : (tensor<2x!graph.text>) -> tensor<2xi64>
// CHECK:      %1 = graph.text "concat"(%0, %c) {graph.node = ["/concat"]} : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
// CHECK-NEXT: %2 = graph.text "pieces"(%1) {words = [" "], numbers = array<i64: -1, 1024>} : (tensor<2xi64>) -> tensor<2xi64>
// CHECK-NEXT: %3 = graph.text "split"(%1) {words = [" "], numbers = array<i64: -1>} : (tensor<2xi64>) -> tensor<2x4xi64>

// -----

func.func @main(%x: tensor<2xi64>) -> tensor<2xi64> {
  %y = graph.text "reverse"(%x) : (tensor<2xi64>) -> tensor<2xi64>
  func.return %y : tensor<2xi64>
}

// CHECK:      graph.text: there is no routine 'reverse'

// -----

func.func @main(%x: tensor<2xf32>) -> tensor<2xi64> {
  %y = graph.text "lower"(%x) : (tensor<2xf32>) -> tensor<2xi64>
  func.return %y : tensor<2xi64>
}

// CHECK:      graph.text: lower takes i64

// -----

func.func @main(%x: tensor<2xi64>) -> tensor<3xi64> {
  %y = graph.text "lower"(%x) : (tensor<2xi64>) -> tensor<3xi64>
  func.return %y : tensor<3xi64>
}

// CHECK:      graph.text: the result type is tensor<3xi64>, the operands give tensor<2xi64>
