// RUN: mlc-opt %s -p fold-constants | filecheck %s
// RUN: mlc-opt %s -p 'fold-constants{limit=63}' | filecheck %s --check-prefix SMALL

// What makes data out of little is computed up to the limit, 63 or 65536 bytes; a convolution's weight in any case.

func.func @main(%x: tensor<1x2x9xf32>) -> (tensor<5x5xf32>, tensor<1x3x6xf32>) {
  %c = graph.constant dense<0.5> : tensor<1xf32> : tensor<1xf32>
  %table = graph.compute "x0[0] + f32(i0 * 5 + i1)"(%c) {graph.node = ["/table"], shape = ["5", "5"], reduce = []} : (tensor<1xf32>) -> tensor<5x5xf32>
  %w = graph.broadcast(%c) {graph.node = ["/w"], shape = ["3", "2", "4"]} : (tensor<1xf32>) -> tensor<3x2x4xf32>
  %0 = graph.conv(%x, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x2x9xf32>, tensor<3x2x4xf32>) -> tensor<1x3x6xf32>
  func.return %table, %0 : tensor<5x5xf32>, tensor<1x3x6xf32>
}

// CHECK:      func.func @main(%x: tensor<1x2x9xf32>) -> (tensor<5x5xf32>, tensor<1x3x6xf32>) {
// CHECK-NEXT: %table = graph.weight "constant.folded" {graph.node = ["/table"]} : tensor<5x5xf32>
// CHECK-NEXT: %w = graph.weight "constant.folded.1" {graph.node = ["/w"]} : tensor<3x2x4xf32>
// CHECK-NEXT: %0 = graph.conv(%x, %w)

// SMALL:      %c = graph.constant
// SMALL-NEXT: %table = graph.compute "x0[0] + f32(i0 * 5 + i1)"(%c)
// SMALL-NEXT: %w = graph.weight "constant.folded" {graph.node = ["/w"]} : tensor<3x2x4xf32>
// SMALL-NEXT: %0 = graph.conv(%x, %w)

// A mask that excludes scores from a maximum is folded whatever its size; one that adds a large number, one that is a
// result, and what is computed from a mask and is none stay as they are.

func.func @masks(%s: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>) {
  %m = graph.compute "where(i1 <= i0, f32(0), -inf)"() {shape = ["8", "8"], reduce = []} : () -> tensor<8x8xf32>
  %x = graph.map "x0 + x1"(%s, %m) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = graph.reduce "max"(%x) {axes = array<i64: 1>, keepdims = false} : (tensor<8x8xf32>) -> tensor<8xf32>
  %n = graph.compute "where(i1 <= i0, f32(0), -10000.0)"() {shape = ["8", "8"], reduce = []} : () -> tensor<8x8xf32>
  %y = graph.map "x0 + x1"(%s, %n) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = graph.reduce "max"(%y) {axes = array<i64: 1>, keepdims = false} : (tensor<8x8xf32>) -> tensor<8xf32>
  %r = graph.compute "where(i1 < i0, f32(0), -inf)"() {shape = ["8", "8"], reduce = []} : () -> tensor<8x8xf32>
  %c = graph.compute "i1 <= i0 + 1"() {shape = ["8", "8"], reduce = []} : () -> tensor<8x8xi1>
  %b = graph.compute "where(x0[i0, i1], f32(i1), -inf)"(%c) {shape = ["8", "8"], reduce = []} : (tensor<8x8xi1>) -> tensor<8x8xf32>
  %z = graph.map "x0 + x1"(%s, %b) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = graph.reduce "max"(%z) {axes = array<i64: 1>, keepdims = false} : (tensor<8x8xf32>) -> tensor<8xf32>
  func.return %0, %1, %r, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>
}

// SMALL:      func.func @masks
// SMALL:      %m = graph.weight
// SMALL:      %n = graph.compute
// SMALL:      %r = graph.compute
// SMALL-NEXT: %c = graph.compute
// SMALL-NEXT: %b = graph.compute

// A mask of scores whose other reader makes their derivative, 0 outside, is folded; one with another reader is not.

func.func @derivatives(%s: tensor<8x8xf32>, %d: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>) {
  %m = graph.compute "i1 <= i0"() {shape = ["8", "8"], reduce = []} : () -> tensor<8x8xi1>
  %x = graph.map "where(x0, x1, -inf)"(%m, %s) : (tensor<8x8xi1>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = graph.reduce "max"(%x) {axes = array<i64: 1>, keepdims = false} : (tensor<8x8xf32>) -> tensor<8xf32>
  %1 = graph.map "where(x0, x1 * 2, 0)"(%m, %d) : (tensor<8x8xi1>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %n = graph.compute "i1 <= i0 + 2"() {shape = ["8", "8"], reduce = []} : () -> tensor<8x8xi1>
  %y = graph.map "where(x0, x1, -inf)"(%n, %s) : (tensor<8x8xi1>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = graph.reduce "max"(%y) {axes = array<i64: 1>, keepdims = false} : (tensor<8x8xf32>) -> tensor<8xf32>
  %3 = graph.map "where(x0, x1, 1)"(%n, %d) : (tensor<8x8xi1>, tensor<8x8xf32>) -> tensor<8x8xf32>
  func.return %0, %1, %2, %3 : tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>
}

// SMALL:      func.func @derivatives
// SMALL:      %m = graph.constant dense
// SMALL:      %n = graph.compute
