// RUN: mlc-opt %s -p verify-graph --verify-diagnostics --split-input-file | filecheck %s

// Loops and branches whose regions do not fit.

func.func @main(%x: tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>, %h: tensor<2x4xf32>, %k: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>) {
  %last, %all = graph.loop "iteration" to "seq" carry(%h : tensor<2x4xf32>) use(%x, %k : tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>) attributes {graph.node = ["/loop"], at = ["0"]} {
  ^bb0(%s: tensor<2x4xf32>, %xs: tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>, %0: tensor<2x4xf32>):
    %e = graph.map "exp(x0)"(%0) {graph.node = ["/exp"]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %a = graph.slice(%xs) {graph.node = ["/slice"], starts = ["0", "0", "0"], sizes = ["1", "2", "4"], steps = array<i64: 1, 1, 1>} : (tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>) -> tensor<1x2x4xf32>
    %b = graph.reshape(%a) {graph.node = ["/slice"], shape = ["2", "4"]} : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
    %n = graph.map "tanh((x0 + x1)) * x2"(%s, %b, %e) {graph.node = ["/tanh"]} : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    graph.yield %n, %n : tensor<2x4xf32>, tensor<2x4xf32>
  }
  func.return %last, %all : tensor<2x4xf32>, tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>
}

// CHECK: graph.loop: 'iteration' is not the name of a step, such as step0

// -----

func.func @main(%x: tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>, %h: tensor<2x4xf32>, %k: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>) {
  %last, %all = graph.loop "step0" to "seq" carry(%h : tensor<2x4xf32>) use(%x, %k : tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>) attributes {graph.node = ["/loop"], at = ["step0"]} {
  ^bb0(%s: tensor<2x4xf32>, %xs: tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>, %0: tensor<2x4xf32>):
    %e = graph.map "exp(x0)"(%0) {graph.node = ["/exp"]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %a = graph.slice(%xs) {graph.node = ["/slice"], starts = ["step0", "0", "0"], sizes = ["1", "2", "4"], steps = array<i64: 1, 1, 1>} : (tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>) -> tensor<1x2x4xf32>
    %b = graph.reshape(%a) {graph.node = ["/slice"], shape = ["2", "4"]} : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
    %n = graph.map "tanh((x0 + x1)) * x2"(%s, %b, %e) {graph.node = ["/tanh"]} : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    graph.yield %a, %n : tensor<1x2x4xf32>, tensor<2x4xf32>
  }
  func.return %last, %all : tensor<2x4xf32>, tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>
}

// CHECK: graph.loop: carried (tensor<2x4xf32>) become (tensor<1x2x4xf32>)

// -----

func.func @main(%x: tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>, %h: tensor<2x4xf32>, %k: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>) {
  %last, %all = graph.loop "step0" to "seq" carry(%h : tensor<2x4xf32>) use(%x, %k : tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>) attributes {graph.node = ["/loop"], at = []} {
  ^bb0(%s: tensor<2x4xf32>, %xs: tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>, %0: tensor<2x4xf32>):
    %e = graph.map "exp(x0)"(%0) {graph.node = ["/exp"]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %a = graph.slice(%xs) {graph.node = ["/slice"], starts = ["step0", "0", "0"], sizes = ["1", "2", "4"], steps = array<i64: 1, 1, 1>} : (tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>) -> tensor<1x2x4xf32>
    %b = graph.reshape(%a) {graph.node = ["/slice"], shape = ["2", "4"]} : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
    %n = graph.map "tanh((x0 + x1)) * x2"(%s, %b, %e) {graph.node = ["/tanh"]} : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    graph.yield %n, %n : tensor<2x4xf32>, tensor<2x4xf32>
  }
  func.return %last, %all : tensor<2x4xf32>, tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>
}

// CHECK: graph.loop: its results are (tensor<2x4xf32>, tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>)

// -----

func.func @main(%h: tensor<4xf32>, %n: tensor<i64>, %go: tensor<i1>) -> (tensor<4xf32>, tensor<9x4xf32>) {
  %last, %all = graph.loop "step0" to "9" limit(%n : tensor<i64>) while(%go : tensor<i1>) carry(%h : tensor<4xf32>) use() -> (tensor<4xf32>, tensor<9x4xf32>) attributes {graph.node = ["/loop"], at = ["step0"]} {
  ^bb0(%s: tensor<4xf32>):
    %m = graph.map "x0 * 0.5"(%s) {graph.node = ["/half"]} : (tensor<4xf32>) -> tensor<4xf32>
    %r = graph.reduce "max"(%m) {graph.node = ["/max"], axes = array<i64: 0>, keepdims = false} : (tensor<4xf32>) -> tensor<f32>
    %more = graph.map "x0 > 0.1"(%r) {graph.node = ["/more"]} : (tensor<f32>) -> tensor<i1>
    graph.yield %more, %m, %s : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  }
  func.return %last, %all : tensor<4xf32>, tensor<9x4xf32>
}

// CHECK: graph.loop: a run-time number of collected iterations needs a size

// -----

func.func @main(%x: tensor<4xf32>, %c: tensor<1xi1>) -> tensor<4xf32> {
  %y = graph.if(%c : tensor<1xi1>) use(%x : tensor<4xf32>) -> (tensor<4xf32>) attributes {graph.node = ["/if"]} {
  ^bb0(%a: tensor<4xf32>):
    %e = graph.map "exp(x0)"(%a) {graph.node = ["/exp"]} : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %e : tensor<4xf32>
  } else {
  ^bb0(%b: tensor<4xf32>):
    graph.yield %b : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}

// CHECK: graph.if: its condition is not a single predicate

// -----

func.func @main(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %y = graph.if(%c : tensor<i1>) use(%x : tensor<4xf32>) -> (tensor<4xf32>) attributes {graph.node = ["/if"]} {
  ^bb0(%a: tensor<4xf32>):
    %e = graph.map "exp(x0)"(%a) {graph.node = ["/exp"]} : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %e : tensor<4xf32>
  } else {
  ^bb0(%b: tensor<4xf32>):
    graph.yield
  }
  func.return %y : tensor<4xf32>
}

// CHECK: graph.if: a region does not yield (tensor<4xf32>)
