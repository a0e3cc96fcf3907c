// RUN: mlc-opt %s -p group-heads --split-input-file | filecheck %s
// RUN: mlc-opt %s -p group-heads,sink-reshapes,form-kernels --split-input-file | filecheck %s --check-prefix KERNELS

// Three heads share the keys and values of one: these are read where they are, and no kernel copies them. A mask of each
// head is grouped as well. The keys are transposed after they were repeated; once is enough.

func.func @grouped(%q: tensor<6x5x4xf32>, %k: tensor<2x1x7x4xf32>, %v: tensor<2x1x7x8xf32>, %mask: tensor<6x1x7xf32>) -> tensor<6x5x8xf32> {
  %kb = graph.broadcast(%k) {shape = ["2", "3", "7", "4"]} : (tensor<2x1x7x4xf32>) -> tensor<2x3x7x4xf32>
  %kr = graph.reshape(%kb) {shape = ["6", "7", "4"]} : (tensor<2x3x7x4xf32>) -> tensor<6x7x4xf32>
  %kt = graph.transpose(%kr) {perm = array<i64: 0, 2, 1>} : (tensor<6x7x4xf32>) -> tensor<6x4x7xf32>
  %vb = graph.broadcast(%v) {shape = ["2", "3", "7", "8"]} : (tensor<2x1x7x8xf32>) -> tensor<2x3x7x8xf32>
  %vr = graph.reshape(%vb) {shape = ["6", "7", "8"]} : (tensor<2x3x7x8xf32>) -> tensor<6x7x8xf32>
  %s = graph.contract "bmk,bkn->bmn"(%q, %kt) {graph.node = ["/scores"]} : (tensor<6x5x4xf32>, tensor<6x4x7xf32>) -> tensor<6x5x7xf32>
  %a = graph.map "x0 + x1"(%s, %mask) {graph.node = ["/mask"]} : (tensor<6x5x7xf32>, tensor<6x1x7xf32>) -> tensor<6x5x7xf32>
  %m = graph.reduce "max"(%a) {axes = array<i64: 2>, keepdims = true, graph.node = ["/softmax"]} : (tensor<6x5x7xf32>) -> tensor<6x5x1xf32>
  %e = graph.map "exp(x0 - x1)"(%a, %m) {graph.node = ["/softmax"]} : (tensor<6x5x7xf32>, tensor<6x5x1xf32>) -> tensor<6x5x7xf32>
  %o = graph.contract "bmn,bnv->bmv"(%e, %vr) {graph.node = ["/values"]} : (tensor<6x5x7xf32>, tensor<6x7x8xf32>) -> tensor<6x5x8xf32>
  func.return %o : tensor<6x5x8xf32>
}

// CHECK:      func.func @grouped
// CHECK-NEXT: %0 = graph.reshape(%k) {graph.node = ["/scores"], shape = ["2", "7", "4"]} : (tensor<2x1x7x4xf32>) -> tensor<2x7x4xf32>
// CHECK-NEXT: %1 = graph.transpose(%0) {graph.node = ["/scores"], perm = array<i64: 0, 2, 1>} : (tensor<2x7x4xf32>) -> tensor<2x4x7xf32>
// CHECK-NEXT: %2 = graph.reshape(%v) {graph.node = ["/scores"], shape = ["2", "7", "8"]} : (tensor<2x1x7x8xf32>) -> tensor<2x7x8xf32>
// CHECK-NEXT: %3 = graph.reshape(%q) {graph.node = ["/scores"], shape = ["2", "3", "5", "4"]} : (tensor<6x5x4xf32>) -> tensor<2x3x5x4xf32>
// CHECK-NEXT: %4 = graph.contract "abmk,akn->abmn"(%3, %1) {graph.node = ["/scores"]} : (tensor<2x3x5x4xf32>, tensor<2x4x7xf32>) -> tensor<2x3x5x7xf32>
// CHECK-NEXT: %5 = graph.reshape(%mask) {graph.node = ["/mask"], shape = ["2", "3", "1", "7"]} : (tensor<6x1x7xf32>) -> tensor<2x3x1x7xf32>
// CHECK-NEXT: %6 = graph.map "(x0 + x1)"(%4, %5)
// CHECK-NEXT: %7 = graph.reduce "max"(%6) {graph.node = ["/softmax"], axes = array<i64: 3>, keepdims = true} : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x1xf32>
// CHECK-NEXT: %8 = graph.map "exp((x0 - x1))"(%6, %7)
// CHECK-NEXT: %9 = graph.contract "abmn,anv->abmv"(%8, %2) {graph.node = ["/values"]} : (tensor<2x3x5x7xf32>, tensor<2x7x8xf32>) -> tensor<2x3x5x8xf32>
// CHECK-NEXT: %o = graph.reshape(%9) {graph.node = ["/values"], shape = ["6", "5", "8"]} : (tensor<2x3x5x8xf32>) -> tensor<6x5x8xf32>
// CHECK-NEXT: func.return %o

