// RUN: mlc-opt %s -p lower-kernels,count-work --verify-diagnostics --split-input-file | filecheck %s

// A combination is one operation; bytes are those of all operands and results, each of its own element.

kernel.func @reads_and_locals(%x: tensor<3x5xf64>, %n: tensor<3xi8>) -> (tensor<3x1xf64>, tensor<3xi1>) {
  %0 = graph.reduce "max"(%x) {axes = array<i64: 1>, keepdims = true} : (tensor<3x5xf64>) -> tensor<3x1xf64>
  %1 = graph.map "x0 > 3"(%n) : (tensor<3xi8>) -> tensor<3xi1>
  kernel.return %0, %1 : tensor<3x1xf64>, tensor<3xi1>
}

// CHECK:      kernel.func @reads_and_locals({{.*}}) attributes {work = #kernel.work<flops = 18, bytes = 150>} {

// -----

kernel.func @gather(%t: tensor<9x4xf32>, %ids: tensor<?xi64, #graph.dims<["n"]>>) -> tensor<?x4xf32, #graph.dims<["n", "4"]>> {
  %0 = graph.compute "x0[x1[i0], i1] + f32(i1)"(%t, %ids) {shape = ["n", "4"], reduce = []} : (tensor<9x4xf32>, tensor<?xi64, #graph.dims<["n"]>>) -> tensor<?x4xf32, #graph.dims<["n", "4"]>>
  kernel.return %0 : tensor<?x4xf32, #graph.dims<["n", "4"]>>
}

// CHECK:      kernel.func @gather({{.*}}bytes = "min(16*n, 144)+24*n">} {
