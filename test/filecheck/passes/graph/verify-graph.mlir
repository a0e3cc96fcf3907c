// RUN: mlc-opt %s -p verify-graph --verify-diagnostics --split-input-file | filecheck %s

func.func @main(%x: tensor<?x3xf32, #graph.dims<["n", "3"]>>) -> tensor<?x3xf32, #graph.dims<["n", "3"]>> {
  %0 = graph.map "exp(x0)"(%x) : (tensor<?x3xf32, #graph.dims<["n", "3"]>>) -> tensor<?x3xf32, #graph.dims<["n", "3"]>>
  func.return %0 : tensor<?x3xf32, #graph.dims<["n", "3"]>>
}

// CHECK:      func.func @main(%x: tensor<?x3xf32, #graph.dims<["n", "3"]>>) -> tensor<?x3xf32, #graph.dims<["n", "3"]>> {
// CHECK-NEXT: %0 = graph.map "exp(x0)"(%x) : (tensor<?x3xf32, #graph.dims<["n", "3"]>>) -> tensor<?x3xf32, #graph.dims<["n", "3"]>>
// CHECK-NEXT: func.return %0 : tensor<?x3xf32, #graph.dims<["n", "3"]>>

// -----

func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = graph.map "x0 + x1"(%x, %1) {graph.node = ["/early"]} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = graph.map "exp(x0)"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// CHECK:      Invalid graph: operand 1 is read before it is defined (node '/early', operator 'graph.map', stage 'verify-graph').

// -----

func.func @main() -> tensor<2xf32> {
  %0 = arith.constant dense<1.0> : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// CHECK:      Invalid graph: it is not an operator of the graph dialect (operator 'arith.constant', stage 'verify-graph').

// -----

func.func @main(%x: memref<2xf32>) {
  func.return
}

// CHECK:      Invalid graph: a value of type memref<2xf32> is not a ranked tensor (operator 'func.func', stage 'verify-graph').
