// RUN: mlc-opt %s --for-target x86-64-v3 -p 'lower-kernels,choose-schedule' --verify-diagnostics --split-input-file | filecheck %s
// RUN: mlc-opt %s --for-target x86-64-v4:vector_bits=128,vector_registers=8 -p 'lower-kernels,choose-schedule' --split-input-file | filecheck %s --check-prefix FOUR

// Independent statements get a nest each; lanes run along the contiguous axis of the result; sums of 600 are in blocks.

kernel.func @independent(%x: tensor<3x5xf32>, %y: tensor<7xf32>) -> (tensor<3x5xf32>, tensor<7xf32>) {
  %0 = graph.map "exp(x0)"(%x) : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %1 = graph.map "neg(x0)"(%y) : (tensor<7xf32>) -> tensor<7xf32>
  kernel.return %0, %1 : tensor<3x5xf32>, tensor<7xf32>
}

// CHECK:      kernel.func @independent{{.*}}schedule = #poly.schedule<"elementwise: S0 | i0{{.*}} i1/5v | ; elementwise: S1 | i0/7v | ">
// FOUR:       kernel.func @independent{{.*}}schedule = #poly.schedule<"elementwise: S0 | i0{{.*}} i1/4v | ; elementwise: S1 | i0/4v | ">

// -----

kernel.func @transposed(%x: tensor<9x20xf32>) -> tensor<20x9xf32> {
  %0 = graph.transpose(%x) {perm = array<i64: 1, 0>} : (tensor<9x20xf32>) -> tensor<20x9xf32>
  kernel.return %0 : tensor<20x9xf32>
}

// CHECK:      kernel.func @transposed{{.*}}schedule = #poly.schedule<"elementwise: S0 | i0/8*2+4*1 i1/8v | ">
// FOUR:       kernel.func @transposed{{.*}}schedule = #poly.schedule<"elementwise: S0 | i0/4*5 i1/4v | ">

// -----

kernel.func @columns(%x: tensor<9x20xf32>) -> tensor<20xf32> {
  %0 = graph.reduce "max"(%x) {axes = array<i64: 0>, keepdims = false} : (tensor<9x20xf32>) -> tensor<20xf32>
  kernel.return %0 : tensor<20xf32>
}

// CHECK:      kernel.func @columns{{.*}}schedule = #poly.schedule<"window: S0 | i1/16v | i0">
// FOUR:       kernel.func @columns{{.*}}schedule = #poly.schedule<"window: S0 | i1/8v | i0">

// -----

kernel.func @long(%x: tensor<6x600xf32>, %w: tensor<600x16xf32>) -> tensor<6x16xf32> {
  %0 = graph.contract "mk,kn->mn"(%x, %w) : (tensor<6x600xf32>, tensor<600x16xf32>) -> tensor<6x16xf32>
  kernel.return %0 : tensor<6x16xf32>
}

// CHECK:      kernel.func @long{{.*}}schedule = #poly.schedule<"contraction: S0 | n/16v m/{{.*}} | k/128s">
// FOUR:       kernel.func @long{{.*}}schedule = #poly.schedule<"contraction: S0 | n/8v m/{{.*}} | k/128s">

// -----

kernel.func @scalar(%x: tensor<f32>) -> tensor<f32> {
  %0 = graph.map "exp(x0)"(%x) : (tensor<f32>) -> tensor<f32>
  kernel.return %0 : tensor<f32>
}

// CHECK:      kernel.func @scalar{{.*}}schedule = #poly.schedule<"fallback: S0 |  | ">

// -----

// Every second or third element along the lanes comes from whole vectors; a few terms are never combined across them.

kernel.func @pool(%x: tensor<3x40x80xf32>) -> tensor<3x20x40xf32> {
  %0 = graph.compute "x0[i0, 2*i1 + r0, 2*i2 + r1]"(%x) {shape = ["3", "20", "40"], reduce = ["2", "2"], monoid = "max"} : (tensor<3x40x80xf32>) -> tensor<3x20x40xf32>
  kernel.return %0 : tensor<3x20x40xf32>
}

