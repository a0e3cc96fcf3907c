// RUN: mlc-opt %s --for-target x86-64-v3 -p 'lower-kernels,choose-schedule' --split-input-file | filecheck %s

// Sums of products of bytes, one by one and four at once, and of pairs of bf16, are contractions like those of floats.

kernel.func @words(%x: tensor<9x4xi32>, %w: tensor<2x4x16xi32>) -> tensor<9x32xi32> {
  %0 = graph.contract "mk,kn->mn"(%x, %w) {product = "dot4(x0, x1)", layouts = [#graph.layout<"ab">, #graph.layout<"Ba16b">, #graph.layout<"ab">]} : (tensor<9x4xi32>, tensor<2x4x16xi32>) -> tensor<9x32xi32>
  kernel.return %0 : tensor<9x32xi32>
}

// CHECK:      kernel.func @words{{.*}}schedule = #poly.schedule<"contraction: S0 | n/16v m/
// CHECK:      kernel.lanewise "dot4"(

// -----

kernel.func @bytes(%x: tensor<9x16xui8>, %w: tensor<16x32xi8>) -> tensor<9x32xi32> {
  %0 = graph.contract "mk,kn->mn"(%x, %w) {product = "i32(x0) * i32(x1)"} : (tensor<9x16xui8>, tensor<16x32xi8>) -> tensor<9x32xi32>
  kernel.return %0 : tensor<9x32xi32>
}

// CHECK:      kernel.func @bytes{{.*}}schedule = #poly.schedule<"contraction: S0 | n/16v m/

// -----

kernel.func @pairs(%x: tensor<9x4xi32>, %w: tensor<2x4x16xi32>) -> tensor<9x32xf32> {
  %0 = graph.contract "mk,kn->mn"(%x, %w) {product = "dot2(x0, x1)", layouts = [#graph.layout<"ab">, #graph.layout<"Ba16b">, #graph.layout<"ab">]} : (tensor<9x4xi32>, tensor<2x4x16xi32>) -> tensor<9x32xf32>
  kernel.return %0 : tensor<9x32xf32>
}

// CHECK:      kernel.func @pairs{{.*}}schedule = #poly.schedule<"contraction: S0 | n/16v m/
// CHECK:      kernel.lanewise "dot2"(
