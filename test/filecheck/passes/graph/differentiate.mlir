// RUN: mlc-opt %s -p differentiate --verify-diagnostics --split-input-file | filecheck %s

// A loss of two layers: what the value computes and its derivative needs stays, each adjoint is a graph operator.

func.func @layers(%x: tensor<?x4xf32, #graph.dims<["n", "4"]>>, %w: tensor<4x3xf32>, %b: tensor<3xf32>) -> tensor<f32> {
  %p = graph.contract "mk,kn->mn"(%x, %w) {graph.node = ["/p"]} : (tensor<?x4xf32, #graph.dims<["n", "4"]>>, tensor<4x3xf32>) -> tensor<?x3xf32, #graph.dims<["n", "3"]>>
  %a = graph.map "max(x0 + x1, 0)"(%p, %b) {graph.node = ["/a"]} : (tensor<?x3xf32, #graph.dims<["n", "3"]>>, tensor<3xf32>) -> tensor<?x3xf32, #graph.dims<["n", "3"]>>
  %y = graph.reduce "add"(%a) {graph.node = ["/y"], axes = array<i64: 0, 1>, keepdims = false} : (tensor<?x3xf32, #graph.dims<["n", "3"]>>) -> tensor<f32>
  func.return %y : tensor<f32>
}

// CHECK:      func.func @layers(%x: tensor<?x4xf32, #graph.dims<["n", "4"]>>, %w: tensor<4x3xf32>, %b: tensor<3xf32>) -> (tensor<?x4xf32, #graph.dims<["n", "4"]>>, tensor<4x3xf32>, tensor<3xf32>) {
// CHECK-NEXT: %p = graph.contract "mk,kn->mn"(%x, %w) {graph.node = ["/p"]} : (tensor<?x4xf32, #graph.dims<["n", "4"]>>, tensor<4x3xf32>) -> tensor<?x3xf32, #graph.dims<["n", "3"]>>
// CHECK-NEXT: %0 = graph.compute "f32(1)"() {shape = [], reduce = []} : () -> tensor<f32>
// CHECK-NEXT: %1 = graph.reshape(%0) {shape = ["1", "1"]} : (tensor<f32>) -> tensor<1x1xf32>
// CHECK-NEXT: %2 = graph.broadcast(%1) {shape = ["n", "3"]} : (tensor<1x1xf32>) -> tensor<?x3xf32, #graph.dims<["n", "3"]>>
// CHECK-NEXT: %3 = graph.map "where(((x0 + x1) > 0), x2, 0)"(%p, %b, %2) : (tensor<?x3xf32, #graph.dims<["n", "3"]>>, tensor<3xf32>, tensor<?x3xf32, #graph.dims<["n", "3"]>>) -> tensor<?x3xf32, #graph.dims<["n", "3"]>>
// CHECK-NEXT: %4 = graph.map "where(((x0 + x1) > 0), x2, 0)"(%p, %b, %2) : (tensor<?x3xf32, #graph.dims<["n", "3"]>>, tensor<3xf32>, tensor<?x3xf32, #graph.dims<["n", "3"]>>) -> tensor<?x3xf32, #graph.dims<["n", "3"]>>
// CHECK-NEXT: %5 = graph.reduce "add"(%4) {axes = array<i64: 0>, keepdims = false} : (tensor<?x3xf32, #graph.dims<["n", "3"]>>) -> tensor<3xf32>
// CHECK-NEXT: %6 = graph.contract "mn,kn->mk"(%3, %w) : (tensor<?x3xf32, #graph.dims<["n", "3"]>>, tensor<4x3xf32>) -> tensor<?x4xf32, #graph.dims<["n", "4"]>>
// CHECK-NEXT: %7 = graph.contract "mn,mk->kn"(%3, %x) : (tensor<?x3xf32, #graph.dims<["n", "3"]>>, tensor<?x4xf32, #graph.dims<["n", "4"]>>) -> tensor<4x3xf32>
// CHECK-NEXT: func.return %6, %7, %5 : tensor<?x4xf32, #graph.dims<["n", "4"]>>, tensor<4x3xf32>, tensor<3xf32>

// -----

// A window reads at affine indices: an element determines which windows read it. A gather becomes a scatter.

func.func @windows(%x: tensor<1x2x9xf32>) -> tensor<1x2x4xf32> {
  %y = graph.pool "add"(%x) {kernel = array<i64: 3>, strides = array<i64: 2>, dilations = array<i64: 1>} : (tensor<1x2x9xf32>) -> tensor<1x2x4xf32>
  func.return %y : tensor<1x2x4xf32>
}

// CHECK:      func.func @windows(%x: tensor<1x2x9xf32>) -> tensor<1x2x9xf32> {
// CHECK-NEXT: %0 = graph.compute "f32(1)"() {shape = ["1", "2", "4"], reduce = []} : () -> tensor<1x2x4xf32>
// CHECK-NEXT: %1 = graph.compute "where((((max(min(((i2 - r0) // 2), (4 - 1)), 0) * 2) + (r0 * 1)) == i2), x0[i0, i1, max(min(((i2 - r0) // 2), (4 - 1)), 0)], 0)"(%0) {shape = ["1", "2", "9"], reduce = ["3"], monoid = "add"} : (tensor<1x2x4xf32>) -> tensor<1x2x9xf32>
// CHECK-NEXT: func.return %1 : tensor<1x2x9xf32>

// -----

func.func @rows(%x: tensor<7x3xf32>, %i: tensor<5xi64>) -> tensor<5x3xf32> {
  %y = graph.compute "x0[x1[i0], i1]"(%x, %i) {shape = ["5", "3"], reduce = []} : (tensor<7x3xf32>, tensor<5xi64>) -> tensor<5x3xf32>
  func.return %y : tensor<5x3xf32>
}

// CHECK:      func.func @rows(%x: tensor<7x3xf32>, %i: tensor<5xi64>) -> tensor<7x3xf32> {
// CHECK-NEXT: %0 = graph.compute "f32(1)"() {shape = ["5", "3"], reduce = []} : () -> tensor<5x3xf32>
// CHECK-NEXT: %1 = graph.compute "i64(x0[i0])"(%i) {shape = ["5"], reduce = []} : (tensor<5xi64>) -> tensor<5xi64>
// CHECK-NEXT: %2 = graph.compute "x0[i0, i1]"(%0) {shape = ["5", "3"], reduce = []} : (tensor<5x3xf32>) -> tensor<5x3xf32>
// CHECK-NEXT: %3 = graph.compute "f32(0)"() {shape = ["7", "3"], reduce = []} : () -> tensor<7x3xf32>
// CHECK-NEXT: %4 = graph.scatter "add"(%3, %1, %2) : tensor<7x3xf32>, tensor<5xi64>, tensor<5x3xf32> -> tensor<7x3xf32>
// CHECK-NEXT: func.return %4 : tensor<7x3xf32>

// -----

// What the result does not depend on has zeros for its derivative; whole numbers have none.

func.func @apart(%x: tensor<2xf32>, %z: tensor<3xf32>, %i: tensor<3xi64>) -> tensor<2xf32> {
  %y = graph.map "exp(x0)"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}

// CHECK:      func.func @apart(%x: tensor<2xf32>, %z: tensor<3xf32>, %i: tensor<3xi64>) -> (tensor<2xf32>, tensor<3xf32>) {
// CHECK-NEXT: %y = graph.map "exp(x0)"(%x) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT: %0 = graph.compute "f32(1)"() {shape = ["2"], reduce = []} : () -> tensor<2xf32>
// CHECK-NEXT: %1 = graph.map "(x0 * x1)"(%0, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT: %2 = graph.compute "f32(0)"() {shape = ["3"], reduce = []} : () -> tensor<3xf32>
// CHECK-NEXT: func.return %1, %2 : tensor<2xf32>, tensor<3xf32>

// -----

func.func @no_rule(%x: tensor<1x4x3xf32>) -> tensor<1x4x3xf32> {
  %y = graph.scan "mul"(%x) {graph.node = ["/products"], reverse = false, exclusive = false} : tensor<1x4x3xf32> -> tensor<1x4x3xf32>
  func.return %y : tensor<1x4x3xf32>
}

// CHECK:      graph.scan of products has no derivative, at node '/products' (stage 'differentiate').
