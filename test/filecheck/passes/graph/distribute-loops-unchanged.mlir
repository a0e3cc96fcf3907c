// RUN: mlc-opt %s -p distribute-loops --split-input-file | filecheck %s

// A difference.

func.func @difference(%s: tensor<3x4xf32>, %w: tensor<4x5xf32>, %u: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>) {
  %a, %b, %c = graph.loop "step0" to "7" carry(%s, %w : tensor<3x4xf32>, tensor<4x5xf32>) use(%u : tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>) attributes {graph.node = ["/loop"], at = ["step0"]} {
  ^bb0(%h: tensor<3x4xf32>, %sum: tensor<4x5xf32>, %used: tensor<3x4xf32>):
    %g = graph.compute "sin(x0[i0, 0] * f32(i1 + 1))"(%h) {graph.node = ["/sin"], shape = ["3", "5"], reduce = []} : (tensor<3x4xf32>) -> tensor<3x5xf32>
    %n = graph.map "(cos(x0) + x1)"(%h, %used) {graph.node = ["/cos"]} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %p = graph.contract "mk,mn->kn"(%h, %g) {graph.node = ["/product"]} : (tensor<3x4xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
    %t = graph.map "(x0 - x1)"(%sum, %p) {graph.node = ["/sum"]} : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
    graph.yield %n, %t, %g : tensor<3x4xf32>, tensor<4x5xf32>, tensor<3x5xf32>
  }
  func.return %a, %b, %c : tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>
}

// CHECK:      func.func @difference(%s: tensor<3x4xf32>, %w: tensor<4x5xf32>, %u: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>) {
// CHECK-NEXT: %a, %b, %c = graph.loop "step0" to "7" carry(%s, %w : tensor<3x4xf32>, tensor<4x5xf32>) use(%u : tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>) attributes {graph.node = ["/loop"], at = ["step0"]} {
// CHECK-NEXT: ^bb0(%h: tensor<3x4xf32>, %sum: tensor<4x5xf32>, %used: tensor<3x4xf32>):
// CHECK-NEXT: %g = graph.compute "sin(x0[i0, 0] * f32(i1 + 1))"(%h) {graph.node = ["/sin"], shape = ["3", "5"], reduce = []} : (tensor<3x4xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: %n = graph.map "(cos(x0) + x1)"(%h, %used) {graph.node = ["/cos"]} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %p = graph.contract "mk,mn->kn"(%h, %g) {graph.node = ["/product"]} : (tensor<3x4xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
// CHECK-NEXT: %t = graph.map "(x0 - x1)"(%sum, %p) {graph.node = ["/sum"]} : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
// CHECK-NEXT: graph.yield %n, %t, %g : tensor<3x4xf32>, tensor<4x5xf32>, tensor<3x5xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.return %a, %b, %c : tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>

// -----

// The last product alone.

func.func @last(%s: tensor<3x4xf32>, %w: tensor<4x5xf32>, %u: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>) {
  %a, %b, %c = graph.loop "step0" to "7" carry(%s, %w : tensor<3x4xf32>, tensor<4x5xf32>) use(%u : tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>) attributes {graph.node = ["/loop"], at = ["step0"]} {
  ^bb0(%h: tensor<3x4xf32>, %sum: tensor<4x5xf32>, %used: tensor<3x4xf32>):
    %g = graph.compute "sin(x0[i0, 0] * f32(i1 + 1))"(%h) {graph.node = ["/sin"], shape = ["3", "5"], reduce = []} : (tensor<3x4xf32>) -> tensor<3x5xf32>
    %n = graph.map "(cos(x0) + x1)"(%h, %used) {graph.node = ["/cos"]} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %p = graph.contract "mk,mn->kn"(%h, %g) {graph.node = ["/product"]} : (tensor<3x4xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
    %t = graph.map "(x0 + x1)"(%sum, %p) {graph.node = ["/sum"]} : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
    graph.yield %n, %p, %g : tensor<3x4xf32>, tensor<4x5xf32>, tensor<3x5xf32>
  }
  func.return %a, %b, %c : tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>
}

// CHECK:      func.func @last(%s: tensor<3x4xf32>, %w: tensor<4x5xf32>, %u: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>) {
// CHECK-NEXT: %a, %b, %c = graph.loop "step0" to "7" carry(%s, %w : tensor<3x4xf32>, tensor<4x5xf32>) use(%u : tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>) attributes {graph.node = ["/loop"], at = ["step0"]} {
// CHECK-NEXT: ^bb0(%h: tensor<3x4xf32>, %sum: tensor<4x5xf32>, %used: tensor<3x4xf32>):
// CHECK-NEXT: %g = graph.compute "sin(x0[i0, 0] * f32(i1 + 1))"(%h) {graph.node = ["/sin"], shape = ["3", "5"], reduce = []} : (tensor<3x4xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: %n = graph.map "(cos(x0) + x1)"(%h, %used) {graph.node = ["/cos"]} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %p = graph.contract "mk,mn->kn"(%h, %g) {graph.node = ["/product"]} : (tensor<3x4xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
// CHECK-NEXT: graph.yield %n, %p, %g : tensor<3x4xf32>, tensor<4x5xf32>, tensor<3x5xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.return %a, %b, %c : tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>

// -----

// The sum is read in the loop.

func.func @read(%s: tensor<3x4xf32>, %w: tensor<4x5xf32>, %u: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>) {
  %a, %b, %c = graph.loop "step0" to "7" carry(%s, %w : tensor<3x4xf32>, tensor<4x5xf32>) use(%u : tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>) attributes {graph.node = ["/loop"], at = ["step0"]} {
  ^bb0(%h: tensor<3x4xf32>, %sum: tensor<4x5xf32>, %used: tensor<3x4xf32>):
    %g = graph.compute "sin(x0[i0, 0] * f32(i1 + 1))"(%h) {graph.node = ["/sin"], shape = ["3", "5"], reduce = []} : (tensor<3x4xf32>) -> tensor<3x5xf32>
    %n = graph.map "(cos(x0) + x1)"(%h, %used) {graph.node = ["/cos"]} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %r = graph.reduce "add"(%sum) {graph.node = ["/read"], axes = array<i64: 0, 1>, keepdims = false} : (tensor<4x5xf32>) -> tensor<f32>
    %q = graph.map "(x0 * x1)"(%n, %r) {graph.node = ["/scaled"]} : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
    %p = graph.contract "mk,mn->kn"(%h, %g) {graph.node = ["/product"]} : (tensor<3x4xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
    %t = graph.map "(x0 + x1)"(%sum, %p) {graph.node = ["/sum"]} : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
    graph.yield %q, %t, %g : tensor<3x4xf32>, tensor<4x5xf32>, tensor<3x5xf32>
  }
  func.return %a, %b, %c : tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>
}

// CHECK:      func.func @read(%s: tensor<3x4xf32>, %w: tensor<4x5xf32>, %u: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>) {
// CHECK-NEXT: %a, %b, %c = graph.loop "step0" to "7" carry(%s, %w : tensor<3x4xf32>, tensor<4x5xf32>) use(%u : tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>) attributes {graph.node = ["/loop"], at = ["step0"]} {
// CHECK-NEXT: ^bb0(%h: tensor<3x4xf32>, %sum: tensor<4x5xf32>, %used: tensor<3x4xf32>):
// CHECK-NEXT: %g = graph.compute "sin(x0[i0, 0] * f32(i1 + 1))"(%h) {graph.node = ["/sin"], shape = ["3", "5"], reduce = []} : (tensor<3x4xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: %n = graph.map "(cos(x0) + x1)"(%h, %used) {graph.node = ["/cos"]} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %r = graph.reduce "add"(%sum) {graph.node = ["/read"], axes = array<i64: 0, 1>, keepdims = false} : (tensor<4x5xf32>) -> tensor<f32>
// CHECK-NEXT: %q = graph.map "(x0 * x1)"(%n, %r) {graph.node = ["/scaled"]} : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
// CHECK-NEXT: %p = graph.contract "mk,mn->kn"(%h, %g) {graph.node = ["/product"]} : (tensor<3x4xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
// CHECK-NEXT: %t = graph.map "(x0 + x1)"(%sum, %p) {graph.node = ["/sum"]} : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
// CHECK-NEXT: graph.yield %q, %t, %g : tensor<3x4xf32>, tensor<4x5xf32>, tensor<3x5xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.return %a, %b, %c : tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>

// -----

// The factors are larger than the sum.

func.func @large(%s: tensor<8x2xf32>, %w: tensor<2x2xf32>) -> (tensor<8x2xf32>, tensor<2x2xf32>) {
  %a, %b = graph.loop "step0" to "7" carry(%s, %w : tensor<8x2xf32>, tensor<2x2xf32>) use() -> (tensor<8x2xf32>, tensor<2x2xf32>) attributes {graph.node = ["/loop"], at = []} {
  ^bb0(%h: tensor<8x2xf32>, %sum: tensor<2x2xf32>):
    %n = graph.map "cos(x0)"(%h) {graph.node = ["/cos"]} : (tensor<8x2xf32>) -> tensor<8x2xf32>
    %p = graph.contract "mk,mn->kn"(%h, %n) {graph.node = ["/product"]} : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<2x2xf32>
    %t = graph.map "(x0 + x1)"(%sum, %p) {graph.node = ["/sum"]} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    graph.yield %n, %t : tensor<8x2xf32>, tensor<2x2xf32>
  }
  func.return %a, %b : tensor<8x2xf32>, tensor<2x2xf32>
}

// CHECK:      func.func @large(%s: tensor<8x2xf32>, %w: tensor<2x2xf32>) -> (tensor<8x2xf32>, tensor<2x2xf32>) {
// CHECK-NEXT: %a, %b = graph.loop "step0" to "7" carry(%s, %w : tensor<8x2xf32>, tensor<2x2xf32>) use() -> (tensor<8x2xf32>, tensor<2x2xf32>) attributes {graph.node = ["/loop"], at = []} {
// CHECK-NEXT: ^bb0(%h: tensor<8x2xf32>, %sum: tensor<2x2xf32>):
// CHECK-NEXT: %n = graph.map "cos(x0)"(%h) {graph.node = ["/cos"]} : (tensor<8x2xf32>) -> tensor<8x2xf32>
// CHECK-NEXT: %p = graph.contract "mk,mn->kn"(%h, %n) {graph.node = ["/product"]} : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<2x2xf32>
// CHECK-NEXT: %t = graph.map "(x0 + x1)"(%sum, %p) {graph.node = ["/sum"]} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
// CHECK-NEXT: graph.yield %n, %t : tensor<8x2xf32>, tensor<2x2xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.return %a, %b : tensor<8x2xf32>, tensor<2x2xf32>
