// RUN: mlc-opt %s | mlc-opt | filecheck %s
// RUN: mlc-opt %s --print-op-generic | mlc-opt | filecheck %s

// The transforms of Winograd convolutions, with a cut last tile and an epilogue.

func.func @main(%x: tensor<?x3x6x10x2xf32, #graph.dims<["n", "3", "6", "10", "2"]>>, %q: tensor<1x16x6x4xf32>, %b: tensor<1x1x1x1x4xf32>) -> () {
  %v = graph.winograd_input(%x) {m = 4 : i64} : (tensor<?x3x6x10x2xf32, #graph.dims<["n", "3", "6", "10", "2"]>>) -> tensor<?x108x2x2xf32, #graph.dims<["n", "108", "2", "2"]>>
  %y = graph.winograd_output "max(x0 + x1, 0)"(%q, %b) {graph.node = ["/conv", "/relu"], m = 2 : i64, extents = array<i64: 3, 5>} : (tensor<1x16x6x4xf32>, tensor<1x1x1x1x4xf32>) -> tensor<1x1x3x5x4xf32>
  func.return
}

// CHECK:      %v = graph.winograd_input(%x) {m = 4 : i64} : (tensor<?x3x6x10x2xf32, #graph.dims<["n", "3", "6", "10", "2"]>>) -> tensor<?x108x2x2xf32, #graph.dims<["n", "108", "2", "2"]>>
// CHECK-NEXT: %y = graph.winograd_output "max(x0 + x1, 0)"(%q, %b) {graph.node = ["/conv", "/relu"], m = 2 : i64, extents = array<i64: 3, 5>} : (tensor<1x16x6x4xf32>, tensor<1x1x1x1x4xf32>) -> tensor<1x1x3x5x4xf32>
