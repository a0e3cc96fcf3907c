// RUN: mlc-opt %s -p reassociate-sums --split-input-file | filecheck %s --check-prefix SUMS
// RUN: mlc-opt %s -p reassociate-sums,recompute-scores --split-input-file | filecheck %s --check-prefix SCORES
// RUN: mlc-opt %s --for-target cuda:sm_80:l2_bytes=184319 -p reassociate-sums,recompute-scores --split-input-file | filecheck %s --check-prefix SCORES
// RUN: mlc-opt %s --for-target cuda:sm_80:l2_bytes=184320 -p reassociate-sums,recompute-scores --split-input-file | filecheck %s --check-prefix STORED
// RUN: mlc-opt %s -p reassociate-sums,recompute-scores,form-kernels,lower-kernels,choose-schedule --split-input-file | filecheck %s --check-prefix SCHEDULE

// The backward pass of an attention: the sum of each row reads the attention's result, and the scores are computed
// again from what is saved of their rows. It is one kernel of five products, head by head. A GPU whose L2 holds all
// 48 x 40 x 24 scores reads those that are stored.

func.func @attention(%q: tensor<48x40x8xf32>, %k: tensor<48x8x24xf32>, %v: tensor<48x24x8xf32>, %g: tensor<48x40x8xf32>) -> (tensor<48x40x8xf32>, tensor<48x40x8xf32>, tensor<48x24x8xf32>, tensor<48x24x8xf32>) {
  %s = graph.contract "bmk,bkn->bmn"(%q, %k) {graph.node = ["/s"]} : (tensor<48x40x8xf32>, tensor<48x8x24xf32>) -> tensor<48x40x24xf32>
  %m = graph.reduce "max"(%s) {axes = array<i64: 2>, keepdims = true, graph.node = ["/m"]} : (tensor<48x40x24xf32>) -> tensor<48x40x1xf32>
  %e = graph.map "exp(x0 - x1)"(%s, %m) {graph.node = ["/e"]} : (tensor<48x40x24xf32>, tensor<48x40x1xf32>) -> tensor<48x40x24xf32>
  %l = graph.reduce "add"(%e) {axes = array<i64: 2>, keepdims = true, graph.node = ["/l"]} : (tensor<48x40x24xf32>) -> tensor<48x40x1xf32>
  %r = graph.map "1 / x0"(%l) {graph.node = ["/r"]} : (tensor<48x40x1xf32>) -> tensor<48x40x1xf32>
  %p = graph.map "x0 * x1"(%e, %r) {graph.node = ["/p"]} : (tensor<48x40x24xf32>, tensor<48x40x1xf32>) -> tensor<48x40x24xf32>
  %o = graph.contract "bmn,bnk->bmk"(%p, %v) {graph.node = ["/o"]} : (tensor<48x40x24xf32>, tensor<48x24x8xf32>) -> tensor<48x40x8xf32>
  %t = graph.transpose(%v) {perm = array<i64: 0, 2, 1>, graph.node = ["/t"]} : (tensor<48x24x8xf32>) -> tensor<48x8x24xf32>
  %d = graph.contract "bmk,bkn->bmn"(%g, %t) {graph.node = ["/d"]} : (tensor<48x40x8xf32>, tensor<48x8x24xf32>) -> tensor<48x40x24xf32>
  %x = graph.map "neg(x0 * x1)"(%p, %d) {graph.node = ["/x"]} : (tensor<48x40x24xf32>, tensor<48x40x24xf32>) -> tensor<48x40x24xf32>
  %y = graph.reduce "add"(%x) {axes = array<i64: 2>, keepdims = true, graph.node = ["/y"]} : (tensor<48x40x24xf32>) -> tensor<48x40x1xf32>
  %ds = graph.map "x0 * (x1 + x2)"(%p, %d, %y) {graph.node = ["/ds"]} : (tensor<48x40x24xf32>, tensor<48x40x24xf32>, tensor<48x40x1xf32>) -> tensor<48x40x24xf32>
  %dv = graph.contract "bmn,bmk->bnk"(%p, %g) {graph.node = ["/dv"]} : (tensor<48x40x24xf32>, tensor<48x40x8xf32>) -> tensor<48x24x8xf32>
  %dq = graph.contract "bmn,bkn->bmk"(%ds, %k) {graph.node = ["/dq"]} : (tensor<48x40x24xf32>, tensor<48x8x24xf32>) -> tensor<48x40x8xf32>
  %dk = graph.contract "bmn,bmk->bnk"(%ds, %q) {graph.node = ["/dk"]} : (tensor<48x40x24xf32>, tensor<48x40x8xf32>) -> tensor<48x24x8xf32>
  func.return %o, %dq, %dk, %dv : tensor<48x40x8xf32>, tensor<48x40x8xf32>, tensor<48x24x8xf32>, tensor<48x24x8xf32>
}

