// RUN: mlc-opt %s -p 'lower-kernels{float8=true}' | filecheck %s

// A target that converts floats of 8 bits does it by one operation; formats without a negative zero are decoded by integer
// operations.
// CHECK-LABEL: kernel.func @widened
// CHECK:      %[[A:.*]] = builtin.unrealized_conversion_cast %{{.*}} : f8E4M3FN to i8
// CHECK-NEXT: %[[X:.*]] = kernel.lanewise "extf.f8e4m3fn"(%[[A]]) {of = {}} : (i8) -> f32
// CHECK-NEXT: %[[B:.*]] = builtin.unrealized_conversion_cast %{{.*}} : f8E5M2 to i8
// CHECK-NEXT: %[[Y:.*]] = kernel.lanewise "extf.f8e5m2"(%[[B]]) {of = {}} : (i8) -> f32
// CHECK-NEXT: arith.mulf %[[X]], %[[Y]] : f32
kernel.func @widened(%x: tensor<3xf8E4M3FN>, %y: tensor<3xf8E5M2>) -> tensor<3xf32> {
  %0 = graph.map "f32(x0) * f32(x1)"(%x, %y) : (tensor<3xf8E4M3FN>, tensor<3xf8E5M2>) -> tensor<3xf32>
  kernel.return %0 : tensor<3xf32>
}

// CHECK-LABEL: kernel.func @without_negative_zero
// CHECK-NOT:  kernel.lanewise
// CHECK:      arith.extui
kernel.func @without_negative_zero(%x: tensor<3xf8E4M3FNUZ>) -> tensor<3xf32> {
  %0 = graph.map "f32(x0)"(%x) : (tensor<3xf8E4M3FNUZ>) -> tensor<3xf32>
  kernel.return %0 : tensor<3xf32>
}

// A factor of 8 bits that a kernel computes is written, and read as it is.
// CHECK-LABEL: kernel.func @factor
// CHECK:      kernel.local : memref<4x8xf8E4M3FN>
kernel.func @factor(%x: tensor<4x8xf32>, %w: tensor<8x6xf8E4M3FN>) -> tensor<4x6xf32> {
  %0 = graph.map "f8e4m3fn(x0)"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf8E4M3FN>
  %1 = graph.contract "mk,kn->mn"(%0, %w) {product = "f32(x0) * f32(x1)"} : (tensor<4x8xf8E4M3FN>, tensor<8x6xf8E4M3FN>) -> tensor<4x6xf32>
  kernel.return %1 : tensor<4x6xf32>
}
