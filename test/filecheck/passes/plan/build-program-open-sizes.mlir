// RUN: mlc-opt %s -p 'build-program,plan-memory,insert-barriers,verify-plan' | filecheck %s

// What bounds size1 is known; what bounds size0 is a dimension of the program's own, the last of its dims. A kernel does
// not write into memory of a size that only a check says to be as large as what it computes: that is copied.

func.func @net(%n: tensor<i64> {graph.name = "n"}, %x: tensor<?xf32, #graph.dims<["m"]>> {graph.name = "x"}) -> (tensor<?x2xf32, #graph.dims<["size0", "2"]>> {graph.name = "y"}) {
  %0 = kernel.call @count(%x) {graph.node = ["/count"]} : (tensor<?xf32, #graph.dims<["m"]>>) -> tensor<?xf32, #graph.dims<["m"]>>
  %1 = graph.size "size0"(%n) most "room0" else "too long" {graph.node = ["/n"]} : tensor<i64> -> tensor<i64>
  %2 = graph.size "size1"(%n) most "m" else "beyond m" {graph.node = ["/n"]} : tensor<i64> -> tensor<i64>
  %3 = graph.reshape(%0) {shape = ["size0", "2"]} : (tensor<?xf32, #graph.dims<["m"]>>) -> tensor<?x2xf32, #graph.dims<["size0", "2"]>>
  func.return %3 : tensor<?x2xf32, #graph.dims<["size0", "2"]>>
}
kernel.func @count(%0: memref<?xf32, #graph.dims<["m"]>>, %1: memref<?xf32, #graph.dims<["m"]>>) {
  kernel.return
}

// CHECK:      rt.program "net" {inputs = ["n", "x"], outputs = ["y", "size0", "size1"], dims = ["m", "room0"], sizes = ["size0", "size1"], bounds = ["room0", "m"], arena = {bytes = 64 : i64, live = 64 : i64, at = {m = 8 : i64}}} do {
// CHECK:      %5 = rt.buffer "4*m" {after = []} : memref<?xf32, #graph.dims<["m"]>>
// CHECK-NEXT: rt.launch @count(%1, %5)
// CHECK-NEXT: rt.size "size0" %0, %3 most "room0" else "too long" {graph.node = ["/n"]} : memref<i64>, memref<i64>
// CHECK-NEXT: rt.size "size1" %0, %4 most "m" else "beyond m" {graph.node = ["/n"]} : memref<i64>, memref<i64>
// CHECK-NEXT: %6 = rt.view %5 : memref<?xf32, #graph.dims<["m"]>> -> memref<?x2xf32, #graph.dims<["size0", "2"]>>
// CHECK-NEXT: rt.barrier
// CHECK-NEXT: rt.copy %6, %2
