// RUN: mlc-opt %s -p 'interleave-gates,decompose-pack' --split-input-file | filecheck %s
// RUN: mlc-opt %s -p interleave-gates,form-kernels --split-input-file | filecheck %s --check-prefix KERNELS
// RUN: mlc-opt %s --for-target x86-64-v4:vector_bits=64,vector_registers=16 -p 'interleave-gates,form-kernels,lower-kernels,choose-schedule' --split-input-file | filecheck %s --check-prefix SCHEDULE

// The product of a row and two slices of 8 columns: panels of 4 hold 2 columns of each. The sums read their panel.

func.func @step(%h: tensor<1x3xf32>, %x: tensor<1x16xf32>, %c: tensor<1x8xf32>) -> (tensor<1x8xf32>, tensor<1x8xf32>) {
  %w = graph.weight "w" : tensor<4x3x4xf32>
  %q = graph.contract "mk,kn->mn"(%h, %w) {layouts = [#graph.layout<"ab">, #graph.layout<"Ba4b">, #graph.layout<"ab">]} : (tensor<1x3xf32>, tensor<4x3x4xf32>) -> tensor<1x16xf32>
  %z = graph.map "x0 + x1"(%x, %q) : (tensor<1x16xf32>, tensor<1x16xf32>) -> tensor<1x16xf32>
  %a = graph.slice(%z) {starts = ["0", "0"], sizes = ["1", "8"], steps = array<i64: 1, 1>} : (tensor<1x16xf32>) -> tensor<1x8xf32>
  %b = graph.slice(%z) {starts = ["0", "8"], sizes = ["1", "8"], steps = array<i64: 1, 1>} : (tensor<1x16xf32>) -> tensor<1x8xf32>
  %0 = graph.map "x0 * tanh(x1)"(%c, %b) : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
  %1 = graph.map "x0 - x1"(%a, %0) : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
  func.return %0, %1 : tensor<1x8xf32>, tensor<1x8xf32>
}

// CHECK:      func.func @step
// CHECK:      [[W:%\w+]] = graph.transpose({{%\w+}}) {perm = array<i64: 2, 0, 1, 3>} : (tensor<3x2x4x2xf32>) -> tensor<4x3x2x2xf32>
// CHECK-NEXT: [[Q:%\w+]] = graph.contract "mk,pkgl->pgml"(%h, [[W]]) : (tensor<1x3xf32>, tensor<4x3x2x2xf32>) -> tensor<4x2x1x2xf32>
// CHECK-NEXT: [[C:%\w+]] = graph.compute "(x1[0, ((0 + (2 * i0)) + i1)] * tanh((x2[0, ((8 + (2 * i0)) + i1)] + x0[i0, 1, 0, i1])))"([[Q]], %c, %x) {shape = ["4", "2"], reduce = []}
// CHECK-NEXT: [[C2:%\w+]] = graph.reshape([[C]]) {shape = ["1", "8"]}
// CHECK-NEXT: [[D:%\w+]] = graph.compute "((x1[0, ((0 + (2 * i0)) + i1)] + x0[i0, 0, 0, i1]) - x2[i0, i1])"([[Q]], %x, [[C]]) {shape = ["4", "2"], reduce = []}
// CHECK-NEXT: [[D2:%\w+]] = graph.reshape([[D]]) {shape = ["1", "8"]}
// CHECK-NEXT: func.return [[C2]], [[D2]]

// KERNELS:          kernel.func @contract_
// KERNELS:          graph.contract
// KERNELS-COUNT-2:  graph.compute
// KERNELS:          kernel.return

// SCHEDULE: schedule = #poly.schedule<"contraction: S0 | p@4 p g/2*1 l/2v | k & elementwise: S1 S2 | i0@4 i0 i1/2v | ">

// -----

// A sum of products that something else reads as well stays, and its elementwise operator has a kernel of its own.

func.func @read(%h: tensor<1x3xf32>, %x: tensor<1x16xf32>) -> (tensor<1x8xf32>, tensor<1x16xf32>) {
  %w = graph.weight "w" : tensor<4x3x4xf32>
  %q = graph.contract "mk,kn->mn"(%h, %w) {layouts = [#graph.layout<"ab">, #graph.layout<"Ba4b">, #graph.layout<"ab">]} : (tensor<1x3xf32>, tensor<4x3x4xf32>) -> tensor<1x16xf32>
  %z = graph.map "x0 + x1"(%x, %q) : (tensor<1x16xf32>, tensor<1x16xf32>) -> tensor<1x16xf32>
  %a = graph.slice(%z) {starts = ["0", "0"], sizes = ["1", "8"], steps = array<i64: 1, 1>} : (tensor<1x16xf32>) -> tensor<1x8xf32>
  %0 = graph.map "tanh(x0)"(%a) : (tensor<1x8xf32>) -> tensor<1x8xf32>
  func.return %0, %z : tensor<1x8xf32>, tensor<1x16xf32>
}

// CHECK:     func.func @read
// CHECK-NOT: graph.compute
// CHECK:     graph.map "tanh(x0)"
// KERNELS:   kernel.func @map_

// -----

// Two panels are too few.

func.func @few(%h: tensor<1x3xf32>) -> tensor<1x4xf32> {
  %w = graph.weight "w" : tensor<2x3x4xf32>
  %q = graph.contract "mk,kn->mn"(%h, %w) {layouts = [#graph.layout<"ab">, #graph.layout<"Ba4b">, #graph.layout<"ab">]} : (tensor<1x3xf32>, tensor<2x3x4xf32>) -> tensor<1x8xf32>
  %z = graph.map "tanh(x0)"(%q) : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %a = graph.slice(%z) {starts = ["0", "0"], sizes = ["1", "4"], steps = array<i64: 1, 1>} : (tensor<1x8xf32>) -> tensor<1x4xf32>
  %b = graph.slice(%z) {starts = ["0", "4"], sizes = ["1", "4"], steps = array<i64: 1, 1>} : (tensor<1x8xf32>) -> tensor<1x4xf32>
  %0 = graph.map "x0 * x1"(%a, %b) : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  func.return %0 : tensor<1x4xf32>
}

// CHECK:     func.func @few
// CHECK-NOT: graph.compute
// CHECK:     graph.map "x0 * x1"

// -----

// What reads the one number that a product gives has a kernel of its own.

func.func @number(%a: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<4xf32> {
  %0 = graph.contract "k,k->"(%a, %b) : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %1 = graph.compute "x0[()] * f32(i0)"(%0) {shape = ["4"], reduce = []} : (tensor<f32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

// CHECK:        func.func @number
// CHECK-NOT:    graph.reshape
// KERNELS:      func.func @number
// KERNELS:      kernel.call @contract_
// KERNELS-NEXT: kernel.call @compute_

// -----

// So has what reads a product with one number.

func.func @scaled(%a: tensor<3xf32>, %b: tensor<f32>) -> tensor<3xf32> {
  %0 = graph.contract "k,->k"(%a, %b) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %1 = graph.compute "x0[i0] * f32(i0)"(%0) {shape = ["3"], reduce = []} : (tensor<3xf32>) -> tensor<3xf32>
  func.return %1 : tensor<3xf32>
}

// KERNELS:      func.func @scaled
// KERNELS:      kernel.call @contract_
// KERNELS-NEXT: kernel.call @compute_

// -----

// Three parts do not divide a panel of 4 columns: panels of 48 have a vector of 16 of each. The last part is read later only.

func.func @three(%h: tensor<1x3xf32>, %m: tensor<64x64xf32>) -> tensor<1x64xf32> {
  %w = graph.weight "w" : tensor<48x3x4xf32>
  %q = graph.contract "mk,kn->mn"(%h, %w) {layouts = [#graph.layout<"ab">, #graph.layout<"Ba4b">, #graph.layout<"ab">]} : (tensor<1x3xf32>, tensor<48x3x4xf32>) -> tensor<1x192xf32>
  %a = graph.slice(%q) {starts = ["0", "0"], sizes = ["1", "64"], steps = array<i64: 1, 1>} : (tensor<1x192xf32>) -> tensor<1x64xf32>
  %b = graph.slice(%q) {starts = ["0", "64"], sizes = ["1", "64"], steps = array<i64: 1, 1>} : (tensor<1x192xf32>) -> tensor<1x64xf32>
  %c = graph.slice(%q) {starts = ["0", "128"], sizes = ["1", "64"], steps = array<i64: 1, 1>} : (tensor<1x192xf32>) -> tensor<1x64xf32>
  %0 = graph.map "x0 * tanh(x1)"(%a, %b) : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %1 = graph.contract "mk,kn->mn"(%0, %m) : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
  %2 = graph.map "x0 + x1"(%c, %1) : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  func.return %2 : tensor<1x64xf32>
}

// CHECK:      func.func @three
// CHECK:      [[W:%\w+]] = graph.transpose({{%\w+}}) {perm = array<i64: 2, 0, 1, 3>} : (tensor<3x3x4x16xf32>) -> tensor<4x3x3x16xf32>
// CHECK-NEXT: [[Q:%\w+]] = graph.contract "mk,pkgl->pgml"(%h, [[W]]) : (tensor<1x3xf32>, tensor<4x3x3x16xf32>) -> tensor<4x3x1x16xf32>
// CHECK-NEXT: [[A:%\w+]] = graph.compute "(x0[i0, 0, 0, i1] * tanh(x0[i0, 1, 0, i1]))"([[Q]]) {shape = ["4", "16"], reduce = []}
// CHECK-NEXT: [[A2:%\w+]] = graph.reshape([[A]]) {shape = ["1", "64"]}
// CHECK-NEXT: [[C:%\w+]] = graph.compute "x0[i0, 2, 0, i1]"([[Q]]) {shape = ["4", "16"], reduce = []}
// CHECK-NEXT: [[C2:%\w+]] = graph.reshape([[C]]) {shape = ["1", "64"]}
// CHECK-NEXT: [[M:%\w+]] = graph.contract "mk,kn->mn"([[A2]], %m)
// CHECK-NEXT: graph.map "x0 + x1"([[C2]], [[M]])
