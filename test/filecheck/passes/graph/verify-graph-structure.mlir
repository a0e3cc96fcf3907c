// RUN: mlc-opt %s --disable-verify -p verify-graph --verify-diagnostics --split-input-file | filecheck %s

// A graph module holds functions of one block that end in func.return, with the types they declare.

kernel.func @k(%x: tensor<2xf32>) {
  kernel.return
}

// CHECK:      Invalid graph: a graph module may contain only functions (operator 'kernel.func', stage 'verify-graph').

// -----

func.func @two(%x: tensor<2xf32>) -> tensor<2xf32> {
  "cf.br"()[^next] : () -> ()
^next:
  func.return %x : tensor<2xf32>
}

// CHECK:      Invalid graph: function @two has 2 blocks, not 1 (operator 'func.func'

// -----

func.func @main(%x: tensor<2xf32>) {
}

// CHECK:      Invalid graph: the function does not end in func.return (operator 'func.func'

// -----

func.func @main(%x: tensor<2xf32>) -> tensor<3xf32> {
  func.return %x : tensor<2xf32>
}

// CHECK:      Invalid graph: the function declares (tensor<3xf32>) and returns (tensor<2xf32>) (operator 'func.return'

// -----

func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  func.return %x : tensor<2xf32>
  %0 = graph.map "exp(x0)"(%x) : (tensor<2xf32>) -> tensor<2xf32>
}

// CHECK:      Invalid graph: operators follow it (operator 'func.return'

// -----

func.func @main() -> tensor<2xf32> {
  func.return %c : tensor<2xf32>
}
%c = graph.constant dense<1.0> : tensor<2xf32> : tensor<2xf32>

// CHECK:      Invalid graph: operand 0 is defined outside the function (operator 'func.return'
