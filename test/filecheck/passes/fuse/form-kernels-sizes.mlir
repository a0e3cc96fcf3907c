// RUN: mlc-opt %s -p 'fold-constants,form-kernels' | filecheck %s

// %a and %b would be one kernel, but %b needs the size that %a leads to.

func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<?xf32, #graph.dims<["size0"]>>) {
  %a = graph.map "exp(x0)"(%x) {graph.node = ["/a"]} : (tensor<8xf32>) -> tensor<8xf32>
  %m = graph.map "x0 > 1"(%a) {graph.node = ["/m"]} : (tensor<8xf32>) -> tensor<8xi1>
  %p = graph.nonzero "size0"(%m) {graph.node = ["/p"]} : tensor<8xi1> -> tensor<?xi64, #graph.dims<["size0"]>>
  %s = graph.compute "f32(size0)"() {graph.node = ["/s"], shape = ["1"], reduce = []} : () -> tensor<1xf32>
  %b = graph.map "x0 / x1"(%a, %s) {graph.node = ["/b"]} : (tensor<8xf32>, tensor<1xf32>) -> tensor<8xf32>
  %c = graph.compute "x0[x1[i0]]"(%a, %p) {graph.node = ["/c"], shape = ["size0"], reduce = []} : (tensor<8xf32>, tensor<?xi64, #graph.dims<["size0"]>>) -> tensor<?xf32, #graph.dims<["size0"]>>
  func.return %b, %c : tensor<8xf32>, tensor<?xf32, #graph.dims<["size0"]>>
}

// CHECK:      %a, %m = kernel.call @map_0(%x) {graph.node = ["/a", "/m"]} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xi1>)
// CHECK-NEXT: %p = graph.nonzero "size0"(%m) {graph.node = ["/p"]} : tensor<8xi1> -> tensor<?xi64, #graph.dims<["size0"]>>
// CHECK-NEXT: %s = kernel.call @compute_2() {graph.node = ["/s"]} : () -> tensor<1xf32>
// CHECK-NEXT: %b = kernel.call @map_3(%a, %s) {graph.node = ["/b"]} : (tensor<8xf32>, tensor<1xf32>) -> tensor<8xf32>
// CHECK-NEXT: %c = kernel.call @compute_4(%a, %p) {graph.node = ["/c"]} : (tensor<8xf32>, tensor<?xi64, #graph.dims<["size0"]>>) -> tensor<?xf32, #graph.dims<["size0"]>>
