// RUN: mlc-opt %s --for-target x86-64-v4 -p 'form-kernels,lower-kernels,collapse-iterators,choose-schedule' | filecheck %s

// Rows of 3 fill no vector of 16 lanes: with the two dimensions before they are one row. Rows of 16 stay, a broadcast along
// the rows stays, and so does what would leave no iterator for the threads.

// CHECK-LABEL: kernel.func @map_0
// CHECK-SAME: schedule = #poly.schedule<"elementwise: S0 | i0 i1_i2_i3/64v | ">
// CHECK: domain = #poly.domain<"0 <= i0 < 64 and 0 <= i1_i2_i3 < 576">
// CHECK-LABEL: kernel.func @map_1
// CHECK-SAME: elementwise: S0 | i0 i1 i2/3*1 i3/16v
// CHECK-LABEL: kernel.func @map_2
// CHECK-SAME: elementwise: S0 | i0 i1 i2/3*1 i3/3v
// CHECK-LABEL: kernel.func @map_3
// CHECK-SAME: elementwise: S0 | i0 i1/4*50 i2/3v
func.func @main(%g: tensor<64x64x3x3xf32>, %m: tensor<64x64x3x3xf32>, %s: tensor<f32>, %wide: tensor<64x64x3x16xf32>, %rows: tensor<64x64x3x1xf32>, %batch: tensor<?x200x3xf32, #graph.dims<["n", "200", "3"]>>) -> (tensor<64x64x3x3xf32>, tensor<64x64x3x16xf32>, tensor<64x64x3x3xf32>, tensor<?x200x3xf32, #graph.dims<["n", "200", "3"]>>) {
  %0 = graph.map "x0 * x2 + x1"(%g, %m, %s) : (tensor<64x64x3x3xf32>, tensor<64x64x3x3xf32>, tensor<f32>) -> tensor<64x64x3x3xf32>
  %1 = graph.map "x0 * 2"(%wide) : (tensor<64x64x3x16xf32>) -> tensor<64x64x3x16xf32>
  %2 = graph.map "exp(x0) * x1"(%g, %rows) : (tensor<64x64x3x3xf32>, tensor<64x64x3x1xf32>) -> tensor<64x64x3x3xf32>
  %3 = graph.map "x0 + 1"(%batch) : (tensor<?x200x3xf32, #graph.dims<["n", "200", "3"]>>) -> tensor<?x200x3xf32, #graph.dims<["n", "200", "3"]>>
  func.return %0, %1, %2, %3 : tensor<64x64x3x3xf32>, tensor<64x64x3x16xf32>, tensor<64x64x3x3xf32>, tensor<?x200x3xf32, #graph.dims<["n", "200", "3"]>>
}
