// RUN: mlc-opt %s --for-target x86-64-v3 -p pack-operands | filecheck %s

// A derivative by weights: the rows of both operands are contiguous, and both are packed.

func.func @derivative(%x: tensor<600x258xf32>, %g: tensor<600x16xf32>) -> tensor<258x16xf32> {
  %0 = graph.contract "km,kn->mn"(%x, %g) : (tensor<600x258xf32>, tensor<600x16xf32>) -> tensor<258x16xf32>
  func.return %0 : tensor<258x16xf32>
}

// CHECK:      func.func @derivative(%x: tensor<600x258xf32>, %g: tensor<600x16xf32>) -> tensor<258x16xf32> {
// CHECK-NEXT: %0 = graph.pack(%g) {layout = #graph.layout<"Ba16b">} : (tensor<600x16xf32>) -> tensor<1x600x16xf32>
// CHECK-NEXT: %1 = graph.pack(%x) {layout = #graph.layout<"Ba6b">} : (tensor<600x258xf32>) -> tensor<43x600x6xf32>
// CHECK-NEXT: %2 = graph.contract "km,kn->mn"(%1, %0) {layouts = [#graph.layout<"Ba6b">, #graph.layout<"Ba16b">, #graph.layout<"ab">]} : (tensor<43x600x6xf32>, tensor<1x600x16xf32>) -> tensor<258x16xf32>
// CHECK-NEXT: func.return %2 : tensor<258x16xf32>
