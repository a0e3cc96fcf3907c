// RUN: mlc-opt %s | mlc-opt | filecheck %s
// RUN: mlc-opt %s --print-op-generic | mlc-opt | filecheck %s

// The transforms of Winograd convolutions, with a cut last tile and an epilogue.

func.func @main(%x: tensor<?x3x6x10x2xf32, #graph.dims<["n", "3", "6", "10", "2"]>>, %q: tensor<1x16x2x3x4xf32>, %b: tensor<1x1x1x1x4xf32>) -> () {
  %t = graph.winograd_rows(%x) {m = 4 : i64} : (tensor<?x3x6x10x2xf32, #graph.dims<["n", "3", "6", "10", "2"]>>) -> tensor<?x3x1x6x10x2xf32, #graph.dims<["n", "3", "1", "6", "10", "2"]>>
  %v = graph.winograd_input(%t) {m = 4 : i64} : (tensor<?x3x1x6x10x2xf32, #graph.dims<["n", "3", "1", "6", "10", "2"]>>) -> tensor<?x108x1x2x2xf32, #graph.dims<["n", "108", "1", "2", "2"]>>
  %s = graph.winograd_sums(%q) {m = 2 : i64, extents = array<i64: 3, 5>} : (tensor<1x16x2x3x4xf32>) -> tensor<1x1x2x2x3x4x4xf32>
  %y = graph.winograd_output "max(x0 + x1, 0)"(%s, %b) {graph.node = ["/conv", "/relu"], m = 2 : i64, extents = array<i64: 3, 5>} : (tensor<1x1x2x2x3x4x4xf32>, tensor<1x1x1x1x4xf32>) -> tensor<1x1x3x5x4xf32>
  func.return
}

// CHECK:      %t = graph.winograd_rows(%x) {m = 4 : i64} : (tensor<?x3x6x10x2xf32, #graph.dims<["n", "3", "6", "10", "2"]>>) -> tensor<?x3x1x6x10x2xf32, #graph.dims<["n", "3", "1", "6", "10", "2"]>>
// CHECK-NEXT: %v = graph.winograd_input(%t) {m = 4 : i64} : (tensor<?x3x1x6x10x2xf32, #graph.dims<["n", "3", "1", "6", "10", "2"]>>) -> tensor<?x108x1x2x2xf32, #graph.dims<["n", "108", "1", "2", "2"]>>
// CHECK-NEXT: %s = graph.winograd_sums(%q) {m = 2 : i64, extents = array<i64: 3, 5>} : (tensor<1x16x2x3x4xf32>) -> tensor<1x1x2x2x3x4x4xf32>
// CHECK-NEXT: %y = graph.winograd_output "max(x0 + x1, 0)"(%s, %b) {graph.node = ["/conv", "/relu"], m = 2 : i64, extents = array<i64: 3, 5>} : (tensor<1x1x2x2x3x4x4xf32>, tensor<1x1x1x1x4xf32>) -> tensor<1x1x3x5x4xf32>
