// RUN: mlc-opt %s -p 'lower-kernels,raise-to-poly,choose-schedule{lanes=8 registers=16}' --verify-diagnostics --split-input-file | filecheck %s
// RUN: mlc-opt %s -p 'lower-kernels,raise-to-poly,choose-schedule{lanes=4 registers=8}' --split-input-file | filecheck %s --check-prefix FOUR

// Independent statements get a nest each; lanes run along the contiguous axis of the result; sums of 600 are in blocks.

kernel.func @independent(%x: tensor<3x5xf32>, %y: tensor<7xf32>) -> (tensor<3x5xf32>, tensor<7xf32>) {
  %0 = graph.map "exp(x0)"(%x) : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %1 = graph.map "neg(x0)"(%y) : (tensor<7xf32>) -> tensor<7xf32>
  kernel.return %0, %1 : tensor<3x5xf32>, tensor<7xf32>
}

// CHECK:      kernel.func @independent{{.*}}schedule = "elementwise: S0 | i0{{.*}} i1/5v | ; elementwise: S1 | i0/7v | "
// FOUR:       kernel.func @independent{{.*}}schedule = "elementwise: S0 | i0{{.*}} i1/4v | ; elementwise: S1 | i0/4v | "

// -----

kernel.func @transposed(%x: tensor<9x20xf32>) -> tensor<20x9xf32> {
  %0 = graph.transpose(%x) {perm = array<i64: 1, 0>} : (tensor<9x20xf32>) -> tensor<20x9xf32>
  kernel.return %0 : tensor<20x9xf32>
}

// CHECK:      kernel.func @transposed{{.*}}schedule = "elementwise: S0 | i0 i1/8v | "
// FOUR:       kernel.func @transposed{{.*}}schedule = "elementwise: S0 | i0 i1/4v | "

// -----

kernel.func @columns(%x: tensor<9x20xf32>) -> tensor<20xf32> {
  %0 = graph.reduce "max"(%x) {axes = array<i64: 0>, keepdims = false} : (tensor<9x20xf32>) -> tensor<20xf32>
  kernel.return %0 : tensor<20xf32>
}

// CHECK:      kernel.func @columns{{.*}}schedule = "window: S0 | i1/16v | i0"
// FOUR:       kernel.func @columns{{.*}}schedule = "window: S0 | i1/8v | i0"

// -----

kernel.func @long(%x: tensor<6x600xf32>, %w: tensor<600x16xf32>) -> tensor<6x16xf32> {
  %0 = graph.contract "mk,kn->mn"(%x, %w) : (tensor<6x600xf32>, tensor<600x16xf32>) -> tensor<6x16xf32>
  kernel.return %0 : tensor<6x16xf32>
}

// CHECK:      kernel.func @long{{.*}}schedule = "contraction: S0 | n/16v m/{{.*}} | k/128s"
// FOUR:       kernel.func @long{{.*}}schedule = "contraction: S0 | n/8v m/{{.*}} | k/128s"

// -----

kernel.func @scalar(%x: tensor<f32>) -> tensor<f32> {
  %0 = graph.map "exp(x0)"(%x) : (tensor<f32>) -> tensor<f32>
  kernel.return %0 : tensor<f32>
}

// CHECK:      kernel.func @scalar{{.*}}schedule = "fallback: S0 |  | "
