// RUN: mlc-opt %s -p 'build-program,plan-memory,insert-barriers' | filecheck %s

// A size that depends on data is a further output; buffers have room for the most it can be, and what stands after
// rt.nonzero waits for it. The part of the concatenation at a place that depends on it is copied there.

func.func @net(%m: tensor<?xi1, #graph.dims<["n"]>> {graph.name = "m"}) -> (tensor<?xi64, #graph.dims<["size0"]>> {graph.name = "p"}, tensor<?xf32, #graph.dims<["n+size0"]>> {graph.name = "all"}) {
  %0 = kernel.call @early(%m) {graph.node = ["/early"]} : (tensor<?xi1, #graph.dims<["n"]>>) -> tensor<?xf32, #graph.dims<["n"]>>
  %1 = graph.nonzero "size0"(%m) {graph.node = ["/p"]} : tensor<?xi1, #graph.dims<["n"]>> -> tensor<?xi64, #graph.dims<["size0"]>>
  %2 = kernel.call @late(%1) {graph.node = ["/late"]} : (tensor<?xi64, #graph.dims<["size0"]>>) -> tensor<?xf32, #graph.dims<["size0"]>>
  %3 = graph.concat(%2, %0) {graph.node = ["/all"], axis = 0 : i64} : (tensor<?xf32, #graph.dims<["size0"]>>, tensor<?xf32, #graph.dims<["n"]>>) -> tensor<?xf32, #graph.dims<["n+size0"]>>
  func.return %1, %3 : tensor<?xi64, #graph.dims<["size0"]>>, tensor<?xf32, #graph.dims<["n+size0"]>>
}
kernel.func @early(%0: memref<?xi1, #graph.dims<["n"]>>, %1: memref<?xf32, #graph.dims<["n"]>>) {
  kernel.return
}
kernel.func @late(%0: memref<?xi64, #graph.dims<["size0"]>>, %1: memref<?xf32, #graph.dims<["size0"]>>) {
  kernel.return
}

// CHECK:      rt.program "net" {inputs = ["m"], outputs = ["p", "all", "size0"], dims = ["n"], sizes = ["size0"], bounds = ["n"], arena = {bytes = 64 : i64, live = 64 : i64, at = {n = 8 : i64}}} do {
// CHECK-NEXT: %0 = rt.input 0 : i64 : memref<?xi1, #graph.dims<["n"]>>
// CHECK-NEXT: %1 = rt.output 0 : i64 {bound = ["n"]} : memref<?xi64, #graph.dims<["size0"]>>
// CHECK-NEXT: %2 = rt.output 1 : i64 {bound = ["2*n"]} : memref<?xf32, #graph.dims<["n+size0"]>>
// CHECK-NEXT: %3 = rt.output 2 : i64 : memref<i64>
// CHECK-NEXT: %4 = rt.buffer "4*n" {after = []} : memref<?xf32, #graph.dims<["n"]>>
// CHECK-NEXT: rt.launch @early(%0, %4) {graph.node = ["/early"], writes = 1 : i64} : memref<?xi1, #graph.dims<["n"]>>, memref<?xf32, #graph.dims<["n"]>>
// CHECK-NEXT: rt.nonzero "size0" %0, %1, %3 {graph.node = ["/p"]} : memref<?xi1, #graph.dims<["n"]>>, memref<?xi64, #graph.dims<["size0"]>>, memref<i64>
// CHECK-NEXT: %5 = rt.view %2 : memref<?xf32, #graph.dims<["n+size0"]>> -> memref<?xf32, #graph.dims<["size0"]>>
// CHECK-NEXT: rt.barrier
// CHECK-NEXT: rt.launch @late(%1, %5) {graph.node = ["/late"], writes = 1 : i64} : memref<?xi64, #graph.dims<["size0"]>>, memref<?xf32, #graph.dims<["size0"]>>
// CHECK-NEXT: %6 = rt.view %2 {offset = "4*size0"} : memref<?xf32, #graph.dims<["n+size0"]>> -> memref<?xf32, #graph.dims<["n"]>>
// CHECK-NEXT: rt.barrier
// CHECK-NEXT: rt.copy %4, %6 : memref<?xf32, #graph.dims<["n"]>>, memref<?xf32, #graph.dims<["n"]>>
