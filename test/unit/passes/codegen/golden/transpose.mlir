// transpose: elementwise: S0 | i0/8*1+3*1 i1/8v |
kernel.func @transpose(%x: tensor<?x11xf32, #graph.dims<["n", "11"]>>) -> tensor<11x?xf32, #graph.dims<["11", "n"]>> {
  %0 = graph.compute "x0[i1, i0]"(%x) {shape = ["11", "n"], reduce = []} : (tensor<?x11xf32, #graph.dims<["n", "11"]>>) -> tensor<11x?xf32, #graph.dims<["11", "n"]>>
  kernel.return %0 : tensor<11x?xf32, #graph.dims<["11", "n"]>>
}
