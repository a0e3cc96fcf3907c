// repeat: elementwise: S0 | i0/4+1 i1/16v |
kernel.func @repeat(%x: tensor<?x13xf32, #graph.dims<["n", "13"]>>) -> tensor<?x26xf32, #graph.dims<["n", "26"]>> {
  %0 = graph.compute "x0[i0, i1 // 2]"(%x) {shape = ["n", "26"], reduce = []} : (tensor<?x13xf32, #graph.dims<["n", "13"]>>) -> tensor<?x26xf32, #graph.dims<["n", "26"]>>
  kernel.return %0 : tensor<?x26xf32, #graph.dims<["n", "26"]>>
}
