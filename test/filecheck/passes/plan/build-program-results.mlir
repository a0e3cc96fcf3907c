// RUN: mlc-opt %s -p build-program --verify-diagnostics | filecheck %s

// Names by default, guards, constants as weights, a value returned twice, and a result that nobody reads.

func.func @net(%x: tensor<?x2xf32, #graph.dims<["n", "2"]>>, %y: tensor<?xi64, #graph.dims<["a"]>> {graph.name = "ids"}) -> (tensor<?x2xf32, #graph.dims<["n", "2"]>>, tensor<?x2xf32, #graph.dims<["n", "2"]>> {graph.name = "again"}) attributes {graph.guards = ["n-2", "-a+9"]} {
  %c = graph.constant dense<[1.0, 2.0]> : tensor<2xf32> : tensor<2xf32>
  %0, %1 = kernel.call @k(%x, %c) {graph.node = ["/k"]} : (tensor<?x2xf32, #graph.dims<["n", "2"]>>, tensor<2xf32>) -> (tensor<?x2xf32, #graph.dims<["n", "2"]>>, tensor<f64>)
  func.return %0, %0 : tensor<?x2xf32, #graph.dims<["n", "2"]>>, tensor<?x2xf32, #graph.dims<["n", "2"]>>
}
kernel.func @k(%0: memref<?x2xf32, #graph.dims<["n", "2"]>>, %1: memref<2xf32>, %2: memref<?x2xf32, #graph.dims<["n", "2"]>>, %3: memref<f64>) {
  kernel.return
}

// CHECK:      rt.program "net" {inputs = ["input0", "ids"], outputs = ["output0", "again"], dims = ["a", "n"], guards = ["n-2", "-a+9"]} do {
// CHECK-NEXT: %0 = rt.input 0 : i64 : memref<?x2xf32, #graph.dims<["n", "2"]>>
// CHECK-NEXT: %1 = rt.input 1 : i64 : memref<?xi64, #graph.dims<["a"]>>
// CHECK-NEXT: %2 = rt.output 0 : i64 : memref<?x2xf32, #graph.dims<["n", "2"]>>
// CHECK-NEXT: %3 = rt.output 1 : i64 : memref<?x2xf32, #graph.dims<["n", "2"]>>
// CHECK-NEXT: %4 = rt.weight "constant" : memref<2xf32>
// CHECK-NEXT: %5 = rt.buffer "8" : memref<f64>
// CHECK-NEXT: rt.launch @k(%0, %4, %2, %5) {graph.node = ["/k"], writes = 2 : i64} : memref<?x2xf32, #graph.dims<["n", "2"]>>, memref<2xf32>, memref<?x2xf32, #graph.dims<["n", "2"]>>, memref<f64>
// CHECK-NEXT: rt.copy %2, %3 : memref<?x2xf32, #graph.dims<["n", "2"]>>, memref<?x2xf32, #graph.dims<["n", "2"]>>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @k(%0: memref<?x2xf32, #graph.dims<["n", "2"]>>, %1: memref<2xf32>, %2: memref<?x2xf32, #graph.dims<["n", "2"]>>, %3: memref<f64>) {
// CHECK-NEXT: kernel.return
