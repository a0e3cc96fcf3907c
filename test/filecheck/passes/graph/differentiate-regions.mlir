// RUN: mlc-opt %s -p differentiate --verify-diagnostics --split-input-file | filecheck %s

// A loop collects its states; its pullback runs from the last iteration to the first, computes each anew, and collects
// the adjoints of the rows that iterations read.

func.func @powers(%x: tensor<3xf32>, %rows: tensor<5x3xf32>) -> tensor<3xf32> {
  %y = graph.loop "step0" to "5" carry(%x : tensor<3xf32>) use(%rows : tensor<5x3xf32>) -> (tensor<3xf32>) attributes {at = []} {
  ^bb0(%s: tensor<3xf32>, %r: tensor<5x3xf32>):
    %a = graph.slice(%r) {starts = ["step0", "0"], sizes = ["1", "3"], steps = array<i64: 1, 1>} : (tensor<5x3xf32>) -> tensor<1x3xf32>
    %b = graph.reshape(%a) {shape = ["3"]} : (tensor<1x3xf32>) -> tensor<3xf32>
    %c = graph.map "x0 * x1"(%s, %b) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    graph.yield %c : tensor<3xf32>
  }
  func.return %y : tensor<3xf32>
}

// CHECK:      func.func @powers(%x: tensor<3xf32>, %rows: tensor<5x3xf32>) -> (tensor<3xf32>, tensor<5x3xf32>) {
// CHECK-NEXT: %y, %0 = graph.loop "step0" to "5" carry(%x : tensor<3xf32>) use(%rows : tensor<5x3xf32>) -> (tensor<3xf32>, tensor<5x3xf32>) attributes {at = ["step0"]} {
// CHECK-NEXT: ^bb0(%s: tensor<3xf32>, %r: tensor<5x3xf32>):
// CHECK-NEXT: %a = graph.slice(%r) {starts = ["step0", "0"], sizes = ["1", "3"], steps = array<i64: 1, 1>} : (tensor<5x3xf32>) -> tensor<1x3xf32>
// CHECK-NEXT: %b = graph.reshape(%a) {shape = ["3"]} : (tensor<1x3xf32>) -> tensor<3xf32>
// CHECK-NEXT: %c = graph.map "x0 * x1"(%s, %b) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT: graph.yield %c, %s : tensor<3xf32>, tensor<3xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %1 = graph.compute "f32(1)"() {shape = ["3"], reduce = []} : () -> tensor<3xf32>
// CHECK-NEXT: %2, %3 = graph.loop "step0" to "5" carry(%1 : tensor<3xf32>) use(%rows, %0 : tensor<5x3xf32>, tensor<5x3xf32>) -> (tensor<3xf32>, tensor<5x1x3xf32>) attributes {at = ["-step0+4"]} {
// CHECK-NEXT: ^bb0(%4: tensor<3xf32>, %5: tensor<5x3xf32>, %6: tensor<5x3xf32>):
// CHECK-NEXT: %7 = graph.slice(%6) {starts = ["-step0+4", "0"], sizes = ["1", "3"], steps = array<i64: 1, 1>} : (tensor<5x3xf32>) -> tensor<1x3xf32>
// CHECK-NEXT: %8 = graph.reshape(%7) {shape = ["3"]} : (tensor<1x3xf32>) -> tensor<3xf32>
// CHECK-NEXT: %a = graph.slice(%5) {starts = ["-step0+4", "0"], sizes = ["1", "3"], steps = array<i64: 1, 1>} : (tensor<5x3xf32>) -> tensor<1x3xf32>
// CHECK-NEXT: %b = graph.reshape(%a) {shape = ["3"]} : (tensor<1x3xf32>) -> tensor<3xf32>
// CHECK-NEXT: %9 = graph.map "(x1 * x0)"(%b, %4) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT: %10 = graph.map "(x1 * x0)"(%8, %4) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT: %11 = graph.reshape(%10) {shape = ["1", "3"]} : (tensor<3xf32>) -> tensor<1x3xf32>
// CHECK-NEXT: graph.yield %9, %11 : tensor<3xf32>, tensor<1x3xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %4 = graph.reshape(%3) {shape = ["5", "3"]} : (tensor<5x1x3xf32>) -> tensor<5x3xf32>
// CHECK-NEXT: func.return %2, %4 : tensor<3xf32>, tensor<5x3xf32>
// CHECK-NEXT: }

// -----

// A branch is computed anew.

func.func @either(%c: tensor<i1>, %x: tensor<3xf32>) -> tensor<3xf32> {
  %y = graph.if (%c : tensor<i1>) use(%x : tensor<3xf32>) -> (tensor<3xf32>) {
  ^bb0(%a: tensor<3xf32>):
    %s = graph.map "exp(x0)"(%a) : (tensor<3xf32>) -> tensor<3xf32>
    graph.yield %s : tensor<3xf32>
  } else {
  ^bb0(%a: tensor<3xf32>):
    %s = graph.map "x0 * 2.0"(%a) : (tensor<3xf32>) -> tensor<3xf32>
    graph.yield %s : tensor<3xf32>
  }
  func.return %y : tensor<3xf32>
}

// CHECK:      func.func @either(%c: tensor<i1>, %x: tensor<3xf32>) -> tensor<3xf32> {
// CHECK-NEXT: %0 = graph.compute "f32(1)"() {shape = ["3"], reduce = []} : () -> tensor<3xf32>
// CHECK-NEXT: %1 = graph.if(%c : tensor<i1>) use(%x, %0 : tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>) {
// CHECK-NEXT: ^bb0(%2: tensor<3xf32>, %3: tensor<3xf32>):
// CHECK-NEXT: %s = graph.map "exp(x0)"(%2) : (tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT: %4 = graph.map "(x0 * x1)"(%3, %s) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT: graph.yield %4 : tensor<3xf32>
// CHECK-NEXT: } else {
// CHECK-NEXT: ^bb0(%5: tensor<3xf32>, %6: tensor<3xf32>):
// CHECK-NEXT: %7 = graph.map "(x0 * 2.0)"(%6) : (tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT: graph.yield %7 : tensor<3xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.return %1 : tensor<3xf32>

// -----

// Without a size nothing counts the iterations.

func.func @unbounded(%c: tensor<i1>, %x: tensor<3xf32>) -> tensor<3xf32> {
  %y = graph.loop "step0" to "9" while (%c : tensor<i1>) carry(%x : tensor<3xf32>) use() -> (tensor<3xf32>) attributes {at = [], graph.node = ["here"]} {
  ^bb0(%s: tensor<3xf32>):
    %m = graph.reduce "max"(%s) {axes = array<i64: 0>, keepdims = false} : (tensor<3xf32>) -> tensor<f32>
    %d = graph.map "x0 < 1"(%m) : (tensor<f32>) -> tensor<i1>
    %n = graph.map "x0 * 2.0"(%s) : (tensor<3xf32>) -> tensor<3xf32>
    graph.yield %d, %n : tensor<i1>, tensor<3xf32>
  }
  func.return %y : tensor<3xf32>
}

// CHECK:      a loop on a condition has no derivative in reverse mode (give it max_iterations), at node 'here' (stage 'differentiate').
