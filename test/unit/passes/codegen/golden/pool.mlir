// pool: window: S0 | i0 i1 i2/2+1 i3/8v | r0 r1
kernel.func @pool(%x: tensor<2x9x11x8xf32>) -> tensor<2x4x5x8xf32> {
  %0 = graph.compute "x0[i0, 2*i1 + r0, 2*i2 + r1, i3]"(%x) {shape = ["2", "4", "5", "8"], reduce = ["2", "3"], monoid = "max"} : (tensor<2x9x11x8xf32>) -> tensor<2x4x5x8xf32>
  kernel.return %0 : tensor<2x4x5x8xf32>
}