// CHECK:      kernel.func @pool{{.*}}schedule = #poly.schedule<"window: S0 | i0 i1/2*10 i2/16v | r1 r0">

// -----

kernel.func @pairs(%x: tensor<3x40x7x2xf32>) -> tensor<3x40xf32> {
  %0 = graph.compute "x0[i0, i1, 3, r0]"(%x) {shape = ["3", "40"], reduce = ["2"], monoid = "add"} : (tensor<3x40x7x2xf32>) -> tensor<3x40xf32>
  kernel.return %0 : tensor<3x40xf32>
}

// CHECK:      kernel.func @pairs{{.*}}schedule = #poly.schedule<"window: S0 | i0/2*1+1*1 i1/16v | r0">

// -----

// What is contiguous along another iterator than the result is read in squares, transposed in registers.

kernel.func @transpose(%x: tensor<3x21x40xf32>, %y: tensor<40x21xf32>) -> tensor<3x40x21xf32> {
  %0 = graph.compute "x0[i0, i2, i1] + x1[i1, i2]"(%x, %y) {shape = ["3", "40", "21"], reduce = []} : (tensor<3x21x40xf32>, tensor<40x21xf32>) -> tensor<3x40x21xf32>
  kernel.return %0 : tensor<3x40x21xf32>
}

// CHECK:      kernel.func @transpose{{.*}}schedule = #poly.schedule<"elementwise: S0 | i0 i1/8*5 i2/8v | ">
// FOUR:       kernel.func @transpose{{.*}}schedule = #poly.schedule<"elementwise: S0 | i0 i1/4*10 i2/4v | ">

// -----

kernel.func @symbolic_transpose(%x: tensor<?x21xf32, #graph.dims<["n", "21"]>>) -> tensor<21x?xf32, #graph.dims<["21", "n"]>> {
  %0 = graph.compute "x0[i1, i0]"(%x) {shape = ["21", "n"], reduce = []} : (tensor<?x21xf32, #graph.dims<["n", "21"]>>) -> tensor<21x?xf32, #graph.dims<["21", "n"]>>
  kernel.return %0 : tensor<21x?xf32, #graph.dims<["21", "n"]>>
}

// CHECK:      kernel.func @symbolic_transpose{{.*}}schedule = #poly.schedule<"elementwise: S0 | i0/8*2+5*1 i1/8v | ">

// -----

// A depthwise convolution is a window: what slides over the rows of a tile stands innermost.

kernel.func @depthwise(%x: tensor<3x20x40xf32>, %w: tensor<3x3x3xf32>) -> tensor<3x18x38xf32> {
  %0 = graph.compute "x0[i0, i1 + r0, i2 + r1] * x1[i0, r0, r1]"(%x, %w) {shape = ["3", "18", "38"], reduce = ["3", "3"], monoid = "add"} : (tensor<3x20x40xf32>, tensor<3x3x3xf32>) -> tensor<3x18x38xf32>
  kernel.return %0 : tensor<3x18x38xf32>
}

// CHECK:      kernel.func @depthwise{{.*}}schedule = #poly.schedule<"window: S0 | i0 i1/2*9 i2/16v | r1 r0">

// -----

// Statements of a nest keep their order, also where those of another component stand between them.

kernel.func @between(%x: tensor<3x5xf32>, %y: tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x15xf32>) {
  %0 = graph.map "exp(x0)"(%x) : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %1 = graph.map "exp(-x0)"(%y) : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %2 = graph.pad(%0) {low = ["0", "10"], high = ["0", "0"], interior = array<i64: 0, 0>, value = "0"} : (tensor<3x5xf32>) -> tensor<3x15xf32>
  kernel.return %0, %1, %2 : tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x15xf32>
}

// CHECK:      kernel.func @between{{.*}}schedule = #poly.schedule<"elementwise: S0 S1 S2 | i0/1*3 i1/5v | ; elementwise: S3 |
