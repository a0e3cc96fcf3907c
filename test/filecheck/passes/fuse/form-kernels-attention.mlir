// RUN: mlc-opt %s -p form-kernels --split-input-file | filecheck %s --check-prefix KERNELS
// RUN: mlc-opt %s -p form-kernels,lower-kernels,choose-schedule,tile-kernels,lower-tiles --split-input-file | filecheck %s --check-prefix LOOPS

// Attention over long rows: 8 of them stay in the cache. All is one kernel, whose operands keep their shapes. The
// schedule cuts its rows into blocks of 8. The scores of a block are a local array; its rows do not begin in few sets of
// the cache (4112 and not 4096).

func.func @attention(%q: tensor<2x96x4xf32>, %k: tensor<2x4x4096xf32>, %v: tensor<2x4096x6xf32>, %mask: tensor<96x1xf32>, %key: tensor<2x1x4096xf32>) -> tensor<2x96x6xf32> {
  %s = graph.contract "bmk,bkn->bmn"(%q, %k) {graph.node = ["/scores"]} : (tensor<2x96x4xf32>, tensor<2x4x4096xf32>) -> tensor<2x96x4096xf32>
  %a = graph.map "x0 + x1 + x2"(%s, %mask, %key) {graph.node = ["/mask"]} : (tensor<2x96x4096xf32>, tensor<96x1xf32>, tensor<2x1x4096xf32>) -> tensor<2x96x4096xf32>
  %m = graph.reduce "max"(%a) {axes = array<i64: 2>, keepdims = true, graph.node = ["/softmax"]} : (tensor<2x96x4096xf32>) -> tensor<2x96x1xf32>
  %e = graph.map "tanh(x0 - x1)"(%a, %m) {graph.node = ["/softmax"]} : (tensor<2x96x4096xf32>, tensor<2x96x1xf32>) -> tensor<2x96x4096xf32>
  %o = graph.contract "bmn,bnv->bmv"(%e, %v) {graph.node = ["/values"]} : (tensor<2x96x4096xf32>, tensor<2x4096x6xf32>) -> tensor<2x96x6xf32>
  func.return %o : tensor<2x96x6xf32>
}

// KERNELS:      func.func @attention
// KERNELS-NOT:  graph.reshape
// KERNELS-COUNT-1: kernel.call
// KERNELS-NOT:  kernel.call
// KERNELS:      func.return

// LOOPS:      kernel.func @contract{{.*}}schedule = #poly.schedule<"contraction: S0 | b@2 m@12t b m/8*1 n/32v | k & rows: S1 S2 | i0@2 i1@12t i0 i1 | i2/64v & contraction: S3 | b@2 m@12t
// LOOPS:      kernel.local : memref<8x4112xf32>
// LOOPS:      kernel.local : memref<8x4112xf32>
// LOOPS-NOT:  kernel.local
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

// KERNELS:    func.func @rows_read_elsewhere
// KERNELS-COUNT-3: kernel.call
// KERNELS:    func.return

// -----

// A prime number of rows has no blocks of a register tile's rows: three kernels.

func.func @no_blocks(%q: tensor<4x509x4xf32>, %k: tensor<4x4x512xf32>, %v: tensor<4x512x6xf32>) -> tensor<4x509x6xf32> {
  %s = graph.contract "bmk,bkn->bmn"(%q, %k) : (tensor<4x509x4xf32>, tensor<4x4x512xf32>) -> tensor<4x509x512xf32>
  %m = graph.reduce "max"(%s) {axes = array<i64: 2>, keepdims = true} : (tensor<4x509x512xf32>) -> tensor<4x509x1xf32>
  %e = graph.map "x0 - x1"(%s, %m) : (tensor<4x509x512xf32>, tensor<4x509x1xf32>) -> tensor<4x509x512xf32>
  %o = graph.contract "bmn,bnv->bmv"(%e, %v) : (tensor<4x509x512xf32>, tensor<4x512x6xf32>) -> tensor<4x509x6xf32>
  func.return %o : tensor<4x509x6xf32>
}

// KERNELS:    func.func @no_blocks
// KERNELS-COUNT-3: kernel.call
// KERNELS:    func.return