// SUMS-LABEL: func.func @attention
// SUMS:       %d = graph.contract "bmk,bkn->bmn"(%g, %t)
// SUMS-NEXT:  %0 = graph.contract "bmk,bmk->bm"(%g, %o) {graph.node = ["/y"]} : (tensor<48x40x8xf32>, tensor<48x40x8xf32>) -> tensor<48x40xf32>
// SUMS-NEXT:  %1 = graph.reshape(%0) {graph.node = ["/y"], shape = ["48", "40", "1"]} : (tensor<48x40xf32>) -> tensor<48x40x1xf32>
// SUMS-NEXT:  %y = graph.map "(x0 * neg(1))"(%1) {graph.node = ["/y"]} : (tensor<48x40x1xf32>) -> tensor<48x40x1xf32>
// SUMS-NEXT:  %ds = graph.map "x0 * (x1 + x2)"(%p, %d, %y)

// SCORES-LABEL: func.func @attention
// SCORES:       %m = graph.reduce "max"(%s)
// SCORES-NEXT:  %0 = graph.map "x0"(%m) {graph.node = ["/m"]} : (tensor<48x40x1xf32>) -> tensor<48x40x1xf32>
// SCORES:       %s_1 = graph.contract "bmk,bkn->bmn"(%q, %k)
// SCORES-NEXT:  %3 = graph.reshape(%0) {graph.node = ["/ds"], shape = ["48", "40", "1"], barrier} : (tensor<48x40x1xf32>) -> tensor<48x40x1xf32>
// SCORES-NEXT:  %e_1 = graph.map "exp(x0 - x1)"(%s_1, %3)
// SCORES-NEXT:  %4 = graph.reshape(%r) {graph.node = ["/ds"], shape = ["48", "40", "1"], barrier} : (tensor<48x40x1xf32>) -> tensor<48x40x1xf32>
// SCORES-NEXT:  %p_1 = graph.map "x0 * x1"(%e_1, %4)
// SCORES-NEXT:  %ds = graph.map "x0 * (x1 + x2)"(%p_1, %d, %y)
// SCORES-NEXT:  %dv = graph.contract "bmn,bmk->bnk"(%p_1, %g)

// STORED-LABEL: func.func @attention
// STORED:       %p = graph.map "x0 * x1"(%e, %r)
// STORED-NOT:   barrier
// STORED:       %dv = graph.contract "bmn,bmk->bnk"(%p, %g)
// STORED-LABEL: func.func @weights

// SCHEDULE-LABEL: func.func @attention
// SCHEDULE:       kernel.func @contract_7({{.*}}schedule = #poly.schedule<"contraction: S0 | b@48 b n/24v m/14*2+12*1 | k & contraction: S1 S2 S3 | b@48 b n/24v m/14*2+12*1 | k & contraction: S4 | {{.*}} & contraction: S6 | {{.*}}">}

// -----

// Another operator reads the weights, so they are in memory anyway.

