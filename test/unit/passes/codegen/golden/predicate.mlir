// predicate: elementwise: S0 | i0/16v |
kernel.func @predicate(%x: tensor<?xf32, #graph.dims<["batch"]>>, %y: tensor<?xi64, #graph.dims<["batch"]>>) -> tensor<?xi1, #graph.dims<["batch"]>> {
  %0 = graph.map "gt(x0, 0.5)"(%x) : (tensor<?xf32, #graph.dims<["batch"]>>) -> tensor<?xi1, #graph.dims<["batch"]>>
  %1 = graph.map "and_(x0, eq(x1, 3))"(%0, %y) : (tensor<?xi1, #graph.dims<["batch"]>>, tensor<?xi64, #graph.dims<["batch"]>>) -> tensor<?xi1, #graph.dims<["batch"]>>
  kernel.return %1 : tensor<?xi1, #graph.dims<["batch"]>>
}
