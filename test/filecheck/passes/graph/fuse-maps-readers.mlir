// RUN: mlc-opt %s -p fuse-maps --verify-diagnostics --split-input-file | filecheck %s

// A cheap map of one large operand goes into each of its few readers; an expensive one, or one of two, stays.

func.func @cheap_into_two(%x: tensor<2x3xf32>, %b: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = graph.map "x0 + x1"(%x, %b) {graph.node = ["/add"]} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = graph.map "exp(x0)"(%0) {graph.node = ["/exp"]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = graph.map "neg(x0)"(%0) {graph.node = ["/neg"]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1, %2 : tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK:      func.func @cheap_into_two(%x: tensor<2x3xf32>, %b: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
// CHECK-NEXT: %0 = graph.map "exp((x0 + x1))"(%x, %b) {graph.node = ["/add", "/exp"]} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %1 = graph.map "neg((x0 + x1))"(%x, %b) {graph.node = ["/add", "/neg"]} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: func.return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>

// -----

func.func @expensive_or_of_two_stays(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = graph.map "exp(x0)"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = graph.map "x0 + x1"(%x, %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = graph.map "x0 * x1"(%0, %1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = graph.map "x0 - x1"(%0, %1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %2, %3 : tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK:      func.func @expensive_or_of_two_stays(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
// CHECK-NEXT: %0 = graph.map "exp(x0)"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %1 = graph.map "x0 + x1"(%x, %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %2 = graph.map "x0 * x1"(%0, %1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %3 = graph.map "x0 - x1"(%0, %1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: func.return %2, %3 : tensor<2x3xf32>, tensor<2x3xf32>

// -----

func.func @chain(%x: tensor<2x3xf32>, %v: tensor<2x1xf32>) -> tensor<2x3xf32> {
  %0 = graph.map "x0 * 2.0"(%v) {graph.node = ["/a"]} : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %1 = graph.map "x0 - x1"(%x, %0) {graph.node = ["/b"]} : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %2 = graph.map "x0 / x1"(%1, %x) {graph.node = ["/c"]} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %2 : tensor<2x3xf32>
}

// CHECK:      func.func @chain(%x: tensor<2x3xf32>, %v: tensor<2x1xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT: %0 = graph.map "((x0 - (x1 * 2.0)) / x0)"(%x, %v) {graph.node = ["/a", "/b", "/c"]} : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: func.return %0 : tensor<2x3xf32>
