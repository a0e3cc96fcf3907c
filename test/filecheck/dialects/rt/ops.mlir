// RUN: mlc-opt %s | mlc-opt | filecheck %s
// RUN: mlc-opt %s --print-op-generic | mlc-opt | filecheck %s

rt.program "net" {inputs = ["x"], outputs = ["y", "z"], dims = ["batch"]} do {
  %x = rt.input 0 : i64 : memref<?x8xf32, #graph.dims<["batch", "8"]>>
  %y = rt.output 0 : i64 : memref<?x8xf32, #graph.dims<["batch", "8"]>>
  %z = rt.output 1 : i64 : memref<?x8xf32, #graph.dims<["batch", "8"]>>
  %w = rt.weight "w" {offset = 64 : i64} : memref<8xf32>
  %s = rt.buffer "32" {offset = 0 : i64} : memref<8xf32>
  %b = rt.buffer "32*batch" {after = [0 : i64]} : memref<?x8xf32, #graph.dims<["batch", "8"]>>
  %v = rt.view %b : memref<?x8xf32, #graph.dims<["batch", "8"]>> -> memref<?x2x4xf32, #graph.dims<["batch", "2", "4"]>>
  rt.launch @scale(%x, %w, %b) {graph.node = ["/scale"], writes = 1 : i64} : memref<?x8xf32, #graph.dims<["batch", "8"]>>, memref<8xf32>, memref<?x8xf32, #graph.dims<["batch", "8"]>>
  rt.barrier
  rt.copy %b, %y : memref<?x8xf32, #graph.dims<["batch", "8"]>>, memref<?x8xf32, #graph.dims<["batch", "8"]>>
}

// CHECK:      rt.program "net" {inputs = ["x"], outputs = ["y", "z"], dims = ["batch"]} do {
// CHECK-NEXT: %x = rt.input 0 : i64 : memref<?x8xf32, #graph.dims<["batch", "8"]>>
// CHECK-NEXT: %y = rt.output 0 : i64 : memref<?x8xf32, #graph.dims<["batch", "8"]>>
// CHECK-NEXT: %z = rt.output 1 : i64 : memref<?x8xf32, #graph.dims<["batch", "8"]>>
// CHECK-NEXT: %w = rt.weight "w" {offset = 64 : i64} : memref<8xf32>
// CHECK-NEXT: %s = rt.buffer "32" {offset = 0 : i64} : memref<8xf32>
// CHECK-NEXT: %b = rt.buffer "32*batch" {after = [0 : i64]} : memref<?x8xf32, #graph.dims<["batch", "8"]>>
// CHECK-NEXT: %v = rt.view %b : memref<?x8xf32, #graph.dims<["batch", "8"]>> -> memref<?x2x4xf32, #graph.dims<["batch", "2", "4"]>>
// CHECK-NEXT: rt.launch @scale(%x, %w, %b) {graph.node = ["/scale"], writes = 1 : i64} : memref<?x8xf32, #graph.dims<["batch", "8"]>>, memref<8xf32>, memref<?x8xf32, #graph.dims<["batch", "8"]>>
// CHECK-NEXT: rt.barrier
// CHECK-NEXT: rt.copy %b, %y : memref<?x8xf32, #graph.dims<["batch", "8"]>>, memref<?x8xf32, #graph.dims<["batch", "8"]>>
