// RUN: mlc-opt %s -p block-rows --split-input-file | filecheck %s
// RUN: mlc-opt %s -p block-rows,form-kernels --split-input-file | filecheck %s --check-prefix KERNELS
// RUN: mlc-opt %s -p block-rows,form-kernels,lower-kernels,raise-to-poly,choose-schedule,tile-kernels,lower-tiles --split-input-file | filecheck %s --check-prefix LOOPS

// Attention over long rows: 8 of them stay in the cache. Masks are cut in the same blocks. All is one kernel, in which
// the scores of a block are a local array; its rows do not begin in few sets of the cache (4112 and not 4096).

func.func @attention(%q: tensor<2x96x4xf32>, %k: tensor<2x4x4096xf32>, %v: tensor<2x4096x6xf32>, %mask: tensor<96x1xf32>, %key: tensor<2x1x4096xf32>) -> tensor<2x96x6xf32> {
  %s = graph.contract "bmk,bkn->bmn"(%q, %k) {graph.node = ["/scores"]} : (tensor<2x96x4xf32>, tensor<2x4x4096xf32>) -> tensor<2x96x4096xf32>
  %a = graph.map "x0 + x1 + x2"(%s, %mask, %key) {graph.node = ["/mask"]} : (tensor<2x96x4096xf32>, tensor<96x1xf32>, tensor<2x1x4096xf32>) -> tensor<2x96x4096xf32>
  %m = graph.reduce "max"(%a) {axes = array<i64: 2>, keepdims = true, graph.node = ["/softmax"]} : (tensor<2x96x4096xf32>) -> tensor<2x96x1xf32>
  %e = graph.map "exp(x0 - x1)"(%a, %m) {graph.node = ["/softmax"]} : (tensor<2x96x4096xf32>, tensor<2x96x1xf32>) -> tensor<2x96x4096xf32>
  %o = graph.contract "bmn,bnv->bmv"(%e, %v) {graph.node = ["/values"]} : (tensor<2x96x4096xf32>, tensor<2x4096x6xf32>) -> tensor<2x96x6xf32>
  func.return %o : tensor<2x96x6xf32>
}

// CHECK:      func.func @attention(%q: tensor<2x96x4xf32>, %k: tensor<2x4x4096xf32>, %v: tensor<2x4096x6xf32>, %mask: tensor<96x1xf32>, %key: tensor<2x1x4096xf32>) -> tensor<2x96x6xf32> {
// CHECK-NEXT: %0 = graph.reshape(%q) {graph.node = ["/scores"], shape = ["2", "12", "8", "4"]} : (tensor<2x96x4xf32>) -> tensor<2x12x8x4xf32>
// CHECK-NEXT: %1 = graph.contract "bamk,bkn->bamn"(%0, %k) {graph.node = ["/scores"]} : (tensor<2x12x8x4xf32>, tensor<2x4x4096xf32>) -> tensor<2x12x8x4096xf32>
// CHECK-NEXT: %2 = graph.reshape(%mask) {graph.node = ["/mask"], shape = ["12", "8", "1"]} : (tensor<96x1xf32>) -> tensor<12x8x1xf32>
// CHECK-NEXT: %3 = graph.reshape(%key) {graph.node = ["/mask"], shape = ["2", "1", "1", "4096"]} : (tensor<2x1x4096xf32>) -> tensor<2x1x1x4096xf32>
// CHECK-NEXT: %4 = graph.map "((x0 + x1) + x2)"(%1, %2, %3) {graph.node = ["/mask"]} : (tensor<2x12x8x4096xf32>, tensor<12x8x1xf32>, tensor<2x1x1x4096xf32>) -> tensor<2x12x8x4096xf32>
// CHECK-NEXT: %5 = graph.reduce "max"(%4) {graph.node = ["/softmax"], axes = array<i64: 3>, keepdims = true} : (tensor<2x12x8x4096xf32>) -> tensor<2x12x8x1xf32>
// CHECK-NEXT: %6 = graph.map "exp((x0 - x1))"(%4, %5) {graph.node = ["/softmax"]} : (tensor<2x12x8x4096xf32>, tensor<2x12x8x1xf32>) -> tensor<2x12x8x4096xf32>
// CHECK-NEXT: %7 = graph.contract "bamn,bnv->bamv"(%6, %v) {graph.node = ["/values"]} : (tensor<2x12x8x4096xf32>, tensor<2x4096x6xf32>) -> tensor<2x12x8x6xf32>
// CHECK-NEXT: %o = graph.reshape(%7) {graph.node = ["/values"], shape = ["2", "96", "6"]} : (tensor<2x12x8x6xf32>) -> tensor<2x96x6xf32>
// CHECK-NEXT: func.return %o : tensor<2x96x6xf32>

