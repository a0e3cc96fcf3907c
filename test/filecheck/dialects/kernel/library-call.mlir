// RUN: mlc-opt %s -p form-kernels,lower-kernels,count-work,verify-kernel,choose-schedule,partition-parallel-loops,tile-kernels,lower-tiles,verify-loops | filecheck %s

// A runtime library function is a separate kernel, without fusion and schedule. Its integer arguments may be symbols.

func.func @main(%x: tensor<?x90x1xf32, #graph.dims<["n", "90", "1"]>>) -> (tensor<?x180xi64, #graph.dims<["n", "180"]>> {graph.name = "y"}) {
  %e = graph.map "exp(x0)"(%x) {graph.node = ["/e"]} : (tensor<?x90x1xf32, #graph.dims<["n", "90", "1"]>>) -> tensor<?x90x1xf32, #graph.dims<["n", "90", "1"]>>
  %o = graph.argsort(%e) {count = "50", descending = true, graph.node = ["/o"]} : tensor<?x90x1xf32, #graph.dims<["n", "90", "1"]>> -> tensor<?x180xi64, #graph.dims<["n", "180"]>>
  %y = graph.map "x0 + 1"(%o) {graph.node = ["/y"]} : (tensor<?x180xi64, #graph.dims<["n", "180"]>>) -> tensor<?x180xi64, #graph.dims<["n", "180"]>>
  func.return %y : tensor<?x180xi64, #graph.dims<["n", "180"]>>
}

// CHECK:      kernel.call @map_0
// CHECK-NEXT: kernel.call @argsort_1
// CHECK-NEXT: kernel.call @map_2
// CHECK:      kernel.func @argsort_1(%{{.*}}: memref<?x90x1xf32, {{.*}}>, %{{.*}}: memref<?x180xi64, {{.*}}>)
// CHECK-NEXT: kernel.library_call "argsort_f32"(%{{.*}}, %{{.*}}) {integers = ["n", "90", "1", "50", "180", "1"]}
// CHECK-NEXT: kernel.return
