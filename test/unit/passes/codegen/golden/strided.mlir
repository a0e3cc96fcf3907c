// strided: window: S0 | i0 i1 i2/8v | r0 r1
kernel.func @strided(%x: tensor<2x9x23xf32>) -> tensor<2x4x11xf32> {
  %0 = graph.compute "x0[i0, 2*i1 + r0, 2*i2 + r1]"(%x) {shape = ["2", "4", "11"], reduce = ["2", "2"], monoid = "max"} : (tensor<2x9x23xf32>) -> tensor<2x4x11xf32>
  kernel.return %0 : tensor<2x4x11xf32>
}
