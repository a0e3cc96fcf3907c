// RUN: mlc-opt %s -p deduplicate-kernels --verify-diagnostics | filecheck %s

// Kernels that come from other source nodes are one kernel; those that differ in an attribute are two.

func.func @main(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = kernel.call @a(%x) {graph.node = ["/a"]} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %1 = kernel.call @b(%0) {graph.node = ["/b"]} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %2 = kernel.call @c(%1) {graph.node = ["/c"]} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return %2 : tensor<3x5xf32>
}
kernel.func @a(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = graph.slice(%x) {graph.node = ["/a"], starts = ["0", "4"], sizes = ["3", "5"], steps = array<i64: 1, -1>} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  kernel.return %0 : tensor<3x5xf32>
}
kernel.func @b(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = graph.slice(%x) {graph.node = ["/b", "/b2"], starts = ["0", "4"], sizes = ["3", "5"], steps = array<i64: 1, -1>} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  kernel.return %0 : tensor<3x5xf32>
}
kernel.func @c(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = graph.slice(%x) {graph.node = ["/c"], starts = ["2", "0"], sizes = ["3", "5"], steps = array<i64: -1, 1>} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  kernel.return %0 : tensor<3x5xf32>
}

// CHECK:      func.func @main(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
// CHECK-NEXT: %0 = kernel.call @a(%x) {graph.node = ["/a"]} : (tensor<3x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: %1 = kernel.call @a(%0) {graph.node = ["/b"]} : (tensor<3x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: %2 = kernel.call @c(%1) {graph.node = ["/c"]} : (tensor<3x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: func.return %2 : tensor<3x5xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @a(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
// CHECK-NEXT: %0 = graph.slice(%x) {graph.node = ["/a"], starts = ["0", "4"], sizes = ["3", "5"], steps = array<i64: 1, -1>} : (tensor<3x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: kernel.return %0 : tensor<3x5xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @c(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
// CHECK-NEXT: %0 = graph.slice(%x) {graph.node = ["/c"], starts = ["2", "0"], sizes = ["3", "5"], steps = array<i64: -1, 1>} : (tensor<3x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: kernel.return %0 : tensor<3x5xf32>
