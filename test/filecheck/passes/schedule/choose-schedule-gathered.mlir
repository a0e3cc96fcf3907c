// RUN: mlc-opt %s --for-target x86-64-v4:vector_bits=256 -p 'fuse-maps,form-kernels,lower-kernels,choose-schedule' | filecheck %s

// A window of gathered elements has few rows: they share little, and each lane may be a load. The second
// reads where it says itself.

// CHECK: schedule = #poly.schedule<"window: S0 | i0 i1/4*7 i2/16v | r0">
// CHECK: schedule = #poly.schedule<"window: S0 | i0 i1/6*4+4*1 i2/16v | r0">
func.func @main(%x: tensor<3x40x64xf32>, %at: tensor<4x28xi64>, %w: tensor<4x28xf32>) -> (tensor<3x28x64xf32>, tensor<3x28x64xf32>) {
  %y = graph.compute "x0[i0, x1[r0, i1], i2] * x2[r0, i1]"(%x, %at, %w) {shape = ["3", "28", "64"], reduce = ["4"], monoid = "add"} : (tensor<3x40x64xf32>, tensor<4x28xi64>, tensor<4x28xf32>) -> tensor<3x28x64xf32>
  %z = graph.compute "x0[i0, i1 + 3 * r0, i2] * x1[r0, i1] + 1"(%x, %w) {shape = ["3", "28", "64"], reduce = ["4"], monoid = "add"} : (tensor<3x40x64xf32>, tensor<4x28xf32>) -> tensor<3x28x64xf32>
  return %y, %z : tensor<3x28x64xf32>, tensor<3x28x64xf32>
}

// A long sum for each channel and tap (the derivative of a depthwise convolution by its filters): all taps are in one
// register tile, and the sum is cut.

// CHECK: schedule = #poly.schedule<"window: S0 | i0 i1/3*1 i2/5*1 i3/8v | r0/1s r1 r2">
// CHECK: schedule = #poly.schedule<"window: S0 | i0 i1/3*3 i2/7*1 i3/8v | r0 r1 r2/128s">
func.func @taps(%x: tensor<4x2x22x204x8xf32>, %y: tensor<4x2x20x8x8xf32>, %z: tensor<4x2x2x198x8xf32>) -> (tensor<2x3x5x8xf32>, tensor<2x9x7x8xf32>) {
  %0 = graph.compute "x0[r0, i0, i1 + r1, i2 + r2, i3] * x1[r0, i0, r1, r2, i3]"(%x, %y) {shape = ["2", "3", "5", "8"], reduce = ["4", "20", "8"], monoid = "add"} : (tensor<4x2x22x204x8xf32>, tensor<4x2x20x8x8xf32>) -> tensor<2x3x5x8xf32>
  %1 = graph.compute "x0[r0, i0, i1 + r1, i2 + r2, i3] * x1[r0, i0, r1, r2, i3]"(%x, %z) {shape = ["2", "9", "7", "8"], reduce = ["4", "2", "198"], monoid = "add"} : (tensor<4x2x22x204x8xf32>, tensor<4x2x2x198x8xf32>) -> tensor<2x9x7x8xf32>
  return %0, %1 : tensor<2x3x5x8xf32>, tensor<2x9x7x8xf32>
}
