// RUN: mlc-opt %s -p lower-kernels,count-work --verify-diagnostics | filecheck %s

kernel.func @multiply_add_add_max(%x: tensor<?x5xf32, #graph.dims<["batch", "5"]>>, %w: tensor<5x7xf32>, %b: tensor<7xf32>) -> tensor<?x7xf32, #graph.dims<["batch", "7"]>> {
  %0 = graph.contract "mk,kn->mn"(%x, %w) : (tensor<?x5xf32, #graph.dims<["batch", "5"]>>, tensor<5x7xf32>) -> tensor<?x7xf32, #graph.dims<["batch", "7"]>>
  %1 = graph.map "max(x0 + x1, 0)"(%0, %b) : (tensor<?x7xf32, #graph.dims<["batch", "7"]>>, tensor<7xf32>) -> tensor<?x7xf32, #graph.dims<["batch", "7"]>>
  kernel.return %1 : tensor<?x7xf32, #graph.dims<["batch", "7"]>>
}

kernel.func @index(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = graph.compute "x0[i0, i1] * f32(i1)"(%x) {shape = ["3", "5"], reduce = []} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  kernel.return %0 : tensor<3x5xf32>
}

// CHECK:      kernel.func @multiply_add_add_max(%0: memref<?x5xf32, #graph.dims<["batch", "5"]>>, %1: memref<5x7xf32>, %2: memref<7xf32>, %3: memref<?x7xf32, #graph.dims<["batch", "7"]>>) attributes {work = #kernel.work<flops = "84*batch", bytes = "48*batch+168">} {
// CHECK:      kernel.func @index(%0: memref<3x5xf32>, %1: memref<3x5xf32>) attributes {work = #kernel.work<flops = 30, bytes = 120>} {
