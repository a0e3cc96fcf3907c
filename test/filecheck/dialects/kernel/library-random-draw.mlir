// RUN: mlc-opt %s -p form-kernels,lower-kernels,verify-kernel,choose-schedule,tile-kernels,lower-tiles,build-program | filecheck %s

// A draw is a launch after that of its key, which reads the number of the run. What is made of its numbers is a map.

func.func @main(%x: tensor<?xf32, #graph.dims<["n"]>> {graph.name = "x"}) -> (tensor<?xf32, #graph.dims<["n"]>> {graph.name = "y"}) {
  %r = graph.run_counter : tensor<i64>
  %k = graph.compute "where(i0 == 0, 7, where(i0 == 1, x0[()], x0[()] >> 32))"(%r) {shape = ["3"], reduce = [], graph.node = ["/k"]} : (tensor<i64>) -> tensor<3xi64>
  %u = graph.random_draw "uniform"(%k) {graph.node = ["/u"]} : tensor<3xi64> -> tensor<?xf64, #graph.dims<["n"]>>
  %y = graph.map "x0 + f32(x1)"(%x, %u) {graph.node = ["/y"]} : (tensor<?xf32, #graph.dims<["n"]>>, tensor<?xf64, #graph.dims<["n"]>>) -> tensor<?xf32, #graph.dims<["n"]>>
  func.return %y : tensor<?xf32, #graph.dims<["n"]>>
}

// CHECK:      %[[R:.*]] = rt.run_counter : memref<i64>
// CHECK:      rt.launch @{{.*}}(%[[R]], %[[K:.*]])
// CHECK:      rt.launch @random_draw_2(%[[K]], %[[U:.*]])
// CHECK:      rt.launch @{{.*}}(%{{.*}}, %[[U]], %{{.*}})
// CHECK:      kernel.func @random_draw_2(%{{.*}}: memref<3xi64>, %{{.*}}: memref<?xf64, {{.*}}>)
// CHECK-NEXT: kernel.library_call "random_draw_uniform"(%{{.*}}, %{{.*}}) {integers = ["3", "n"]}
