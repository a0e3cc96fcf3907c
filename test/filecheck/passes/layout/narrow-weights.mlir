// RUN: mlc-opt %s --for-target x86-64-v3:l3=16K -p 'narrow-weights{rounds=true}' | filecheck %s

func.func @main(%x: tensor<1x64xf32>) -> (tensor<1x96xf32>, tensor<1x96xf32>) {
  %v = graph.weight "v" : tensor<64x96xf16>
  %w = graph.weight "w" : tensor<96x64xf32>
  %0 = graph.map "f32(x0)"(%v) : (tensor<64x96xf16>) -> tensor<64x96xf32>
  %1 = graph.contract "mk,kn->mn"(%x, %0) : (tensor<1x64xf32>, tensor<64x96xf32>) -> tensor<1x96xf32>
  %2 = graph.contract "mk,nk->mn"(%x, %w) : (tensor<1x64xf32>, tensor<96x64xf32>) -> tensor<1x96xf32>
  func.return %1, %2 : tensor<1x96xf32>, tensor<1x96xf32>
}

// CHECK:      func.func @main(%x: tensor<1x64xf32>) -> (tensor<1x96xf32>, tensor<1x96xf32>) {
// CHECK-NEXT: %v = graph.weight "v" : tensor<64x96xf16>
// CHECK-NEXT: %w = graph.weight "w" : tensor<96x64xf32>
// CHECK-NEXT: %0 = graph.contract "mk,kn->mn"(%x, %v) {product = "x0 * f32(x1)"} : (tensor<1x64xf32>, tensor<64x96xf16>) -> tensor<1x96xf32>
// CHECK-NEXT: %1 = graph.map "bf16(x0)"(%w) : (tensor<96x64xf32>) -> tensor<96x64xbf16>
// CHECK-NEXT: %2 = graph.contract "mk,nk->mn"(%x, %1) {product = "x0 * f32(x1)"} : (tensor<1x64xf32>, tensor<96x64xbf16>) -> tensor<1x96xf32>
// CHECK-NEXT: func.return %0, %2 : tensor<1x96xf32>, tensor<1x96xf32>
