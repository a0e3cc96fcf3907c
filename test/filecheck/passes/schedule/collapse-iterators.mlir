// RUN: mlc-opt %s --for-target cuda -p collapse-iterators --split-input-file | filecheck %s

// A convolution is a product: columns are pixels of all images, terms those of all channels. What reads the sum at the
// same points has the same iterators.
// CHECK-LABEL: kernel.func @conv
// CHECK: domain = #poly.domain<"0 <= f < 8 and 0 <= b_y_x < 35*n and 0 <= c_k < 12">
// CHECK-SAME: #poly.access<"b0[b_y_x // 35, c_k // 3, -5*(b_y_x // 35) + b_y_x // 7, c_k % 3 + b_y_x % 7]">
// CHECK-SAME: #poly.access<"b1[f, c_k // 3, c_k % 3]">
// CHECK: domain = #poly.domain<"0 <= f < 8 and 0 <= b_y_x < 35*n">
kernel.func @conv(%a: memref<?x4x5x9xf32, #graph.dims<["n", "4", "5", "9"]>>, %w: memref<8x4x3xf32>, %y: memref<?x8x5x7xf32, #graph.dims<["n", "8", "5", "7"]>>) {
  %t = kernel.local : memref<?x8x5x7xf32, #graph.dims<["n", "8", "5", "7"]>>
  poly.statement "S0" ins(%a, %w : memref<?x4x5x9xf32, #graph.dims<["n", "4", "5", "9"]>>, memref<8x4x3xf32>) outs(%t : memref<?x8x5x7xf32, #graph.dims<["n", "8", "5", "7"]>>) {domain = #poly.domain<"0 <= b < n and 0 <= f < 8 and 0 <= y < 5 and 0 <= x < 7 and 0 <= c < 4 and 0 <= k < 3">, accesses = [#poly.access<"b0[b, c, y, x + k]">, #poly.access<"b1[f, c, k]">, #poly.access<"t0[b, f, y, x]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%p: f32, %q: f32):
    %z = arith.mulf %p, %q : f32
    poly.yield %z : f32
  }
  poly.statement "S1" ins(%t : memref<?x8x5x7xf32, #graph.dims<["n", "8", "5", "7"]>>) outs(%y : memref<?x8x5x7xf32, #graph.dims<["n", "8", "5", "7"]>>) {domain = #poly.domain<"0 <= b < n and 0 <= f < 8 and 0 <= y < 5 and 0 <= x < 7">, accesses = [#poly.access<"t0[b, f, y, x]">, #poly.access<"b2[b, f, y, x]">]} do {
  ^bb0(%p: f32):
    %z = math.exp %p : f32
    poly.yield %z : f32
  }
  kernel.return
}

// -----

// A product of matrices has one iterator of each kind already.
// CHECK-LABEL: kernel.func @product
// CHECK: domain = #poly.domain<"0 <= m < 9 and 0 <= n < 8 and 0 <= k < 12">
kernel.func @product(%a: memref<9x12xf32>, %b: memref<12x8xf32>, %c: memref<9x8xf32>) {
  poly.statement "S0" ins(%a, %b : memref<9x12xf32>, memref<12x8xf32>) outs(%c : memref<9x8xf32>) {domain = #poly.domain<"0 <= m < 9 and 0 <= n < 8 and 0 <= k < 12">, accesses = [#poly.access<"b0[m, k]">, #poly.access<"b1[k, n]">, #poly.access<"b2[m, n]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%x: f32, %y: f32):
    %z = arith.mulf %x, %y : f32
    poly.yield %z : f32
  }
  kernel.return
}

// -----

// isl divides by constants only: an inner iterator of a symbolic extent stays.
// CHECK-LABEL: kernel.func @symbolic
// CHECK: domain = #poly.domain<"0 <= f < 8 and 0 <= y < h and 0 <= x < w and 0 <= c < 4">
kernel.func @symbolic(%a: memref<4x?x?xf32, #graph.dims<["4", "h", "w"]>>, %w: memref<8x4xf32>, %y: memref<8x?x?xf32, #graph.dims<["8", "h", "w"]>>) {
  poly.statement "S0" ins(%a, %w : memref<4x?x?xf32, #graph.dims<["4", "h", "w"]>>, memref<8x4xf32>) outs(%y : memref<8x?x?xf32, #graph.dims<["8", "h", "w"]>>) {domain = #poly.domain<"0 <= f < 8 and 0 <= y < h and 0 <= x < w and 0 <= c < 4">, accesses = [#poly.access<"b0[c, y, x]">, #poly.access<"b1[f, c]">, #poly.access<"b2[f, y, x]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%p: f32, %q: f32):
    %z = arith.mulf %p, %q : f32
    poly.yield %z : f32
  }
  kernel.return
}

// -----

// The second statement uses a row's number.
// CHECK-LABEL: kernel.func @numbered
// CHECK: domain = #poly.domain<"0 <= f < 8 and 0 <= y < 5 and 0 <= x < 7 and 0 <= c < 4">
kernel.func @numbered(%a: memref<4x5x7xf32>, %w: memref<8x4xf32>, %y: memref<8x5x7xf32>) {
  %t = kernel.local : memref<8x5x7xf32>
  poly.statement "S0" ins(%a, %w : memref<4x5x7xf32>, memref<8x4xf32>) outs(%t : memref<8x5x7xf32>) {domain = #poly.domain<"0 <= f < 8 and 0 <= y < 5 and 0 <= x < 7 and 0 <= c < 4">, accesses = [#poly.access<"b0[c, y, x]">, #poly.access<"b1[f, c]">, #poly.access<"t0[f, y, x]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%p: f32, %q: f32):
    %z = arith.mulf %p, %q : f32
    poly.yield %z : f32
  }
  poly.statement "S1" ins(%t : memref<8x5x7xf32>) outs(%y : memref<8x5x7xf32>) {domain = #poly.domain<"0 <= f < 8 and 0 <= y < 5 and 0 <= x < 7">, accesses = [#poly.access<"t0[f, y, x]">, #poly.access<"b2[f, y, x]">]} do {
  ^bb0(%p: f32):
    %i = kernel.index "y"
    %n = arith.index_cast %i : index to i64
    %r = arith.sitofp %n : i64 to f32
    %z = arith.addf %p, %r : f32
    poly.yield %z : f32
  }
  kernel.return
}
