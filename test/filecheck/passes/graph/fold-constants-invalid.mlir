// RUN: mlc-opt %s -p fold-constants --verify-diagnostics | filecheck %s

// An index out of a constant's bounds is the model's fault, and the error names the node.

func.func @main() -> tensor<2xf32> {
  %t = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32> : tensor<3xf32>
  %ids = graph.constant dense<[2, 3]> : tensor<2xi64> : tensor<2xi64>
  %0 = graph.compute "x0[x1[i0]]"(%t, %ids) {graph.node = ["/gather"], shape = ["2"], reduce = []} : (tensor<3xf32>, tensor<2xi64>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// CHECK:      A constant is read out of its bounds: index 3 is out of bounds for axis 0 with size 3 (node '/gather', operator 'graph.compute').
