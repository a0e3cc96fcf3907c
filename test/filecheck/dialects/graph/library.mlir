// RUN: mlc-opt %s -p verify-graph --verify-diagnostics --split-input-file | filecheck %s

// Few elements are selected in place; for many, a row has room for twice as many as there are.

func.func @main(%x: tensor<2x100x1xf32>) -> (tensor<2x5xi64>, tensor<2x200xi64>, tensor<2x100x1xf32>) {
  %a = graph.argsort(%x) {count = "5", descending = true, graph.node = ["/a"]} : tensor<2x100x1xf32> -> tensor<2x5xi64>
  %b = graph.argsort(%x) {count = "13", descending = false, graph.node = ["/b"]} : tensor<2x100x1xf32> -> tensor<2x200xi64>
  %c = graph.scan "add"(%x) {exclusive = false, reverse = true, graph.node = ["/c"]} : tensor<2x100x1xf32> -> tensor<2x100x1xf32>
  func.return %a, %b, %c : tensor<2x5xi64>, tensor<2x200xi64>, tensor<2x100x1xf32>
}

// CHECK:      %a = graph.argsort(%x) {{.*}} : tensor<2x100x1xf32> -> tensor<2x5xi64>
// CHECK-NEXT: %b = graph.argsort(%x) {{.*}} : tensor<2x100x1xf32> -> tensor<2x200xi64>
// CHECK-NEXT: %c = graph.scan "add"(%x) {{.*}} : tensor<2x100x1xf32> -> tensor<2x100x1xf32>

// -----

func.func @main(%x: tensor<2x100xf32>) -> tensor<2x5xi64> {
  %a = graph.argsort(%x) {count = "5", descending = true} : tensor<2x100xf32> -> tensor<2x5xi64>
  func.return %a : tensor<2x5xi64>
}

// CHECK:      graph.argsort: it takes a tensor of rank 3 of f32, f64, i32, i64, ui64, not tensor<2x100xf32>

// -----

func.func @main(%x: tensor<2x8x1xf32>) -> tensor<2x8x1xf32> {
  %a = graph.scan "max"(%x) {exclusive = false, reverse = false} : tensor<2x8x1xf32> -> tensor<2x8x1xf32>
  func.return %a : tensor<2x8x1xf32>
}

// CHECK:      graph.scan: there are running sums and products, not 'max'

// -----

func.func @main(%b: tensor<1x9x4xf32>, %s: tensor<2x8xf32>, %m: tensor<i64>, %o: tensor<f32>) -> tensor<2x13xi64> {
  %a = graph.non_max_suppression(%b, %s, %m, %o, %o) {limit = "5"} : tensor<1x9x4xf32>, tensor<2x8xf32>, tensor<i64>, tensor<f32>, tensor<f32> -> tensor<2x13xi64>
  func.return %a : tensor<2x13xi64>
}

// CHECK:      graph.non_max_suppression: boxes tensor<1x9x4xf32> and scores tensor<2x8xf32> do not fit

// -----

func.func @main(%d: tensor<9x4xf16>, %p: tensor<3xi64>, %u: tensor<3x4xf16>) -> tensor<9x4xf16> {
  %a = graph.scatter "none"(%d, %p, %u) {graph.node = ["/a"]} : tensor<9x4xf16>, tensor<3xi64>, tensor<3x4xf16> -> tensor<9x4xf16>
  func.return %a : tensor<9x4xf16>
}

// CHECK:      %a = graph.scatter "none"(%d, %p, %u)

// -----

func.func @main(%d: tensor<9x4xf16>, %p: tensor<3xi64>, %u: tensor<3x4xf16>) -> tensor<9x4xf16> {
  %a = graph.scatter "add"(%d, %p, %u) : tensor<9x4xf16>, tensor<3xi64>, tensor<3x4xf16> -> tensor<9x4xf16>
  func.return %a : tensor<9x4xf16>
}

// CHECK:      graph.scatter: it takes a tensor of rank 2 of f32, f64, i32, i64, ui64, not tensor<9x4xf16>

// -----

