// RUN: mlc-opt %s --for-target x86-64-v4 -p lower-kernels,choose-schedule --split-input-file | filecheck %s
// RUN: mlc-opt %s --for-target x86-64-v4:l2=128K -p lower-kernels,choose-schedule --split-input-file | filecheck %s --check-prefix SMALL

// The rows of an attention in blocks whose local arrays fill half of L2: 16 rows of 2048 scores, twice, are 256 KiB. Tiles
// of 8 rows cover a block, or one of 16. A smaller L2 has room for 4 rows, and no block is one row.

kernel.func @blocks(%q: tensor<6x320x8xf32>, %k: tensor<6x8x2048xf32>, %v: tensor<6x2048x16xf32>, %mask: tensor<2048xf32>) -> tensor<6x320x16xf32> {
  %s = graph.contract "bmk,bkn->bmn"(%q, %k) : (tensor<6x320x8xf32>, tensor<6x8x2048xf32>) -> tensor<6x320x2048xf32>
  %a = graph.map "x0 + x1"(%s, %mask) : (tensor<6x320x2048xf32>, tensor<2048xf32>) -> tensor<6x320x2048xf32>
  %m = graph.reduce "max"(%a) {axes = array<i64: 2>, keepdims = true} : (tensor<6x320x2048xf32>) -> tensor<6x320x1xf32>
  %e = graph.map "tanh(x0 - x1)"(%a, %m) : (tensor<6x320x2048xf32>, tensor<6x320x1xf32>) -> tensor<6x320x2048xf32>
  %o = graph.contract "bmn,bnv->bmv"(%e, %v) : (tensor<6x320x2048xf32>, tensor<6x2048x16xf32>) -> tensor<6x320x16xf32>
  kernel.return %o : tensor<6x320x16xf32>
}

// CHECK:      kernel.func @blocks
// CHECK-SAME: schedule = #poly.schedule<"contraction: S0 | b@6 m@20t b m/8*2 n/32v | k & rows: S1 S2 | i0@6 i1@20t i0 i1 | i2/64v & contraction: S3 | b@6 m@20t b v/16v m/16*1 | n/128s">
// SMALL:      kernel.func @blocks
// SMALL-SAME: schedule = #poly.schedule<"contraction: S0 | b@6 m@80t b m/4*1 n/32v | k & rows: S1 S2 | i0@6 i1@80t i0 i1 | i2/64v & contraction: S3 | b@6 m@80t b v/16v m/4*1 | n/128s">

// -----

// A matrix of scores that fits is not cut into blocks of rows.

kernel.func @whole(%q: tensor<6x64x8xf32>, %k: tensor<6x8x96xf32>, %v: tensor<6x96x16xf32>) -> tensor<6x64x16xf32> {
  %s = graph.contract "bmk,bkn->bmn"(%q, %k) : (tensor<6x64x8xf32>, tensor<6x8x96xf32>) -> tensor<6x64x96xf32>
  %m = graph.reduce "max"(%s) {axes = array<i64: 2>, keepdims = true} : (tensor<6x64x96xf32>) -> tensor<6x64x1xf32>
  %e = graph.map "exp(x0 - x1)"(%s, %m) : (tensor<6x64x96xf32>, tensor<6x64x1xf32>) -> tensor<6x64x96xf32>
  %o = graph.contract "bmn,bnv->bmv"(%e, %v) : (tensor<6x64x96xf32>, tensor<6x96x16xf32>) -> tensor<6x64x16xf32>
  kernel.return %o : tensor<6x64x16xf32>
}

// CHECK:      kernel.func @whole
// CHECK-NOT:  {{[0-9]t}}
// CHECK:      schedule = #poly.schedule<"contraction: S0 | b@6 b n/32v m/14*3+11*2 | k & rows: S1 S2 | i0@6 i0 i1 | i2/96v & contraction: S3 | b@6 b v/16v m/26*1+19*2 | n">