// KERNELS:      func.func @grouped
// KERNELS:      kernel.call @transpose
// KERNELS:      kernel.call @contract
// KERNELS-NOT:  kernel.call
// KERNELS:      func.return

// -----

// The values are not those of the same groups, or the heads follow each other otherwise: nothing to share.

func.func @other_groups(%q: tensor<6x5x4xf32>, %k: tensor<2x1x4x7xf32>, %v: tensor<3x1x7x8xf32>) -> tensor<6x5x8xf32> {
  %kb = graph.broadcast(%k) {shape = ["2", "3", "4", "7"]} : (tensor<2x1x4x7xf32>) -> tensor<2x3x4x7xf32>
  %kr = graph.reshape(%kb) {shape = ["6", "4", "7"]} : (tensor<2x3x4x7xf32>) -> tensor<6x4x7xf32>
  %vb = graph.broadcast(%v) {shape = ["3", "2", "7", "8"]} : (tensor<3x1x7x8xf32>) -> tensor<3x2x7x8xf32>
  %vr = graph.reshape(%vb) {shape = ["6", "7", "8"]} : (tensor<3x2x7x8xf32>) -> tensor<6x7x8xf32>
  %s = graph.contract "bmk,bkn->bmn"(%q, %kr) : (tensor<6x5x4xf32>, tensor<6x4x7xf32>) -> tensor<6x5x7xf32>
  %m = graph.reduce "max"(%s) {axes = array<i64: 2>, keepdims = true} : (tensor<6x5x7xf32>) -> tensor<6x5x1xf32>
  %e = graph.map "exp(x0 - x1)"(%s, %m) : (tensor<6x5x7xf32>, tensor<6x5x1xf32>) -> tensor<6x5x7xf32>
  %o = graph.contract "bmn,bnv->bmv"(%e, %vr) : (tensor<6x5x7xf32>, tensor<6x7x8xf32>) -> tensor<6x5x8xf32>
  func.return %o : tensor<6x5x8xf32>
}

func.func @in_turn(%q: tensor<6x5x4xf32>, %k: tensor<1x2x4x7xf32>, %v: tensor<1x2x7x8xf32>) -> tensor<6x5x8xf32> {
  %kb = graph.broadcast(%k) {shape = ["3", "2", "4", "7"]} : (tensor<1x2x4x7xf32>) -> tensor<3x2x4x7xf32>
  %kr = graph.reshape(%kb) {shape = ["6", "4", "7"]} : (tensor<3x2x4x7xf32>) -> tensor<6x4x7xf32>
  %vb = graph.broadcast(%v) {shape = ["3", "2", "7", "8"]} : (tensor<1x2x7x8xf32>) -> tensor<3x2x7x8xf32>
  %vr = graph.reshape(%vb) {shape = ["6", "7", "8"]} : (tensor<3x2x7x8xf32>) -> tensor<6x7x8xf32>
  %s = graph.contract "bmk,bkn->bmn"(%q, %kr) : (tensor<6x5x4xf32>, tensor<6x4x7xf32>) -> tensor<6x5x7xf32>
  %m = graph.reduce "max"(%s) {axes = array<i64: 2>, keepdims = true} : (tensor<6x5x7xf32>) -> tensor<6x5x1xf32>
  %e = graph.map "exp(x0 - x1)"(%s, %m) : (tensor<6x5x7xf32>, tensor<6x5x1xf32>) -> tensor<6x5x7xf32>
  %o = graph.contract "bmn,bnv->bmv"(%e, %vr) : (tensor<6x5x7xf32>, tensor<6x7x8xf32>) -> tensor<6x5x8xf32>
  func.return %o : tensor<6x5x8xf32>
}

// CHECK:     func.func @other_groups
// CHECK:     graph.contract "bmk,bkn->bmn"(%q, %kr)
// CHECK:     graph.contract "bmn,bnv->bmv"(%e, %vr)
// CHECK:     func.func @in_turn
// CHECK:     graph.contract "bmk,bkn->bmn"(%q, %kr)
// CHECK:     graph.contract "bmn,bnv->bmv"(%e, %vr)
// KERNELS:   func.func @other_groups
