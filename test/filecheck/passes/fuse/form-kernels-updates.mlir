// RUN: mlc-opt %s -p form-kernels --split-input-file | filecheck %s

// An update in place runs right after its gradient, before the next product.

func.func @main(%p: tensor<256x128xf32>, %x: tensor<64x128xf32>, %y: tensor<64x256xf32>) -> (tensor<256x128xf32> {graph.alias = 0 : i64}, tensor<64x128xf32>) {
  %g = graph.contract "mk,mn->kn"(%x, %y) {graph.node = ["gradient"]} : (tensor<64x128xf32>, tensor<64x256xf32>) -> tensor<128x256xf32>
  %z = graph.contract "mk,nk->mn"(%y, %g) {graph.node = ["next"]} : (tensor<64x256xf32>, tensor<128x256xf32>) -> tensor<64x128xf32>
  %t = graph.transpose(%g) {graph.node = ["update"], perm = array<i64: 1, 0>} : (tensor<128x256xf32>) -> tensor<256x128xf32>
  %new = graph.map "x0 - x1"(%p, %t) {graph.node = ["update"]} : (tensor<256x128xf32>, tensor<256x128xf32>) -> tensor<256x128xf32>
  func.return %new, %z : tensor<256x128xf32>, tensor<64x128xf32>
}

// CHECK:      func.func @main
// CHECK-NEXT: %g = kernel.call @contract_0(%x, %y)
// CHECK-NEXT: %new = kernel.call @transpose_1(%g, %p)
// CHECK-NEXT: %z = kernel.call @contract_2(%y, %g)
// CHECK-NEXT: func.return %new, %z

// -----

// What is no update keeps its place.

func.func @main(%p: tensor<256x128xf32>, %x: tensor<64x128xf32>, %y: tensor<64x256xf32>) -> (tensor<256x128xf32>, tensor<64x128xf32>) {
  %g = graph.contract "mk,mn->kn"(%x, %y) {graph.node = ["gradient"]} : (tensor<64x128xf32>, tensor<64x256xf32>) -> tensor<128x256xf32>
  %z = graph.contract "mk,nk->mn"(%y, %g) {graph.node = ["next"]} : (tensor<64x256xf32>, tensor<128x256xf32>) -> tensor<64x128xf32>
  %t = graph.transpose(%g) {graph.node = ["update"], perm = array<i64: 1, 0>} : (tensor<128x256xf32>) -> tensor<256x128xf32>
  %new = graph.map "x0 - x1"(%p, %t) {graph.node = ["update"]} : (tensor<256x128xf32>, tensor<256x128xf32>) -> tensor<256x128xf32>
  func.return %new, %z : tensor<256x128xf32>, tensor<64x128xf32>
}

// CHECK:      func.func @main
// CHECK-NEXT: %g = kernel.call @contract_0(%x, %y)
// CHECK-NEXT: %z = kernel.call @contract_1(%y, %g)
// CHECK-NEXT: %new = kernel.call @transpose_2(%g, %p)
// CHECK-NEXT: func.return %new, %z

// -----

// Nor does one that frees little, which would cost a barrier more.

func.func @main(%p: tensor<16x8xf32>, %x: tensor<64x8xf32>, %y: tensor<64x16xf32>) -> (tensor<16x8xf32> {graph.alias = 0 : i64}, tensor<64x8xf32>) {
  %g = graph.contract "mk,mn->kn"(%x, %y) {graph.node = ["gradient"]} : (tensor<64x8xf32>, tensor<64x16xf32>) -> tensor<8x16xf32>
  %z = graph.contract "mk,nk->mn"(%y, %g) {graph.node = ["next"]} : (tensor<64x16xf32>, tensor<8x16xf32>) -> tensor<64x8xf32>
  %t = graph.transpose(%g) {graph.node = ["update"], perm = array<i64: 1, 0>} : (tensor<8x16xf32>) -> tensor<16x8xf32>
  %new = graph.map "x0 - x1"(%p, %t) {graph.node = ["update"]} : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
  func.return %new, %z : tensor<16x8xf32>, tensor<64x8xf32>
}

// CHECK:      func.func @main
// CHECK-NEXT: %g = kernel.call @contract_0(%x, %y)
// CHECK-NEXT: %z = kernel.call @contract_1(%y, %g)
// CHECK-NEXT: %new = kernel.call @transpose_2(%g, %p)
// CHECK-NEXT: func.return %new, %z
