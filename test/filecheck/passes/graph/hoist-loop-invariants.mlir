// RUN: mlc-opt %s -p hoist-loop-invariants --split-input-file | filecheck %s

// What depends on no state and not on the iteration is computed before the loop; in a branch it stays.

func.func @main(%x: tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>, %h: tensor<2x4xf32>, %k: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>) {
  %last, %all = graph.loop "step0" to "seq" carry(%h : tensor<2x4xf32>) use(%x, %k : tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>) attributes {graph.node = ["/loop"], at = ["step0"]} {
  ^bb0(%s: tensor<2x4xf32>, %xs: tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>, %0: tensor<2x4xf32>):
    %e = graph.map "exp(x0)"(%0) {graph.node = ["/exp"]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %a = graph.slice(%xs) {graph.node = ["/slice"], starts = ["step0", "0", "0"], sizes = ["1", "2", "4"], steps = array<i64: 1, 1, 1>} : (tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>) -> tensor<1x2x4xf32>
    %b = graph.reshape(%a) {graph.node = ["/slice"], shape = ["2", "4"]} : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
    %n = graph.map "tanh((x0 + x1)) * x2"(%s, %b, %e) {graph.node = ["/tanh"]} : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    graph.yield %n, %n : tensor<2x4xf32>, tensor<2x4xf32>
  }
  func.return %last, %all : tensor<2x4xf32>, tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>
}

// CHECK:      func.func @main(%x: tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>, %h: tensor<2x4xf32>, %k: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>) {
// CHECK-NEXT: %e = graph.map "exp(x0)"(%k) {graph.node = ["/exp"]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: %last, %all = graph.loop "step0" to "seq" carry(%h : tensor<2x4xf32>) use(%x, %e : tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>) attributes {graph.node = ["/loop"], at = ["step0"]} {
// CHECK-NEXT: ^bb0(%s: tensor<2x4xf32>, %xs: tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>, %e_1: tensor<2x4xf32>):
// CHECK-NEXT: %a = graph.slice(%xs) {graph.node = ["/slice"], starts = ["step0", "0", "0"], sizes = ["1", "2", "4"], steps = array<i64: 1, 1, 1>} : (tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>) -> tensor<1x2x4xf32>
// CHECK-NEXT: %b = graph.reshape(%a) {graph.node = ["/slice"], shape = ["2", "4"]} : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: %n = graph.map "tanh((x0 + x1)) * x2"(%s, %b, %e_1) {graph.node = ["/tanh"]} : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: graph.yield %n, %n : tensor<2x4xf32>, tensor<2x4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.return %last, %all : tensor<2x4xf32>, tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>
// CHECK-NEXT: }

// -----

func.func @main(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %y = graph.if(%c : tensor<i1>) use(%x : tensor<4xf32>) -> (tensor<4xf32>) attributes {graph.node = ["/if"]} {
  ^bb0(%a: tensor<4xf32>):
    %e = graph.map "exp(x0)"(%a) {graph.node = ["/exp"]} : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %e : tensor<4xf32>
  } else {
  ^bb0(%b: tensor<4xf32>):
    graph.yield %b : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}

// CHECK:      func.func @main(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
// CHECK-NEXT: %y = graph.if(%c : tensor<i1>) use(%x : tensor<4xf32>) -> (tensor<4xf32>) attributes {graph.node = ["/if"]} {
// CHECK-NEXT: ^bb0(%a: tensor<4xf32>):
// CHECK-NEXT: %e = graph.map "exp(x0)"(%a) {graph.node = ["/exp"]} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: graph.yield %e : tensor<4xf32>
// CHECK-NEXT: } else {
// CHECK-NEXT: ^bb0(%b: tensor<4xf32>):
// CHECK-NEXT: graph.yield %b : tensor<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.return %y : tensor<4xf32>
// CHECK-NEXT: }

// -----

// A state that is passed on is used instead: a weight within the region, another value by an argument. One that leaves the
// block stays a state.

func.func @main(%x: tensor<2x4xf32>, %k: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %w = graph.weight "w" {graph.node = ["/loop"]} : tensor<4x4xf32>
  %h, %v, %l, %u = graph.loop "step0" to "7" carry(%x, %w, %k, %k : tensor<2x4xf32>, tensor<4x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) use() -> (tensor<2x4xf32>, tensor<4x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) attributes {graph.node = ["/loop"], at = []} {
  ^bb0(%s: tensor<2x4xf32>, %a: tensor<4x4xf32>, %b: tensor<2x4xf32>, %c: tensor<2x4xf32>):
    %p = graph.contract "mk,kn->mn"(%s, %a) {graph.node = ["/product"]} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %n = graph.map "tanh(x0 + x1 * x2)"(%p, %b, %c) {graph.node = ["/tanh"]} : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    graph.yield %n, %a, %b, %c : tensor<2x4xf32>, tensor<4x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
  }
  %e = graph.map "x0 - x1"(%h, %l) {graph.node = ["/sub"]} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  func.return %e, %u : tensor<2x4xf32>, tensor<2x4xf32>
}

// CHECK:      func.func @main(%x: tensor<2x4xf32>, %k: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
// CHECK-NEXT: %h, %u = graph.loop "step0" to "7" carry(%x, %k : tensor<2x4xf32>, tensor<2x4xf32>) use(%k : tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) attributes {graph.node = ["/loop"], at = []} {
// CHECK-NEXT: ^bb0(%s: tensor<2x4xf32>, %c: tensor<2x4xf32>, %b: tensor<2x4xf32>):
// CHECK-NEXT: %w = graph.weight "w" {graph.node = ["/loop"]} : tensor<4x4xf32>
// CHECK-NEXT: %p = graph.contract "mk,kn->mn"(%s, %w) {graph.node = ["/product"]} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: %n = graph.map "tanh(x0 + x1 * x2)"(%p, %b, %c) {graph.node = ["/tanh"]} : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: graph.yield %n, %c : tensor<2x4xf32>, tensor<2x4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %e = graph.map "x0 - x1"(%h, %k) {graph.node = ["/sub"]} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: func.return %e, %u : tensor<2x4xf32>, tensor<2x4xf32>
// CHECK-NEXT: }
