// softmax: rows: S0 S1 S2 S3 | i0 | i1/16v
kernel.func @softmax(%x: tensor<?x21xf32, #graph.dims<["batch", "21"]>>) -> tensor<?x21xf32, #graph.dims<["batch", "21"]>> {
  %0 = graph.reduce "max"(%x) {axes = array<i64: 1>, keepdims = true} : (tensor<?x21xf32, #graph.dims<["batch", "21"]>>) -> tensor<?x1xf32, #graph.dims<["batch", "1"]>>
  %1 = graph.map "exp(x0 - x1)"(%x, %0) : (tensor<?x21xf32, #graph.dims<["batch", "21"]>>, tensor<?x1xf32, #graph.dims<["batch", "1"]>>) -> tensor<?x21xf32, #graph.dims<["batch", "21"]>>
  %2 = graph.reduce "add"(%1) {axes = array<i64: 1>, keepdims = true} : (tensor<?x21xf32, #graph.dims<["batch", "21"]>>) -> tensor<?x1xf32, #graph.dims<["batch", "1"]>>
  %3 = graph.map "x0 / x1"(%1, %2) : (tensor<?x21xf32, #graph.dims<["batch", "21"]>>, tensor<?x1xf32, #graph.dims<["batch", "1"]>>) -> tensor<?x21xf32, #graph.dims<["batch", "21"]>>
  kernel.return %3 : tensor<?x21xf32, #graph.dims<["batch", "21"]>>
}
