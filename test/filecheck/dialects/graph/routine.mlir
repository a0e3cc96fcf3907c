// RUN: mlc-opt %s -p verify-graph --verify-diagnostics --split-input-file | filecheck %s

// A string is its number between the routines that take it in and give it out.

func.func @main(%x: tensor<2x!graph.string> {graph.name = "x"}) -> (tensor<2x!graph.string> {graph.name = "y"}) attributes {graph.strings = ["", "caf\\xe9"]} {
  %0 = graph.routine "string.intern"(%x) {graph.node = ["x"]} : (tensor<2x!graph.string>) -> tensor<2xi64>
  %c = graph.constant dense<1> : tensor<2xi64> : tensor<2xi64>
  %1 = graph.routine "string.concat"(%0, %c) {graph.node = ["/concat"]} : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %2 = graph.routine "string.pieces"(%1) {words = [" "], numbers = array<i64: -1, 1024>} : (tensor<2xi64>) -> tensor<2xi64>
  %3 = graph.routine "string.split"(%1) {words = [" "], numbers = array<i64: -1>} : (tensor<2xi64>) -> tensor<2x4xi64>
  %y = graph.routine "string.extern"(%1) {graph.node = ["y"]} : (tensor<2xi64>) -> tensor<2x!graph.string>
  func.return %y : tensor<2x!graph.string>
}

// CHECK:      func.func @main(%x: tensor<2x!graph.string> {graph.name = "x"}) -> (tensor<2x!graph.string> {graph.name = "y"}) attributes {graph.strings = ["", "caf\\xe9"]} {
// CHECK-NEXT: %0 = graph.routine "string.intern"(%x) {graph.node = ["x"]} : (tensor<2x!graph.string>) -> tensor<2xi64>
// CHECK:      %1 = graph.routine "string.concat"(%0, %c) {graph.node = ["/concat"]} : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
// CHECK-NEXT: %2 = graph.routine "string.pieces"(%1) {words = [" "], numbers = array<i64: -1, 1024>} : (tensor<2xi64>) -> tensor<2xi64>
// CHECK-NEXT: %3 = graph.routine "string.split"(%1) {words = [" "], numbers = array<i64: -1>} : (tensor<2xi64>) -> tensor<2x4xi64>

// -----

func.func @main(%x: tensor<2xi64>) -> tensor<2xi64> {
  %y = graph.routine "string.reverse"(%x) : (tensor<2xi64>) -> tensor<2xi64>
  func.return %y : tensor<2xi64>
}

// CHECK:      graph.routine: there is no routine 'string.reverse'

// -----

func.func @main(%x: tensor<2xf32>) -> tensor<2xi64> {
  %y = graph.routine "string.lower"(%x) : (tensor<2xf32>) -> tensor<2xi64>
  func.return %y : tensor<2xi64>
}

// CHECK:      graph.routine: string.lower takes i64

// -----

func.func @main(%x: tensor<2xi64>) -> tensor<3xi64> {
  %y = graph.routine "string.lower"(%x) : (tensor<2xi64>) -> tensor<3xi64>
  func.return %y : tensor<3xi64>
}

// CHECK:      graph.routine: the result type is tensor<3xi64>, inferred from the operands tensor<2xi64>

// -----

// The shape of what a decoder gives is its own: room for the largest image, and four bytes for its size.

func.func @main(%x: tensor<?xui8, #graph.dims<["n"]>>) -> tensor<196612xui8> {
  %y = graph.routine "image.decode"(%x) {words = ["too large"], numbers = array<i64: 256, 1>} : (tensor<?xui8, #graph.dims<["n"]>>) -> tensor<196612xui8>
  func.return %y : tensor<196612xui8>
}

// CHECK:      %y = graph.routine "image.decode"(%x) {words = ["too large"], numbers = array<i64: 256, 1>} : (tensor<?xui8, #graph.dims<["n"]>>) -> tensor<196612xui8>
