// RUN: mlc-opt %s -p build-program --verify-diagnostics | filecheck %s

func.func @main(%x: tensor<?x5xf32, #graph.dims<["batch", "5"]>> {graph.name = "x"}) -> (tensor<?xf32, #graph.dims<["5*batch"]>> {graph.name = "flat"}, tensor<?x5xf32, #graph.dims<["batch", "5"]>> {graph.name = "same"}) {
  %w = graph.weight "w" : tensor<5xf32>
  %0 = kernel.call @add(%x, %w) {graph.node = ["/a"]} : (tensor<?x5xf32, #graph.dims<["batch", "5"]>>, tensor<5xf32>) -> tensor<?x5xf32, #graph.dims<["batch", "5"]>>
  %1 = kernel.call @add(%0, %w) {graph.node = ["/b"]} : (tensor<?x5xf32, #graph.dims<["batch", "5"]>>, tensor<5xf32>) -> tensor<?x5xf32, #graph.dims<["batch", "5"]>>
  %2 = graph.reshape(%1) {shape = ["5*batch"]} : (tensor<?x5xf32, #graph.dims<["batch", "5"]>>) -> tensor<?xf32, #graph.dims<["5*batch"]>>
  func.return %2, %x : tensor<?xf32, #graph.dims<["5*batch"]>>, tensor<?x5xf32, #graph.dims<["batch", "5"]>>
}
kernel.func @add(%0: memref<?x5xf32, #graph.dims<["batch", "5"]>>, %1: memref<5xf32>, %2: memref<?x5xf32, #graph.dims<["batch", "5"]>>) {
  kernel.return
}

// CHECK:      rt.program "main" {inputs = ["x"], outputs = ["flat", "same"], dims = ["batch"]} do {
// CHECK-NEXT: %0 = rt.input 0 : i64 : memref<?x5xf32, #graph.dims<["batch", "5"]>>
// CHECK-NEXT: %1 = rt.output 0 : i64 : memref<?xf32, #graph.dims<["5*batch"]>>
// CHECK-NEXT: %2 = rt.output 1 : i64 : memref<?x5xf32, #graph.dims<["batch", "5"]>>
// CHECK-NEXT: %3 = rt.weight "w" : memref<5xf32>
// CHECK-NEXT: %4 = rt.buffer "20*batch" : memref<?x5xf32, #graph.dims<["batch", "5"]>>
// CHECK-NEXT: rt.launch @add(%0, %3, %4) {graph.node = ["/a"], writes = 1 : i64} : memref<?x5xf32, #graph.dims<["batch", "5"]>>, memref<5xf32>, memref<?x5xf32, #graph.dims<["batch", "5"]>>
// CHECK-NEXT: %5 = rt.view %1 : memref<?xf32, #graph.dims<["5*batch"]>> -> memref<?x5xf32, #graph.dims<["batch", "5"]>>
// CHECK-NEXT: rt.launch @add(%4, %3, %5) {graph.node = ["/b"], writes = 1 : i64} : memref<?x5xf32, #graph.dims<["batch", "5"]>>, memref<5xf32>, memref<?x5xf32, #graph.dims<["batch", "5"]>>
// CHECK-NEXT: %6 = rt.view %5 : memref<?x5xf32, #graph.dims<["batch", "5"]>> -> memref<?xf32, #graph.dims<["5*batch"]>>
// CHECK-NEXT: rt.copy %0, %2 : memref<?x5xf32, #graph.dims<["batch", "5"]>>, memref<?x5xf32, #graph.dims<["batch", "5"]>>
