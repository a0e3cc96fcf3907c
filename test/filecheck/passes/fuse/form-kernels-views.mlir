// RUN: mlc-opt %s -p form-kernels --verify-diagnostics --split-input-file | filecheck %s

// Slices, reshapes and concatenations that are runs of memory need no kernel; others do.

func.func @parts_of_a_concatenation(%x: tensor<2x5xf32>, %y: tensor<3x5xf32>) -> tensor<5x5xf32> {
  %0 = graph.map "exp(x0)"(%x) {graph.node = ["/a"]} : (tensor<2x5xf32>) -> tensor<2x5xf32>
  %1 = graph.map "neg(x0)"(%y) {graph.node = ["/b"]} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %2 = graph.concat(%0, %1) {graph.node = ["/rows"], axis = 0 : i64} : (tensor<2x5xf32>, tensor<3x5xf32>) -> tensor<5x5xf32>
  func.return %2 : tensor<5x5xf32>
}

// CHECK:      func.func @parts_of_a_concatenation(%x: tensor<2x5xf32>, %y: tensor<3x5xf32>) -> tensor<5x5xf32> {
// CHECK-NEXT: %0 = kernel.call @map_0(%x) {graph.node = ["/a"]} : (tensor<2x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: %1 = kernel.call @map_1(%y) {graph.node = ["/b"]} : (tensor<3x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: %2 = graph.concat(%0, %1) {graph.node = ["/rows"], axis = 0 : i64} : (tensor<2x5xf32>, tensor<3x5xf32>) -> tensor<5x5xf32>
// CHECK-NEXT: func.return %2 : tensor<5x5xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @map_0(%x: tensor<2x5xf32>) -> tensor<2x5xf32> {
// CHECK-NEXT: %0 = graph.map "exp(x0)"(%x) {graph.node = ["/a"]} : (tensor<2x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: kernel.return %0 : tensor<2x5xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @map_1(%y: tensor<3x5xf32>) -> tensor<3x5xf32> {
// CHECK-NEXT: %0 = graph.map "neg(x0)"(%y) {graph.node = ["/b"]} : (tensor<3x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: kernel.return %0 : tensor<3x5xf32>

// -----

func.func @columns(%x: tensor<2x5xf32>) -> tensor<2x6xf32> {
  %w = graph.weight "w" : tensor<2x3xf32>
  %0 = graph.slice(%x) {starts = ["0", "1"], sizes = ["2", "3"], steps = array<i64: 1, 1>} : (tensor<2x5xf32>) -> tensor<2x3xf32>
  %1 = graph.concat(%0, %w) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  func.return %1 : tensor<2x6xf32>
}

// CHECK:      func.func @columns(%x: tensor<2x5xf32>) -> tensor<2x6xf32> {
// CHECK-NEXT: %w = graph.weight "w" : tensor<2x3xf32>
// CHECK-NEXT: %0 = kernel.call @slice_1(%x) : (tensor<2x5xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %1 = kernel.call @concat_2(%0, %w) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: func.return %1 : tensor<2x6xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @slice_1(%x: tensor<2x5xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT: %0 = graph.slice(%x) {starts = ["0", "1"], sizes = ["2", "3"], steps = array<i64: 1, 1>} : (tensor<2x5xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: kernel.return %0 : tensor<2x3xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @concat_2(%0: tensor<2x3xf32>, %w: tensor<2x3xf32>) -> tensor<2x6xf32> {
// CHECK-NEXT: %1 = graph.concat(%0, %w) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: kernel.return %1 : tensor<2x6xf32>

// -----

func.func @views_stay_outside(%x: tensor<4x5xf32>) -> (tensor<10xf32>, tensor<2x5xf32>) {
  %0 = graph.slice(%x) {starts = ["1", "0"], sizes = ["2", "5"], steps = array<i64: 1, 1>} : (tensor<4x5xf32>) -> tensor<2x5xf32>
  %1 = graph.map "exp(x0)"(%0) : (tensor<2x5xf32>) -> tensor<2x5xf32>
  %2 = graph.reshape(%1) {shape = ["10"]} : (tensor<2x5xf32>) -> tensor<10xf32>
  %3 = graph.map "x0 + x0"(%1) : (tensor<2x5xf32>) -> tensor<2x5xf32>
  func.return %2, %3 : tensor<10xf32>, tensor<2x5xf32>
}

// CHECK:      func.func @views_stay_outside(%x: tensor<4x5xf32>) -> (tensor<10xf32>, tensor<2x5xf32>) {
// CHECK-NEXT: %0 = graph.slice(%x) {starts = ["1", "0"], sizes = ["2", "5"], steps = array<i64: 1, 1>} : (tensor<4x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: %1, %2 = kernel.call @map_1(%0) : (tensor<2x5xf32>) -> (tensor<2x5xf32>, tensor<2x5xf32>)
// CHECK-NEXT: %3 = graph.reshape(%1) {shape = ["10"]} : (tensor<2x5xf32>) -> tensor<10xf32>
// CHECK-NEXT: func.return %3, %2 : tensor<10xf32>, tensor<2x5xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @map_1(%0: tensor<2x5xf32>) -> (tensor<2x5xf32>, tensor<2x5xf32>) {
// CHECK-NEXT: %1 = graph.map "exp(x0)"(%0) : (tensor<2x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: %2 = graph.map "x0 + x0"(%1) : (tensor<2x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: kernel.return %1, %2 : tensor<2x5xf32>, tensor<2x5xf32>