func.func @main(%d: tensor<9x4xf32>, %p: tensor<3xi64>, %u: tensor<2x4xf32>) -> tensor<9x4xf32> {
  %a = graph.scatter "add"(%d, %p, %u) : tensor<9x4xf32>, tensor<3xi64>, tensor<2x4xf32> -> tensor<9x4xf32>
  func.return %a : tensor<9x4xf32>
}

// CHECK:      graph.scatter: updates tensor<2x4xf32> do not fit indices tensor<3xi64>

// -----

// What follows from its predecessors: fractions, and points of the disc.

func.func @main(%k: tensor<3xi64>) -> (tensor<?xf64, #graph.dims<["n"]>>, tensor<30x2xf64>) {
  %u = graph.random_draw "uniform"(%k) : tensor<3xi64> -> tensor<?xf64, #graph.dims<["n"]>>
  %p = graph.random_draw "disc"(%k) : tensor<3xi64> -> tensor<30x2xf64>
  func.return %u, %p : tensor<?xf64, #graph.dims<["n"]>>, tensor<30x2xf64>
}

// CHECK:      %u = graph.random_draw "uniform"(%k) : tensor<3xi64> -> tensor<?xf64, #graph.dims<["n"]>>
// CHECK-NEXT: %p = graph.random_draw "disc"(%k) : tensor<3xi64> -> tensor<30x2xf64>

// -----

func.func @main(%k: tensor<3xi64>) -> tensor<30x3xf64> {
  %p = graph.random_draw "disc"(%k) : tensor<3xi64> -> tensor<30x3xf64>
  func.return %p : tensor<30x3xf64>
}

// CHECK:      graph.random_draw: the result type is tensor<30x3xf64>, inferred from the operands tensor<30x2xf64>

// -----

func.func @main(%k: tensor<3xi64>) -> tensor<30xf64> {
  %p = graph.random_draw "poisson"(%k) : tensor<3xi64> -> tensor<30xf64>
  func.return %p : tensor<30xf64>
}

// CHECK:      graph.random_draw: there are uniform and disc, not 'poisson'

// -----

func.func @main(%k: tensor<3xi32>) -> tensor<30xf64> {
  %p = graph.random_draw "uniform"(%k) : tensor<3xi32> -> tensor<30xf64>
  func.return %p : tensor<30xf64>
}

// CHECK:      graph.random_draw: a key is a vector of i64, not tensor<3xi32>

// -----

func.func @main(%k: tensor<?x2xi32, #graph.dims<["n", "2"]>>, %n: tensor<3x2xi32>, %t: tensor<1x4xi32>, %w: tensor<2x1xf32>, %b: tensor<1x3xi32>) -> tensor<?x4xf32, #graph.dims<["n", "4"]>> {
  %y = graph.forest "add"(%k, %n, %t, %w, %b) {targets = 4 : i64, bits = 1 : i64, least = 2 : i64, graph.node = ["/a"]} : tensor<?x2xi32, #graph.dims<["n", "2"]>>, tensor<3x2xi32>, tensor<1x4xi32>, tensor<2x1xf32>, tensor<1x3xi32> -> tensor<?x4xf32, #graph.dims<["n", "4"]>>
  func.return %y : tensor<?x4xf32, #graph.dims<["n", "4"]>>
}

// CHECK:      %y = graph.forest "add"(%k, %n, %t, %w, %b) {{.*}} -> tensor<?x4xf32

// -----

func.func @main(%k: tensor<5x2xi32>, %n: tensor<3x2xi32>, %t: tensor<1x4xi32>, %w: tensor<2x1xf64>, %b: tensor<1x3xi32>) -> tensor<5x4xf64> {
  %y = graph.forest "add"(%k, %n, %t, %w, %b) {targets = 4 : i64, bits = 1 : i64, least = 2 : i64} : tensor<5x2xi32>, tensor<3x2xi32>, tensor<1x4xi32>, tensor<2x1xf64>, tensor<1x3xi32> -> tensor<5x4xf64>
  func.return %y : tensor<5x4xf64>
}

// CHECK:      graph.forest: there is no 'add' of keys and weights of ('i32', 'f64')
