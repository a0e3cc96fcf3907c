// RUN: mlc-opt %s --for-target x86-64-v4:vector_bits=256 -p 'fuse-maps,form-kernels,lower-kernels,raise-to-poly,choose-schedule' | filecheck %s

// A window of gathered elements has few rows: they share little, and each lane may be a load. The second
// reads where it says itself.

// CHECK: schedule = #poly.schedule<"window: S0 | i0 i1/4*7 i2/16v | r0">
// CHECK: schedule = #poly.schedule<"window: S0 | i0 i1/6*4+4*1 i2/16v | r0">
func.func @main(%x: tensor<3x40x64xf32>, %at: tensor<4x28xi64>, %w: tensor<4x28xf32>) -> (tensor<3x28x64xf32>, tensor<3x28x64xf32>) {
  %y = graph.compute "x0[i0, x1[r0, i1], i2] * x2[r0, i1]"(%x, %at, %w) {shape = ["3", "28", "64"], reduce = ["4"], monoid = "add"} : (tensor<3x40x64xf32>, tensor<4x28xi64>, tensor<4x28xf32>) -> tensor<3x28x64xf32>
  %z = graph.compute "x0[i0, i1 + 3 * r0, i2] * x1[r0, i1] + 1"(%x, %w) {shape = ["3", "28", "64"], reduce = ["4"], monoid = "add"} : (tensor<3x40x64xf32>, tensor<4x28xf32>) -> tensor<3x28x64xf32>
  return %y, %z : tensor<3x28x64xf32>, tensor<3x28x64xf32>
}