// KERNELS:      func.func @attention
// KERNELS-COUNT-1: kernel.call
// KERNELS-NOT:  kernel.call
// KERNELS:      func.return

// LOOPS:      kernel.func @contract{{.*}}schedule = "contraction: S0 | b@2 a@12 b a m/8*1 n/32v | k & rows: S1 S2 | i0@2 i1@12 i0 i1 i2 | i3/64v & contraction: S3 | b@2 a@12
// LOOPS:      kernel.local : memref<8x4112xf32>
// LOOPS:      kernel.local : memref<8x4112xf32>
// LOOPS-COUNT-1: "scf.parallel"
// LOOPS-NOT:  "scf.parallel"
// LOOPS:      scf.reduce

// -----

// A matrix of scores that stays in the cache is a block.

func.func @whole(%q: tensor<4x16x4xf32>, %k: tensor<4x4x32xf32>, %v: tensor<4x32x6xf32>) -> tensor<4x16x6xf32> {
  %s = graph.contract "bmk,bkn->bmn"(%q, %k) : (tensor<4x16x4xf32>, tensor<4x4x32xf32>) -> tensor<4x16x32xf32>
  %m = graph.reduce "max"(%s) {axes = array<i64: 2>, keepdims = true} : (tensor<4x16x32xf32>) -> tensor<4x16x1xf32>
  %e = graph.map "x0 - x1"(%s, %m) : (tensor<4x16x32xf32>, tensor<4x16x1xf32>) -> tensor<4x16x32xf32>
  %o = graph.contract "bmn,bnv->bmv"(%e, %v) : (tensor<4x16x32xf32>, tensor<4x32x6xf32>) -> tensor<4x16x6xf32>
  func.return %o : tensor<4x16x6xf32>
}

// CHECK:      func.func @whole
// CHECK-NOT:  graph.reshape
// KERNELS:    func.func @whole
// KERNELS-COUNT-1: kernel.call
// KERNELS-NOT: kernel.call
// KERNELS:    func.return
// LOOPS:      kernel.local : memref<16x32xf32>

// -----

// Something else reads what is known of the rows.

func.func @rows_read_elsewhere(%q: tensor<2x96x4xf32>, %k: tensor<2x4x4096xf32>, %v: tensor<2x4096x6xf32>) -> (tensor<2x96x6xf32>, tensor<2x96x1xf32>) {
  %s = graph.contract "bmk,bkn->bmn"(%q, %k) : (tensor<2x96x4xf32>, tensor<2x4x4096xf32>) -> tensor<2x96x4096xf32>
  %m = graph.reduce "max"(%s) {axes = array<i64: 2>, keepdims = true} : (tensor<2x96x4096xf32>) -> tensor<2x96x1xf32>
  %e = graph.map "x0 - x1"(%s, %m) : (tensor<2x96x4096xf32>, tensor<2x96x1xf32>) -> tensor<2x96x4096xf32>
  %o = graph.contract "bmn,bnv->bmv"(%e, %v) : (tensor<2x96x4096xf32>, tensor<2x4096x6xf32>) -> tensor<2x96x6xf32>
  func.return %o, %m : tensor<2x96x6xf32>, tensor<2x96x1xf32>
}

// CHECK:      func.func @rows_read_elsewhere
// CHECK-NOT:  graph.reshape
// KERNELS:    func.func @rows_read_elsewhere
// KERNELS-COUNT-3: kernel.call
// KERNELS:    func.return
