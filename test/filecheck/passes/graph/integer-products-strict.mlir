// RUN: mlc-opt %s -p 'integer-products{numerics=strict}' | filecheck %s

// Strict numerics leave sums of scaled numbers, and multiply whole ones as bytes.
func.func @main(%x: tensor<6x8xui8>) -> (tensor<6x16xf32>, tensor<6x16xi32>) {
  %w = graph.weight "w" : tensor<8x16xi8>
  %0 = graph.map "i32(x0)"(%x) : (tensor<6x8xui8>) -> tensor<6x8xi32>
  %1 = graph.map "i32(x0)"(%w) : (tensor<8x16xi8>) -> tensor<8x16xi32>
  %2 = graph.contract "mk,kn->mn"(%0, %1) : (tensor<6x8xi32>, tensor<8x16xi32>) -> tensor<6x16xi32>
  %3 = graph.map "f32(x0) * 0.5"(%0) : (tensor<6x8xi32>) -> tensor<6x8xf32>
  %4 = graph.map "f32(x0) * 0.25"(%1) : (tensor<8x16xi32>) -> tensor<8x16xf32>
  %5 = graph.contract "mk,kn->mn"(%3, %4) : (tensor<6x8xf32>, tensor<8x16xf32>) -> tensor<6x16xf32>
  func.return %5, %2 : tensor<6x16xf32>, tensor<6x16xi32>
}

// CHECK:      func.func @main(%x: tensor<6x8xui8>) -> (tensor<6x16xf32>, tensor<6x16xi32>) {
// CHECK-NEXT: %w = graph.weight "w" : tensor<8x16xi8>
// CHECK-NEXT: %0 = graph.map "i32(x0)"(%x) : (tensor<6x8xui8>) -> tensor<6x8xi32>
// CHECK-NEXT: %1 = graph.map "i32(x0)"(%w) : (tensor<8x16xi8>) -> tensor<8x16xi32>
// CHECK-NEXT: %2 = graph.contract "mk,kn->mn"(%x, %w) {product = "i32(x0) * i32(x1)"} : (tensor<6x8xui8>, tensor<8x16xi8>) -> tensor<6x16xi32>
// CHECK-NEXT: %3 = graph.map "f32(x0) * 0.5"(%0) : (tensor<6x8xi32>) -> tensor<6x8xf32>
// CHECK-NEXT: %4 = graph.map "f32(x0) * 0.25"(%1) : (tensor<8x16xi32>) -> tensor<8x16xf32>
// CHECK-NEXT: %5 = graph.contract "mk,kn->mn"(%3, %4) : (tensor<6x8xf32>, tensor<8x16xf32>) -> tensor<6x16xf32>
// CHECK-NEXT: func.return %5, %2 : tensor<6x16xf32>, tensor<6x16xi32>