func.func @weights(%q: tensor<48x40x8xf32>, %k: tensor<48x8x24xf32>, %v: tensor<48x24x8xf32>, %g: tensor<48x40x8xf32>) -> (tensor<48x40x8xf32>, tensor<48x40x8xf32>, tensor<48x24x8xf32>, tensor<48x24x8xf32>, tensor<48x40x24xf32>) {
  %s = graph.contract "bmk,bkn->bmn"(%q, %k) {graph.node = ["/s"]} : (tensor<48x40x8xf32>, tensor<48x8x24xf32>) -> tensor<48x40x24xf32>
  %m = graph.reduce "max"(%s) {axes = array<i64: 2>, keepdims = true, graph.node = ["/m"]} : (tensor<48x40x24xf32>) -> tensor<48x40x1xf32>
  %e = graph.map "exp(x0 - x1)"(%s, %m) {graph.node = ["/e"]} : (tensor<48x40x24xf32>, tensor<48x40x1xf32>) -> tensor<48x40x24xf32>
  %l = graph.reduce "add"(%e) {axes = array<i64: 2>, keepdims = true, graph.node = ["/l"]} : (tensor<48x40x24xf32>) -> tensor<48x40x1xf32>
  %r = graph.map "1 / x0"(%l) {graph.node = ["/r"]} : (tensor<48x40x1xf32>) -> tensor<48x40x1xf32>
  %p = graph.map "x0 * x1"(%e, %r) {graph.node = ["/p"]} : (tensor<48x40x24xf32>, tensor<48x40x1xf32>) -> tensor<48x40x24xf32>
  %o = graph.contract "bmn,bnk->bmk"(%p, %v) {graph.node = ["/o"]} : (tensor<48x40x24xf32>, tensor<48x24x8xf32>) -> tensor<48x40x8xf32>
  %t = graph.transpose(%v) {perm = array<i64: 0, 2, 1>, graph.node = ["/t"]} : (tensor<48x24x8xf32>) -> tensor<48x8x24xf32>
  %d = graph.contract "bmk,bkn->bmn"(%g, %t) {graph.node = ["/d"]} : (tensor<48x40x8xf32>, tensor<48x8x24xf32>) -> tensor<48x40x24xf32>
  %x = graph.map "neg(x0 * x1)"(%p, %d) {graph.node = ["/x"]} : (tensor<48x40x24xf32>, tensor<48x40x24xf32>) -> tensor<48x40x24xf32>
  %y = graph.reduce "add"(%x) {axes = array<i64: 2>, keepdims = true, graph.node = ["/y"]} : (tensor<48x40x24xf32>) -> tensor<48x40x1xf32>
  %ds = graph.map "x0 * (x1 + x2)"(%p, %d, %y) {graph.node = ["/ds"]} : (tensor<48x40x24xf32>, tensor<48x40x24xf32>, tensor<48x40x1xf32>) -> tensor<48x40x24xf32>
  %dv = graph.contract "bmn,bmk->bnk"(%p, %g) {graph.node = ["/dv"]} : (tensor<48x40x24xf32>, tensor<48x40x8xf32>) -> tensor<48x24x8xf32>
  %dq = graph.contract "bmn,bkn->bmk"(%ds, %k) {graph.node = ["/dq"]} : (tensor<48x40x24xf32>, tensor<48x8x24xf32>) -> tensor<48x40x8xf32>
  %dk = graph.contract "bmn,bmk->bnk"(%ds, %q) {graph.node = ["/dk"]} : (tensor<48x40x24xf32>, tensor<48x40x8xf32>) -> tensor<48x24x8xf32>
  func.return %o, %dq, %dk, %dv, %p : tensor<48x40x8xf32>, tensor<48x40x8xf32>, tensor<48x24x8xf32>, tensor<48x24x8xf32>, tensor<48x40x24xf32>
}

// SUMS-LABEL:     func.func @weights
// SCORES-LABEL:   func.func @weights
// SCORES-NOT:     barrier
// SCHEDULE-LABEL: func.func @weights
