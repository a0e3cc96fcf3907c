// RUN: mlc-opt %s -p lower-kernels,prove-in-place --verify-diagnostics --split-input-file | filecheck %s

// Momentum reads each element of the weights and of the momentum where it writes them; the weights also before.

func.func @main(%w: tensor<8xf32>, %m: tensor<8xf32>) -> (tensor<8xf32> {graph.alias = 0 : i64}, tensor<8xf32> {graph.alias = 1 : i64}) {
  %0, %1 = kernel.call @k(%w, %m) {graph.node = ["a"]} : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  func.return %1, %0 : tensor<8xf32>, tensor<8xf32>
}
kernel.func @k(%w: tensor<8xf32>, %m: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = graph.map "(x0 + x1)"(%w, %m) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = graph.map "(x0 - x1)"(%w, %0) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  kernel.return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// CHECK: kernel.func @k({{.*}}) attributes {in_place = [array<i64: 0, 3>, array<i64: 1, 2>]}

// -----

// The write of %0 comes before a read of %m.

func.func @main(%w: tensor<8xf32>, %m: tensor<8xf32>) -> (tensor<8xf32> {graph.alias = 1 : i64}, tensor<8xf32>) {
  %0, %1 = kernel.call @k(%w, %m) {graph.node = ["a"]} : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  func.return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
kernel.func @k(%w: tensor<8xf32>, %m: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = graph.map "(x0 + x1)"(%w, %m) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = graph.map "(x0 - x1)"(%m, %0) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  kernel.return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// CHECK: kernel.func @k({{.*}}) {

// -----

// A transpose writes elements that other instances read.

func.func @main(%a: tensor<4x4xf32>) -> (tensor<4x4xf32> {graph.alias = 0 : i64}) {
  %0 = kernel.call @k(%a) {graph.node = ["a"]} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %0 : tensor<4x4xf32>
}
kernel.func @k(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = graph.transpose(%a) {perm = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  kernel.return %0 : tensor<4x4xf32>
}

// CHECK: kernel.func @k({{.*}}) {

// -----

// Momentum that a condition replaces: its new value is stored once, so that the weights do not read the old one again.

func.func @main(%w: tensor<8xf32>, %m: tensor<8xf32>, %c: tensor<i1>) -> (tensor<8xf32> {graph.alias = 0 : i64}, tensor<8xf32> {graph.alias = 1 : i64}) {
  %0, %1 = kernel.call @k(%w, %m, %c) {graph.node = ["a"]} : (tensor<8xf32>, tensor<8xf32>, tensor<i1>) -> (tensor<8xf32>, tensor<8xf32>)
  func.return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
kernel.func @k(%w: tensor<8xf32>, %m: tensor<8xf32>, %c: tensor<i1>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = graph.map "(x0 + x1)"(%w, %m) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = graph.map "where(x0, x1 - x2, x1)"(%c, %w, %0) : (tensor<i1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = graph.map "where(x0, x1, x2)"(%c, %0, %m) : (tensor<i1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  kernel.return %1, %2 : tensor<8xf32>, tensor<8xf32>
}

// CHECK: kernel.func @k({{.*}}) attributes {in_place = [array<i64: 0, 3>, array<i64: 1, 4>]}
// CHECK: kernel.local

// -----

// A scatter reads no other element of the data than those that it writes.

func.func @main(%t: tensor<8x4xf32>, %i: tensor<3xi64>, %u: tensor<3x4xf32>) -> (tensor<8x4xf32> {graph.alias = 0 : i64}) {
  %0 = kernel.call @k(%t, %i, %u) {graph.node = ["a"]} : (tensor<8x4xf32>, tensor<3xi64>, tensor<3x4xf32>) -> tensor<8x4xf32>
  func.return %0 : tensor<8x4xf32>
}
kernel.func @k(%t: tensor<8x4xf32>, %i: tensor<3xi64>, %u: tensor<3x4xf32>) -> tensor<8x4xf32> {
  %0 = graph.scatter "none"(%t, %i, %u) : tensor<8x4xf32>, tensor<3xi64>, tensor<3x4xf32> -> tensor<8x4xf32>
  kernel.return %0 : tensor<8x4xf32>
}

// CHECK: kernel.func @k({{.*}}) attributes {in_place = [array<i64: 0, 3>]}

// -----

// Updates may not share the memory: where they are the data themselves, the host program copies.

func.func @main(%t: tensor<8x4xf32>, %i: tensor<8xi64>) -> (tensor<8x4xf32> {graph.alias = 0 : i64}) {
  %0 = kernel.call @k(%t, %i, %t) {graph.node = ["a"]} : (tensor<8x4xf32>, tensor<8xi64>, tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return %0 : tensor<8x4xf32>
}
kernel.func @k(%t: tensor<8x4xf32>, %i: tensor<8xi64>, %u: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = graph.scatter "none"(%t, %i, %u) : tensor<8x4xf32>, tensor<8xi64>, tensor<8x4xf32> -> tensor<8x4xf32>
  kernel.return %0 : tensor<8x4xf32>
}

// CHECK: kernel.func @k({{.*}}) attributes {in_place = [array<i64: 0, 3>]}
