// RUN: mlc-opt %s -p 'lower-kernels,raise-to-poly,choose-schedule{lanes=8 registers=16}' --split-input-file | filecheck %s

// Sums of products of bytes, one by one and four at once, are contractions like those of floats.

kernel.func @words(%x: tensor<9x4xi32>, %w: tensor<2x4x16xi32>) -> tensor<9x32xi32> {
  %0 = graph.contract "mk,kn->mn"(%x, %w) {columns = 32 : i64, block = 16 : i64, product = "dot4(x0, x1)"} : (tensor<9x4xi32>, tensor<2x4x16xi32>) -> tensor<9x32xi32>
  kernel.return %0 : tensor<9x32xi32>
}

// CHECK:      kernel.func @words{{.*}}schedule = "contraction: S0 | n/16v m/
// CHECK:      kernel.lanewise "dot4"(

// -----

kernel.func @bytes(%x: tensor<9x16xui8>, %w: tensor<16x32xi8>) -> tensor<9x32xi32> {
  %0 = graph.contract "mk,kn->mn"(%x, %w) {product = "i32(x0) * i32(x1)"} : (tensor<9x16xui8>, tensor<16x32xi8>) -> tensor<9x32xi32>
  kernel.return %0 : tensor<9x32xi32>
}

// CHECK:      kernel.func @bytes{{.*}}schedule = "contraction: S0 | n/16v m/
