// RUN: mlc-opt %s -p 'integer-products' --split-input-file | filecheck %s

// A scale of each row of the input is no factor of the sum's terms alone.
func.func @rows(%x: tensor<6x8xui8>) -> tensor<6x16xf32> {
  %w = graph.weight "w" : tensor<8x16xi8>
  %s = graph.weight "s" : tensor<6x1xf32>
  %0 = graph.map "f32(i32(x0)) * x1"(%x, %s) : (tensor<6x8xui8>, tensor<6x1xf32>) -> tensor<6x8xf32>
  %1 = graph.map "f32(i32(x0)) * 0.5"(%w) : (tensor<8x16xi8>) -> tensor<8x16xf32>
  %2 = graph.contract "mk,kn->mn"(%0, %1) : (tensor<6x8xf32>, tensor<8x16xf32>) -> tensor<6x16xf32>
  func.return %2 : tensor<6x16xf32>
}

// CHECK:      func.func @rows(%x: tensor<6x8xui8>) -> tensor<6x16xf32> {
// CHECK-NEXT: %w = graph.weight "w" : tensor<8x16xi8>
// CHECK-NEXT: %s = graph.weight "s" : tensor<6x1xf32>
// CHECK-NEXT: %0 = graph.map "f32(i32(x0)) * x1"(%x, %s) : (tensor<6x8xui8>, tensor<6x1xf32>) -> tensor<6x8xf32>
// CHECK-NEXT: %1 = graph.map "f32(i32(x0)) * 0.5"(%w) : (tensor<8x16xi8>) -> tensor<8x16xf32>
// CHECK-NEXT: %2 = graph.contract "mk,kn->mn"(%0, %1) : (tensor<6x8xf32>, tensor<8x16xf32>) -> tensor<6x16xf32>
// CHECK-NEXT: func.return %2 : tensor<6x16xf32>

// -----

// Numbers times a dequantized weight.
func.func @floats(%x: tensor<6x8xf32>) -> tensor<6x16xf32> {
  %w = graph.weight "w" : tensor<8x16xi8>
  %1 = graph.map "f32(i32(x0)) * 0.5"(%w) : (tensor<8x16xi8>) -> tensor<8x16xf32>
  %2 = graph.contract "mk,kn->mn"(%x, %1) : (tensor<6x8xf32>, tensor<8x16xf32>) -> tensor<6x16xf32>
  func.return %2 : tensor<6x16xf32>
}

// CHECK:      func.func @floats(%x: tensor<6x8xf32>) -> tensor<6x16xf32> {
// CHECK-NEXT: %w = graph.weight "w" : tensor<8x16xi8>
// CHECK-NEXT: %0 = graph.map "f32(i32(x0)) * 0.5"(%w) : (tensor<8x16xi8>) -> tensor<8x16xf32>
// CHECK-NEXT: %1 = graph.contract "mk,kn->mn"(%x, %0) : (tensor<6x8xf32>, tensor<8x16xf32>) -> tensor<6x16xf32>
// CHECK-NEXT: func.return %1 : tensor<6x16xf32>

// -----

// A weight for each of a batch; a transposed result; a column that both operands have.
func.func @terms(%x: tensor<2x6x8xui8>, %y: tensor<6x8xui8>) -> (tensor<2x6x16xi32>, tensor<16x6xi32>, tensor<6xi32>) {
  %w = graph.weight "w" : tensor<2x8x16xi8>
  %v = graph.weight "v" : tensor<8x16xi8>
  %u = graph.weight "u" : tensor<8x6xi8>
  %0 = graph.map "i32(x0)"(%x) : (tensor<2x6x8xui8>) -> tensor<2x6x8xi32>
  %1 = graph.map "i32(x0)"(%w) : (tensor<2x8x16xi8>) -> tensor<2x8x16xi32>
  %2 = graph.contract "bmk,bkn->bmn"(%0, %1) : (tensor<2x6x8xi32>, tensor<2x8x16xi32>) -> tensor<2x6x16xi32>
  %3 = graph.map "i32(x0)"(%y) : (tensor<6x8xui8>) -> tensor<6x8xi32>
  %4 = graph.map "i32(x0)"(%v) : (tensor<8x16xi8>) -> tensor<8x16xi32>
  %5 = graph.contract "mk,kn->nm"(%3, %4) : (tensor<6x8xi32>, tensor<8x16xi32>) -> tensor<16x6xi32>
  %6 = graph.map "i32(x0)"(%u) : (tensor<8x6xi8>) -> tensor<8x6xi32>
  %7 = graph.contract "mk,km->m"(%3, %6) : (tensor<6x8xi32>, tensor<8x6xi32>) -> tensor<6xi32>
  func.return %2, %5, %7 : tensor<2x6x16xi32>, tensor<16x6xi32>, tensor<6xi32>
}

// CHECK:      func.func @terms(%x: tensor<2x6x8xui8>, %y: tensor<6x8xui8>) -> (tensor<2x6x16xi32>, tensor<16x6xi32>, tensor<6xi32>) {
// CHECK-NEXT: %w = graph.weight "w" : tensor<2x8x16xi8>
// CHECK-NEXT: %v = graph.weight "v" : tensor<8x16xi8>
// CHECK-NEXT: %u = graph.weight "u" : tensor<8x6xi8>
// CHECK-NEXT: %0 = graph.map "i32(x0)"(%x) : (tensor<2x6x8xui8>) -> tensor<2x6x8xi32>
// CHECK-NEXT: %1 = graph.map "i32(x0)"(%w) : (tensor<2x8x16xi8>) -> tensor<2x8x16xi32>
// CHECK-NEXT: %2 = graph.contract "bmk,bkn->bmn"(%0, %1) : (tensor<2x6x8xi32>, tensor<2x8x16xi32>) -> tensor<2x6x16xi32>
// CHECK-NEXT: %3 = graph.map "i32(x0)"(%y) : (tensor<6x8xui8>) -> tensor<6x8xi32>
// CHECK-NEXT: %4 = graph.map "i32(x0)"(%v) : (tensor<8x16xi8>) -> tensor<8x16xi32>
// CHECK-NEXT: %5 = graph.contract "mk,kn->nm"(%3, %4) : (tensor<6x8xi32>, tensor<8x16xi32>) -> tensor<16x6xi32>
// CHECK-NEXT: %6 = graph.map "i32(x0)"(%u) : (tensor<8x6xi8>) -> tensor<8x6xi32>
// CHECK-NEXT: %7 = graph.contract "mk,km->m"(%3, %6) : (tensor<6x8xi32>, tensor<8x6xi32>) -> tensor<6xi32>
// CHECK-NEXT: func.return %2, %5, %7 : tensor<2x6x16xi32>, tensor<16x6xi32>, tensor<6xi32>
