// RUN: mlc-opt %s -p distribute-loops --split-input-file | filecheck %s

// The loop collects both factors of the product, one of which it collected before.

func.func @main(%s: tensor<3x4xf32>, %w: tensor<4x5xf32>, %u: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>) {
  %a, %b, %c = graph.loop "step0" to "7" carry(%s, %w : tensor<3x4xf32>, tensor<4x5xf32>) use(%u : tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>) attributes {graph.node = ["/loop"], at = ["step0"]} {
  ^bb0(%h: tensor<3x4xf32>, %sum: tensor<4x5xf32>, %used: tensor<3x4xf32>):
    %g = graph.compute "sin(x0[i0, 0] * f32(i1 + 1))"(%h) {graph.node = ["/sin"], shape = ["3", "5"], reduce = []} : (tensor<3x4xf32>) -> tensor<3x5xf32>
    %n = graph.map "(cos(x0) + x1)"(%h, %used) {graph.node = ["/cos"]} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %p = graph.contract "mk,mn->kn"(%h, %g) {graph.node = ["/product"]} : (tensor<3x4xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
    %t = graph.map "(x0 + x1)"(%sum, %p) {graph.node = ["/sum"]} : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
    graph.yield %n, %t, %g : tensor<3x4xf32>, tensor<4x5xf32>, tensor<3x5xf32>
  }
  func.return %a, %b, %c : tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>
}

// CHECK:      func.func @main(%s: tensor<3x4xf32>, %w: tensor<4x5xf32>, %u: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>) {
// CHECK-NEXT: %a, %c, %0 = graph.loop "step0" to "7" carry(%s : tensor<3x4xf32>) use(%u : tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<7x3x5xf32>, tensor<7x3x4xf32>) attributes {graph.node = ["/loop"], at = ["step0", "step0"]} {
// CHECK-NEXT: ^bb0(%h: tensor<3x4xf32>, %used: tensor<3x4xf32>):
// CHECK-NEXT: %g = graph.compute "sin(x0[i0, 0] * f32(i1 + 1))"(%h) {graph.node = ["/sin"], shape = ["3", "5"], reduce = []} : (tensor<3x4xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: %n = graph.map "(cos(x0) + x1)"(%h, %used) {graph.node = ["/cos"]} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: graph.yield %n, %g, %h : tensor<3x4xf32>, tensor<3x5xf32>, tensor<3x4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %1 = graph.contract "amk,amn->kn"(%0, %c) {graph.node = ["/product"]} : (tensor<7x3x4xf32>, tensor<7x3x5xf32>) -> tensor<4x5xf32>
// CHECK-NEXT: %b = graph.map "(x0 + x1)"(%w, %1) {graph.node = ["/product"]} : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
// CHECK-NEXT: func.return %a, %b, %c : tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>

// -----

// What is collected from the last to the first iteration is collected once more.

func.func @backwards(%s: tensor<3x4xf32>, %w: tensor<4x5xf32>, %u: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>) {
  %a, %b, %c = graph.loop "step0" to "7" carry(%s, %w : tensor<3x4xf32>, tensor<4x5xf32>) use(%u : tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>) attributes {graph.node = ["/loop"], at = ["-step0+6"]} {
  ^bb0(%h: tensor<3x4xf32>, %sum: tensor<4x5xf32>, %used: tensor<3x4xf32>):
    %g = graph.compute "sin(x0[i0, 0] * f32(i1 + 1))"(%h) {graph.node = ["/sin"], shape = ["3", "5"], reduce = []} : (tensor<3x4xf32>) -> tensor<3x5xf32>
    %n = graph.map "(cos(x0) + x1)"(%h, %used) {graph.node = ["/cos"]} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %p = graph.contract "mk,mn->kn"(%h, %g) {graph.node = ["/product"]} : (tensor<3x4xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
    %t = graph.map "(x0 + x1)"(%sum, %p) {graph.node = ["/sum"]} : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
    graph.yield %n, %t, %g : tensor<3x4xf32>, tensor<4x5xf32>, tensor<3x5xf32>
  }
  func.return %a, %b, %c : tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>
}

// CHECK:      func.func @backwards(%s: tensor<3x4xf32>, %w: tensor<4x5xf32>, %u: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>) {
// CHECK-NEXT: %a, %c, %0, %1 = graph.loop "step0" to "7" carry(%s : tensor<3x4xf32>) use(%u : tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<7x3x5xf32>, tensor<7x3x4xf32>, tensor<7x3x5xf32>) attributes {graph.node = ["/loop"], at = ["-step0+6", "step0", "step0"]} {
// CHECK-NEXT: ^bb0(%h: tensor<3x4xf32>, %used: tensor<3x4xf32>):
// CHECK-NEXT: %g = graph.compute "sin(x0[i0, 0] * f32(i1 + 1))"(%h) {graph.node = ["/sin"], shape = ["3", "5"], reduce = []} : (tensor<3x4xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: %n = graph.map "(cos(x0) + x1)"(%h, %used) {graph.node = ["/cos"]} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: graph.yield %n, %g, %h, %g : tensor<3x4xf32>, tensor<3x5xf32>, tensor<3x4xf32>, tensor<3x5xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %2 = graph.contract "amk,amn->kn"(%0, %1) {graph.node = ["/product"]} : (tensor<7x3x4xf32>, tensor<7x3x5xf32>) -> tensor<4x5xf32>
// CHECK-NEXT: %b = graph.map "(x0 + x1)"(%w, %2) {graph.node = ["/product"]} : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
// CHECK-NEXT: func.return %a, %b, %c : tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>

// -----

// A factor from outside is not collected.

func.func @outside(%s: tensor<3x4xf32>, %w: tensor<4x5xf32>, %u: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>) {
  %a, %b, %c = graph.loop "step0" to "7" carry(%s, %w : tensor<3x4xf32>, tensor<4x5xf32>) use(%u : tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>) attributes {graph.node = ["/loop"], at = ["step0"]} {
  ^bb0(%h: tensor<3x4xf32>, %sum: tensor<4x5xf32>, %used: tensor<3x4xf32>):
    %g = graph.compute "sin(x0[i0, 0] * f32(i1 + 1))"(%h) {graph.node = ["/sin"], shape = ["3", "5"], reduce = []} : (tensor<3x4xf32>) -> tensor<3x5xf32>
    %n = graph.map "(cos(x0) + x1)"(%h, %used) {graph.node = ["/cos"]} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %p = graph.contract "mk,mn->kn"(%used, %g) {graph.node = ["/product"]} : (tensor<3x4xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
    %t = graph.map "(x0 + x1)"(%sum, %p) {graph.node = ["/sum"]} : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
    graph.yield %n, %t, %g : tensor<3x4xf32>, tensor<4x5xf32>, tensor<3x5xf32>
  }
  func.return %a, %b, %c : tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>
}

// CHECK:      func.func @outside(%s: tensor<3x4xf32>, %w: tensor<4x5xf32>, %u: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>) {
// CHECK-NEXT: %a, %c = graph.loop "step0" to "7" carry(%s : tensor<3x4xf32>) use(%u : tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<7x3x5xf32>) attributes {graph.node = ["/loop"], at = ["step0"]} {
// CHECK-NEXT: ^bb0(%h: tensor<3x4xf32>, %used: tensor<3x4xf32>):
// CHECK-NEXT: %g = graph.compute "sin(x0[i0, 0] * f32(i1 + 1))"(%h) {graph.node = ["/sin"], shape = ["3", "5"], reduce = []} : (tensor<3x4xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: %n = graph.map "(cos(x0) + x1)"(%h, %used) {graph.node = ["/cos"]} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: graph.yield %n, %g : tensor<3x4xf32>, tensor<3x5xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %0 = graph.contract "mk,amn->kn"(%u, %c) {graph.node = ["/product"]} : (tensor<3x4xf32>, tensor<7x3x5xf32>) -> tensor<4x5xf32>
// CHECK-NEXT: %b = graph.map "(x0 + x1)"(%w, %0) {graph.node = ["/product"]} : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
// CHECK-NEXT: func.return %a, %b, %c : tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>

// -----

// The factors are exchanged, and the sum.

func.func @exchanged(%s: tensor<3x4xf32>, %w: tensor<4x5xf32>, %u: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>) {
  %a, %b, %c = graph.loop "step0" to "7" carry(%s, %w : tensor<3x4xf32>, tensor<4x5xf32>) use(%u : tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>) attributes {graph.node = ["/loop"], at = ["step0"]} {
  ^bb0(%h: tensor<3x4xf32>, %sum: tensor<4x5xf32>, %used: tensor<3x4xf32>):
    %g = graph.compute "sin(x0[i0, 0] * f32(i1 + 1))"(%h) {graph.node = ["/sin"], shape = ["3", "5"], reduce = []} : (tensor<3x4xf32>) -> tensor<3x5xf32>
    %n = graph.map "(cos(x0) + x1)"(%h, %used) {graph.node = ["/cos"]} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %p = graph.contract "mn,mk->kn"(%g, %n) {graph.node = ["/product"]} : (tensor<3x5xf32>, tensor<3x4xf32>) -> tensor<4x5xf32>
    %t = graph.map "(x0 + x1)"(%p, %sum) {graph.node = ["/sum"]} : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
    graph.yield %n, %t, %g : tensor<3x4xf32>, tensor<4x5xf32>, tensor<3x5xf32>
  }
  func.return %a, %b, %c : tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>
}

// CHECK:      func.func @exchanged(%s: tensor<3x4xf32>, %w: tensor<4x5xf32>, %u: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>) {
// CHECK-NEXT: %a, %c, %0 = graph.loop "step0" to "7" carry(%s : tensor<3x4xf32>) use(%u : tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<7x3x5xf32>, tensor<7x3x4xf32>) attributes {graph.node = ["/loop"], at = ["step0", "step0"]} {
// CHECK-NEXT: ^bb0(%h: tensor<3x4xf32>, %used: tensor<3x4xf32>):
// CHECK-NEXT: %g = graph.compute "sin(x0[i0, 0] * f32(i1 + 1))"(%h) {graph.node = ["/sin"], shape = ["3", "5"], reduce = []} : (tensor<3x4xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: %n = graph.map "(cos(x0) + x1)"(%h, %used) {graph.node = ["/cos"]} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: graph.yield %n, %g, %n : tensor<3x4xf32>, tensor<3x5xf32>, tensor<3x4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %1 = graph.contract "amn,amk->kn"(%c, %0) {graph.node = ["/product"]} : (tensor<7x3x5xf32>, tensor<7x3x4xf32>) -> tensor<4x5xf32>
// CHECK-NEXT: %b = graph.map "(x0 + x1)"(%w, %1) {graph.node = ["/product"]} : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
// CHECK-NEXT: func.return %a, %b, %c : tensor<3x4xf32>, tensor<4x5xf32>, tensor<7x3x5xf32>

// -----

// The number of iterations is a symbolic dimension.

func.func @symbolic(%s: tensor<3x4xf32>, %w: tensor<4x5xf32>, %u: tensor<3x4xf32>, %k: tensor<?xf32, #graph.dims<["k"]>>) -> (tensor<3x4xf32>, tensor<4x5xf32>, tensor<?x3x5xf32, #graph.dims<["k", "3", "5"]>>) {
  %a, %b, %c = graph.loop "step0" to "k" carry(%s, %w : tensor<3x4xf32>, tensor<4x5xf32>) use(%u : tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<4x5xf32>, tensor<?x3x5xf32, #graph.dims<["k", "3", "5"]>>) attributes {graph.node = ["/loop"], at = ["step0"]} {
  ^bb0(%h: tensor<3x4xf32>, %sum: tensor<4x5xf32>, %used: tensor<3x4xf32>):
    %g = graph.compute "sin(x0[i0, 0] * f32(i1 + 1))"(%h) {graph.node = ["/sin"], shape = ["3", "5"], reduce = []} : (tensor<3x4xf32>) -> tensor<3x5xf32>
    %n = graph.map "(cos(x0) + x1)"(%h, %used) {graph.node = ["/cos"]} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %p = graph.contract "mk,mn->kn"(%h, %g) {graph.node = ["/product"]} : (tensor<3x4xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
    %t = graph.map "(x0 + x1)"(%sum, %p) {graph.node = ["/sum"]} : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
    graph.yield %n, %t, %g : tensor<3x4xf32>, tensor<4x5xf32>, tensor<3x5xf32>
  }
  func.return %a, %b, %c : tensor<3x4xf32>, tensor<4x5xf32>, tensor<?x3x5xf32, #graph.dims<["k", "3", "5"]>>
}

// CHECK:      func.func @symbolic(%s: tensor<3x4xf32>, %w: tensor<4x5xf32>, %u: tensor<3x4xf32>, %k: tensor<?xf32, #graph.dims<["k"]>>) -> (tensor<3x4xf32>, tensor<4x5xf32>, tensor<?x3x5xf32, #graph.dims<["k", "3", "5"]>>) {
// CHECK-NEXT: %a, %c, %0 = graph.loop "step0" to "k" carry(%s : tensor<3x4xf32>) use(%u : tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<?x3x5xf32, #graph.dims<["k", "3", "5"]>>, tensor<?x3x4xf32, #graph.dims<["k", "3", "4"]>>) attributes {graph.node = ["/loop"], at = ["step0", "step0"]} {
// CHECK-NEXT: ^bb0(%h: tensor<3x4xf32>, %used: tensor<3x4xf32>):
// CHECK-NEXT: %g = graph.compute "sin(x0[i0, 0] * f32(i1 + 1))"(%h) {graph.node = ["/sin"], shape = ["3", "5"], reduce = []} : (tensor<3x4xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: %n = graph.map "(cos(x0) + x1)"(%h, %used) {graph.node = ["/cos"]} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: graph.yield %n, %g, %h : tensor<3x4xf32>, tensor<3x5xf32>, tensor<3x4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %1 = graph.contract "amk,amn->kn"(%0, %c) {graph.node = ["/product"]} : (tensor<?x3x4xf32, #graph.dims<["k", "3", "4"]>>, tensor<?x3x5xf32, #graph.dims<["k", "3", "5"]>>) -> tensor<4x5xf32>
// CHECK-NEXT: %b = graph.map "(x0 + x1)"(%w, %1) {graph.node = ["/product"]} : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
// CHECK-NEXT: func.return %a, %b, %c : tensor<3x4xf32>, tensor<4x5xf32>, tensor<?x3x5xf32, #graph.dims<["k", "3", "5"]>>
