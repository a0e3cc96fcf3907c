// RUN: mlc-opt %s -p lower-kernels --verify-diagnostics --split-input-file | filecheck %s

// Packed panels are read at quotients and remainders; a product of symbols is one parameter of all statements.

kernel.func @panels(%x: tensor<2x8xf32>, %p: tensor<2x8x4xf32>) -> tensor<2x6xf32> {
  %0 = graph.contract "mk,kn->mn"(%x, %p) {layouts = [#graph.layout<"ab">, #graph.layout<"Ba4b", padding = [2]>, #graph.layout<"ab">]} : (tensor<2x8xf32>, tensor<2x8x4xf32>) -> tensor<2x6xf32>
  kernel.return %0 : tensor<2x6xf32>
}

// CHECK:      kernel.func @panels(%0: memref<2x8xf32>, %1: memref<2x8x4xf32>, %2: memref<2x6xf32>) {
// CHECK-NEXT: poly.statement "S0" ins(%0, %1 : memref<2x8xf32>, memref<2x8x4xf32>) outs(%2 : memref<2x6xf32>) {domain = #poly.domain<"0 <= m < 2 and 0 <= n < 6 and 0 <= k < 8">, accesses = [#poly.access<"b0[m, k]">, #poly.access<"b1[n // 4, k, n % 4]">, #poly.access<"b2[m, n]">], monoid = "add", init = 0.000000e+00 : f32} do {

// -----

kernel.func @two_statements(%x: tensor<?x5xf32, #graph.dims<["a*b", "5"]>>, %y: tensor<?xf32, #graph.dims<["a*b"]>>) -> tensor<?xf32, #graph.dims<["2*a*b"]>> {
  %0 = graph.concat(%y, %y) {axis = 0 : i64} : (tensor<?xf32, #graph.dims<["a*b"]>>, tensor<?xf32, #graph.dims<["a*b"]>>) -> tensor<?xf32, #graph.dims<["2*a*b"]>>
  kernel.return %0 : tensor<?xf32, #graph.dims<["2*a*b"]>>
}

// CHECK:      kernel.func @two_statements({{.*}}) {
// CHECK-NEXT: poly.statement "S0" {{.*}} {domain = #poly.domain<"0 <= i0 < a*b">, accesses = [#poly.access<"b1[i0]">, #poly.access<"b2[i0]">]} do {
// CHECK:      poly.statement "S1" {{.*}} {domain = #poly.domain<"0 <= i0 < a*b">, accesses = [#poly.access<"b1[i0]">, #poly.access<"b2[a*b + i0]">]} do {
