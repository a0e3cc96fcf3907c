// RUN: mlc-opt %s -p fold-constants,deduplicate-kernels --verify-diagnostics | filecheck %s

// Kernels that read different masks stay apart; those of equal masks are one.

func.func @main(%s: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %m = graph.compute "i1 > i0"() {shape = ["16", "16"], reduce = []} : () -> tensor<16x16xi1>
  %n = graph.compute "i1 > i0 + 1"() {shape = ["16", "16"], reduce = []} : () -> tensor<16x16xi1>
  %o = graph.compute "i0 < i1"() {shape = ["16", "16"], reduce = []} : () -> tensor<16x16xi1>
  %x = kernel.call @a(%s, %m) : (tensor<16x16xf32>, tensor<16x16xi1>) -> tensor<16x16xf32>
  %y = kernel.call @b(%x, %n) : (tensor<16x16xf32>, tensor<16x16xi1>) -> tensor<16x16xf32>
  %z = kernel.call @c(%y, %o) : (tensor<16x16xf32>, tensor<16x16xi1>) -> tensor<16x16xf32>
  func.return %z : tensor<16x16xf32>
}
kernel.func @a(%s: tensor<16x16xf32>, %m: tensor<16x16xi1>) -> tensor<16x16xf32> {
  %0 = graph.map "where(x1, x0, f32(1))"(%s, %m) : (tensor<16x16xf32>, tensor<16x16xi1>) -> tensor<16x16xf32>
  kernel.return %0 : tensor<16x16xf32>
}
kernel.func @b(%s: tensor<16x16xf32>, %m: tensor<16x16xi1>) -> tensor<16x16xf32> {
  %0 = graph.map "where(x1, x0, f32(1))"(%s, %m) : (tensor<16x16xf32>, tensor<16x16xi1>) -> tensor<16x16xf32>
  kernel.return %0 : tensor<16x16xf32>
}
kernel.func @c(%s: tensor<16x16xf32>, %m: tensor<16x16xi1>) -> tensor<16x16xf32> {
  %0 = graph.map "where(x1, x0, f32(1))"(%s, %m) : (tensor<16x16xf32>, tensor<16x16xi1>) -> tensor<16x16xf32>
  kernel.return %0 : tensor<16x16xf32>
}

// CHECK:      kernel.call @a(%s, %{{.*}})
// CHECK-NEXT: kernel.call @b(%x, %{{.*}})
// CHECK-NEXT: kernel.call @a(%y, %{{.*}})
// CHECK:      kernel.func @a(
// CHECK:      kernel.func @b(
// CHECK-NOT:  kernel.func @c(
