// gather: elementwise: S0 | i0 i1/8v |
kernel.func @gather(%t: tensor<9x12xf16>, %ids: tensor<7xi64>) -> tensor<7x12xf16> {
  %0 = graph.compute "x0[x1[i0], i1]"(%t, %ids) {shape = ["7", "12"], reduce = []} : (tensor<9x12xf16>, tensor<7xi64>) -> tensor<7x12xf16>
  kernel.return %0 : tensor<7x12xf16>
}
