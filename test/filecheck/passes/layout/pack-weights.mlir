// RUN: mlc-opt %s --for-target x86-64-v4:vector_bits=64 -p 'pack-weights,decompose-pack' --split-input-file | filecheck %s

func.func @main(%x: tensor<?x3x5xf32, #graph.dims<["n", "3", "5"]>>) -> tensor<?x3x10xf32, #graph.dims<["n", "3", "10"]>> {
  %w = graph.weight "w" : tensor<10x5xf32>
  %0 = graph.contract "bmk,nk->bmn"(%x, %w) {graph.node = ["/matmul"]} : (tensor<?x3x5xf32, #graph.dims<["n", "3", "5"]>>, tensor<10x5xf32>) -> tensor<?x3x10xf32, #graph.dims<["n", "3", "10"]>>
  func.return %0 : tensor<?x3x10xf32, #graph.dims<["n", "3", "10"]>>
}

// CHECK:      func.func @main(%x: tensor<?x3x5xf32, #graph.dims<["n", "3", "5"]>>) -> tensor<?x3x10xf32, #graph.dims<["n", "3", "10"]>> {
// CHECK-NEXT: %w = graph.weight "w" : tensor<10x5xf32>
// CHECK-NEXT: %0 = graph.transpose(%w) {graph.node = ["/matmul"], perm = array<i64: 1, 0>} : (tensor<10x5xf32>) -> tensor<5x10xf32>
// CHECK-NEXT: %1 = graph.pad(%0) {graph.node = ["/matmul"], low = ["0", "0"], high = ["0", "2"], interior = array<i64: 0, 0>, value = "0"} : (tensor<5x10xf32>) -> tensor<5x12xf32>
// CHECK-NEXT: %2 = graph.reshape(%1) {graph.node = ["/matmul"], shape = ["5", "3", "4"]} : (tensor<5x12xf32>) -> tensor<5x3x4xf32>
// CHECK-NEXT: %3 = graph.transpose(%2) {graph.node = ["/matmul"], perm = array<i64: 1, 0, 2>} : (tensor<5x3x4xf32>) -> tensor<3x5x4xf32>
// CHECK-NEXT: %4 = graph.contract "bmk,kn->bmn"(%x, %3) {graph.node = ["/matmul"], layouts = [#graph.layout<"abc">, #graph.layout<"Ba4b", padding = [2]>, #graph.layout<"abc">]} : (tensor<?x3x5xf32, #graph.dims<["n", "3", "5"]>>, tensor<3x5x4xf32>) -> tensor<?x3x10xf32, #graph.dims<["n", "3", "10"]>>
// CHECK-NEXT: func.return %4 : tensor<?x3x10xf32, #graph.dims<["n", "3", "10"]>>

// -----

func.func @few_columns(%x: tensor<3x5xf32>) -> tensor<3x7xf32> {
  %w = graph.weight "w" : tensor<5x7xf32>
  %0 = graph.contract "mk,kn->mn"(%x, %w) : (tensor<3x5xf32>, tensor<5x7xf32>) -> tensor<3x7xf32>
  func.return %0 : tensor<3x7xf32>
}

// CHECK:      func.func @few_columns(%x: tensor<3x5xf32>) -> tensor<3x7xf32> {
// CHECK-NEXT: %w = graph.weight "w" : tensor<5x7xf32>
// CHECK-NEXT: %0 = graph.contract "mk,kn->mn"(%x, %w) : (tensor<3x5xf32>, tensor<5x7xf32>) -> tensor<3x7xf32>
// CHECK-NEXT: func.return %0 : tensor<3x7xf32>
