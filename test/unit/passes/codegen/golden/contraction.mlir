// contraction: contraction: S0 S1 | n/16v m/4*1+2*1 | k
kernel.func @contraction(%x: tensor<6x5xf32>, %w: tensor<5x13xf32>, %b: tensor<13xf32>) -> tensor<6x13xf32> {
  %0 = graph.contract "mk,kn->mn"(%x, %w) : (tensor<6x5xf32>, tensor<5x13xf32>) -> tensor<6x13xf32>
  %1 = graph.map "max(x0 + x1, 0)"(%0, %b) : (tensor<6x13xf32>, tensor<13xf32>) -> tensor<6x13xf32>
  kernel.return %1 : tensor<6x13xf32>
}
