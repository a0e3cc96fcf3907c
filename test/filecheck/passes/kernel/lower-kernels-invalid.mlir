// RUN: mlc-opt %s -p lower-kernels --verify-diagnostics --split-input-file | filecheck %s

// Functions of floats that are asked of integers.

kernel.func @k(%x: tensor<4xi64>) -> tensor<4xi64> {
  %0 = graph.map "exp(x0)"(%x) {graph.node = ["/node"]} : (tensor<4xi64>) -> tensor<4xi64>
  kernel.return %0 : tensor<4xi64>
}

// CHECK:      exp is not defined on i64 (node '/node', operator 'graph.map', stage 'lower-kernels'). Cast the operand, as in exp(f32(x0)).

// -----

kernel.func @k(%x: tensor<4xi64>) -> tensor<4xi64> {
  %0 = graph.map "sigmoid(x0)"(%x) {graph.node = ["/node"]} : (tensor<4xi64>) -> tensor<4xi64>
  kernel.return %0 : tensor<4xi64>
}

// CHECK:      sigmoid is not defined on i64 (node '/node'

// -----

kernel.func @k(%x: tensor<4xi64>) -> tensor<4xi1> {
  %0 = graph.map "isnan(x0)"(%x) {graph.node = ["/node"]} : (tensor<4xi64>) -> tensor<4xi1>
  kernel.return %0 : tensor<4xi1>
}

// CHECK:      isnan is not defined on i64 (node '/node'
