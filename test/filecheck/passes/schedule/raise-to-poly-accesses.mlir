// RUN: mlc-opt %s -p lower-kernels,raise-to-poly --verify-diagnostics --split-input-file | filecheck %s

// Packed panels are read at quotients and remainders; a product of symbols is one parameter of all statements.

kernel.func @panels(%x: tensor<2x8xf32>, %p: tensor<2x8x4xf32>) -> tensor<2x6xf32> {
  %0 = graph.contract "mk,kn->mn"(%x, %p) {columns = 6 : i64, block = 4 : i64} : (tensor<2x8xf32>, tensor<2x8x4xf32>) -> tensor<2x6xf32>
  kernel.return %0 : tensor<2x6xf32>
}

// CHECK:      kernel.func @panels(%0: memref<2x8xf32>, %1: memref<2x8x4xf32>, %2: memref<2x6xf32>) {
// CHECK-NEXT: poly.statement "S0" ins(%0, %1 : memref<2x8xf32>, memref<2x8x4xf32>) outs(%2 : memref<2x6xf32>) {domain = "{ S0[m, n, k] : 0 <= m < 2 and 0 <= n < 6 and 0 <= k < 8 }", accesses = ["{ S0[m, n, k] -> b0[m, k] }", "{ S0[m, n, k] -> b1[(n // 4), k, (n % 4)] }", "{ S0[m, n, k] -> b2[m, n] }"], monoid = "add", init = 0.000000e+00 : f32} do {

// -----

kernel.func @two_statements(%x: tensor<?x5xf32, #graph.dims<["a*b", "5"]>>, %y: tensor<?xf32, #graph.dims<["a*b"]>>) -> tensor<?xf32, #graph.dims<["2*a*b"]>> {
  %0 = graph.concat(%y, %y) {axis = 0 : i64} : (tensor<?xf32, #graph.dims<["a*b"]>>, tensor<?xf32, #graph.dims<["a*b"]>>) -> tensor<?xf32, #graph.dims<["2*a*b"]>>
  kernel.return %0 : tensor<?xf32, #graph.dims<["2*a*b"]>>
}

// CHECK:      kernel.func @two_statements({{.*}}) attributes {poly.params = {p0 = "a*b"}} {
// CHECK-NEXT: poly.statement "S0" {{.*}} {domain = "[p0] -> { S0[i0] : 0 <= i0 < p0 }", accesses = ["[p0] -> { S0[i0] -> b1[i0] }", "[p0] -> { S0[i0] -> b2[i0] }"]} do {
// CHECK:      poly.statement "S1" {{.*}} {domain = "[p0] -> { S1[i0] : 0 <= i0 < p0 }", accesses = ["[p0] -> { S1[i0] -> b1[i0] }", "[p0] -> { S1[i0] -> b2[(i0 + p0)] }"]} do {
