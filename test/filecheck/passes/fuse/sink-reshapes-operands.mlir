// RUN: mlc-opt %s -p sink-reshapes --verify-diagnostics --split-input-file | filecheck %s

// An operand reshaped alike is read as it was; reshapes of weights and of inputs stay above.

func.func @merges(%x: tensor<2x3x8xf32>) -> tensor<6x8xf32> {
  %0 = graph.map "exp(x0)"(%x) {graph.node = ["/exp"]} : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %1 = graph.reshape(%0) {graph.node = ["/flat"], shape = ["6", "8"]} : (tensor<2x3x8xf32>) -> tensor<6x8xf32>
  %2 = graph.reshape(%x) {shape = ["6", "8"]} : (tensor<2x3x8xf32>) -> tensor<6x8xf32>
  %3 = graph.map "x0 - x1"(%1, %2) {graph.node = ["/sub"]} : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  func.return %3 : tensor<6x8xf32>
}

// CHECK:      func.func @merges(%x: tensor<2x3x8xf32>) -> tensor<6x8xf32> {
// CHECK-NEXT: %0 = graph.map "exp(x0)"(%x) {graph.node = ["/exp"]} : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
// CHECK-NEXT: %1 = graph.map "(x0 - x1)"(%0, %x) {graph.node = ["/sub"]} : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
// CHECK-NEXT: %2 = graph.reshape(%1) {shape = ["6", "8"]} : (tensor<2x3x8xf32>) -> tensor<6x8xf32>
// CHECK-NEXT: func.return %2 : tensor<6x8xf32>

// -----

func.func @weights_are_not_sunk(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %w = graph.weight "w" : tensor<8xf32>
  %0 = graph.reshape(%w) {shape = ["2", "4"]} : (tensor<8xf32>) -> tensor<2x4xf32>
  %1 = graph.map "x0 + x1"(%x, %0) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  func.return %1 : tensor<2x4xf32>
}

// CHECK:      func.func @weights_are_not_sunk(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT: %w = graph.weight "w" : tensor<8xf32>
// CHECK-NEXT: %0 = graph.reshape(%w) {shape = ["2", "4"]} : (tensor<8xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: %1 = graph.map "x0 + x1"(%x, %0) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: func.return %1 : tensor<2x4xf32>
