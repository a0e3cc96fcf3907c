// RUN: mlc-opt %s -p verify-kernel --verify-diagnostics --split-input-file | filecheck %s

// Main holds views: slices and concatenations that are one run of memory; all else is a kernel's work.

func.func @rows(%x: tensor<3x5xf32>) -> tensor<4x5xf32> {
  %0 = graph.slice(%x) {starts = ["1", "0"], sizes = ["2", "5"], steps = array<i64: 1, 1>} : (tensor<3x5xf32>) -> tensor<2x5xf32>
  %1 = graph.concat(%0, %0) {axis = 0 : i64} : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<4x5xf32>
  func.return %1 : tensor<4x5xf32>
}

// CHECK:      %0 = graph.slice(%x)
// CHECK-NEXT: %1 = graph.concat(%0, %0)

// -----

func.func @columns(%x: tensor<3x5xf32>) -> tensor<3x2xf32> {
  %0 = graph.slice(%x) {graph.node = ["/slice"], starts = ["0", "1"], sizes = ["3", "2"], steps = array<i64: 1, 1>} : (tensor<3x5xf32>) -> tensor<3x2xf32>
  func.return %0 : tensor<3x2xf32>
}

// CHECK:      Illegal at the kernel level: it is not contiguous, so a kernel must compute it (node '/slice', operator 'graph.slice'

// -----

func.func @every_second(%x: tensor<5xf32>) -> tensor<3xf32> {
  %0 = graph.slice(%x) {graph.node = ["/steps"], starts = ["0"], sizes = ["3"], steps = array<i64: 2>} : (tensor<5xf32>) -> tensor<3xf32>
  func.return %0 : tensor<3xf32>
}

// CHECK:      Illegal at the kernel level: it is not contiguous, so a kernel must compute it (node '/steps', operator 'graph.slice'

// -----

func.func @beside(%x: tensor<3x5xf32>) -> tensor<3x10xf32> {
  %0 = graph.concat(%x, %x) {graph.node = ["/concat"], axis = 1 : i64} : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x10xf32>
  func.return %0 : tensor<3x10xf32>
}

// CHECK:      Illegal at the kernel level: it is not contiguous, so a kernel must compute it (node '/concat', operator 'graph.concat'
