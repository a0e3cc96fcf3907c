// RUN: mlc-opt %s --for-target x86-64-v3 -p lower-kernels,choose-schedule | filecheck %s --check-prefix V3
// RUN: mlc-opt %s --for-target x86-64-v3:vector_registers=32 -p lower-kernels,choose-schedule | filecheck %s --check-prefix MORE
// RUN: mlc-opt %s -p lower-kernels,choose-schedule | filecheck %s --check-prefix USUAL

// The target of the context decides the width of a register tile, and how many rows fit its registers.

kernel.func @product(%a: tensor<84x8xf32>, %b: tensor<8x64xf32>) -> tensor<84x64xf32> {
  %0 = graph.contract "mk,kn->mn"(%a, %b) : (tensor<84x8xf32>, tensor<8x64xf32>) -> tensor<84x64xf32>
  kernel.return %0 : tensor<84x64xf32>
}

// V3: contraction: S0 | n/16v m/6*14 | k
// MORE: contraction: S0 | n/16v m/14*6 | k
// USUAL: contraction: S0 | n/32v m/14*6 | k
