// RUN: mlc-opt %s -p expand-contractions --split-input-file | filecheck %s
// RUN: mlc-opt %s -p expand-contractions,sink-reshapes,form-kernels --split-input-file | filecheck %s --check-prefix KERNELS

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
// CHECK-NEXT: [[Q:%\w+]] = graph.reshape(%q) {graph.node = ["/scores"], shape = ["2", "3", "5", "4"]} : (tensor<6x5x4xf32>) -> tensor<2x3x5x4xf32>
// CHECK-NEXT: [[K:%\w+]] = graph.reshape(%k) {graph.node = ["/scores"], shape = ["2", "7", "4"]} : (tensor<2x1x7x4xf32>) -> tensor<2x7x4xf32>
// CHECK-NEXT: [[T:%\w+]] = graph.transpose([[K]]) {graph.node = ["/scores"], perm = array<i64: 0, 2, 1>} : (tensor<2x7x4xf32>) -> tensor<2x4x7xf32>
// CHECK-NEXT: [[S:%\w+]] = graph.contract "abmk,akn->abmn"([[Q]], [[T]]) {graph.node = ["/scores"]} : (tensor<2x3x5x4xf32>, tensor<2x4x7xf32>) -> tensor<2x3x5x7xf32>
// CHECK-NEXT: [[M:%\w+]] = graph.reshape(%mask) {graph.node = ["/mask"], shape = ["2", "3", "1", "7"]} : (tensor<6x1x7xf32>) -> tensor<2x3x1x7xf32>
// CHECK-NEXT: [[A:%\w+]] = graph.map "(x0 + x1)"([[S]], [[M]])
// CHECK-NEXT: [[R:%\w+]] = graph.reduce "max"([[A]]) {graph.node = ["/softmax"], axes = array<i64: 3>, keepdims = true} : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x1xf32>
// CHECK-NEXT: [[E:%\w+]] = graph.map "exp((x0 - x1))"([[A]], [[R]])
// CHECK-NEXT: [[V:%\w+]] = graph.reshape(%v) {graph.node = ["/values"], shape = ["2", "7", "8"]} : (tensor<2x1x7x8xf32>) -> tensor<2x7x8xf32>
// CHECK-NEXT: [[O:%\w+]] = graph.contract "abmn,anv->abmv"([[E]], [[V]]) {graph.node = ["/values"]} : (tensor<2x3x5x7xf32>, tensor<2x7x8xf32>) -> tensor<2x3x5x8xf32>
// CHECK-NEXT: %o = graph.reshape([[O]]) {graph.node = ["/values"], shape = ["6", "5", "8"]} : (tensor<2x3x5x8xf32>) -> tensor<6x5x8xf32>
// CHECK-NEXT: func.return %o

// KERNELS:      func.func @grouped
// KERNELS:      kernel.call @transpose
// KERNELS:      kernel.call @contract
// KERNELS-NOT:  kernel.call
// KERNELS:      func.return

// -----

// The values are of other groups: they are copied, and still in one kernel with the scores. Heads that repeat in turn
// share the second axis.

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

// CHECK:      func.func @other_groups
// CHECK:      graph.contract "abmk,akn->abmn"
// CHECK-NOT:  graph.reshape{{.*}} -> tensor<6x5x7xf32>
// CHECK:      [[V:%\w+]] = graph.reshape(%vb) {shape = ["2", "3", "7", "8"]}
// CHECK-NEXT: graph.contract "abmn,abnv->abmv"({{.*}}, [[V]])
// CHECK:      func.func @in_turn
// CHECK-NOT:  graph.broadcast
// CHECK:      [[K:%\w+]] = graph.reshape(%k) {shape = ["2", "4", "7"]}
// CHECK-NEXT: graph.contract "abmk,bkn->abmn"({{.*}}, [[K]])
// CHECK:      graph.contract "abmn,bnv->abmv"
// KERNELS:      func.func @other_groups
// KERNELS-COUNT-2: kernel.call
// KERNELS-NOT:  kernel.call
// KERNELS:      func.func @in_turn
// KERNELS-COUNT-1: kernel.call
// KERNELS-NOT:  kernel.call
// KERNELS:      func.return

// -----

// A contraction alone, of symbolic extents. A reader that removes an axis reads the merged result, which is a view. An
// operand that both axes repeat stays.

func.func @both(%q: tensor<?x4xf32, #graph.dims<["m", "4"]>>, %k: tensor<6x4x?xf32, #graph.dims<["6", "4", "n"]>>) -> (tensor<6x?xf32, #graph.dims<["6", "m"]>>) {
  %b = graph.broadcast(%q) {shape = ["2", "3", "m", "4"]} : (tensor<?x4xf32, #graph.dims<["m", "4"]>>) -> tensor<2x3x?x4xf32, #graph.dims<["2", "3", "m", "4"]>>
  %r = graph.reshape(%b) {shape = ["6", "m", "4"]} : (tensor<2x3x?x4xf32, #graph.dims<["2", "3", "m", "4"]>>) -> tensor<6x?x4xf32, #graph.dims<["6", "m", "4"]>>
  %s = graph.contract "bmk,bkn->bmn"(%r, %k) : (tensor<6x?x4xf32, #graph.dims<["6", "m", "4"]>>, tensor<6x4x?xf32, #graph.dims<["6", "4", "n"]>>) -> tensor<6x?x?xf32, #graph.dims<["6", "m", "n"]>>
  %m = graph.reduce "max"(%s) {axes = array<i64: 2>, keepdims = false} : (tensor<6x?x?xf32, #graph.dims<["6", "m", "n"]>>) -> tensor<6x?xf32, #graph.dims<["6", "m"]>>
  func.return %m : tensor<6x?xf32, #graph.dims<["6", "m"]>>
}

func.func @alone(%q: tensor<6x?x4xf32, #graph.dims<["6", "m", "4"]>>, %k: tensor<2x1x4x?xf32, #graph.dims<["2", "1", "4", "n"]>>) -> (tensor<6x?xf32, #graph.dims<["6", "m"]>>) {
  %b = graph.broadcast(%k) {shape = ["2", "3", "4", "n"]} : (tensor<2x1x4x?xf32, #graph.dims<["2", "1", "4", "n"]>>) -> tensor<2x3x4x?xf32, #graph.dims<["2", "3", "4", "n"]>>
  %r = graph.reshape(%b) {shape = ["6", "4", "n"]} : (tensor<2x3x4x?xf32, #graph.dims<["2", "3", "4", "n"]>>) -> tensor<6x4x?xf32, #graph.dims<["6", "4", "n"]>>
  %s = graph.contract "bmk,bkn->bmn"(%q, %r) : (tensor<6x?x4xf32, #graph.dims<["6", "m", "4"]>>, tensor<6x4x?xf32, #graph.dims<["6", "4", "n"]>>) -> tensor<6x?x?xf32, #graph.dims<["6", "m", "n"]>>
  %m = graph.reduce "max"(%s) {axes = array<i64: 2>, keepdims = false} : (tensor<6x?x?xf32, #graph.dims<["6", "m", "n"]>>) -> tensor<6x?xf32, #graph.dims<["6", "m"]>>
  func.return %m : tensor<6x?xf32, #graph.dims<["6", "m"]>>
}

// CHECK:      func.func @both
// CHECK:      graph.broadcast(%q)
// CHECK:      graph.contract "bmk,bkn->bmn"
// CHECK:      func.func @alone
// CHECK-NOT:  graph.broadcast
// CHECK:      [[Q:%\w+]] = graph.reshape(%q) {shape = ["2", "3", "m", "4"]}
// CHECK:      [[K:%\w+]] = graph.reshape(%k) {shape = ["2", "4", "n"]}
// CHECK-NEXT: [[S:%\w+]] = graph.contract "abmk,akn->abmn"([[Q]], [[K]])
// CHECK-NEXT: [[R:%\w+]] = graph.reshape([[S]]) {shape = ["6", "m", "n"]}
// CHECK-NEXT: graph.reduce "max"([[R]])

// -----

// What stays: the repeated axis is a column of the result, which no other operand shares; a broadcast of the merged
// axis; a contraction with layouts.

func.func @columns(%a: tensor<5x4xf32>, %b: tensor<2x1x4xf32>) -> tensor<5x6xf32> {
  %w = graph.broadcast(%b) {shape = ["2", "3", "4"]} : (tensor<2x1x4xf32>) -> tensor<2x3x4xf32>
  %r = graph.reshape(%w) {shape = ["6", "4"]} : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %s = graph.contract "mk,nk->mn"(%a, %r) : (tensor<5x4xf32>, tensor<6x4xf32>) -> tensor<5x6xf32>
  func.return %s : tensor<5x6xf32>
}

func.func @reduced(%a: tensor<5x6xf32>, %b: tensor<2x1x4xf32>) -> tensor<5x4xf32> {
  %w = graph.broadcast(%b) {shape = ["2", "3", "4"]} : (tensor<2x1x4xf32>) -> tensor<2x3x4xf32>
  %r = graph.reshape(%w) {shape = ["6", "4"]} : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %s = graph.contract "mk,kn->mn"(%a, %r) : (tensor<5x6xf32>, tensor<6x4xf32>) -> tensor<5x4xf32>
  func.return %s : tensor<5x4xf32>
}

// CHECK:      func.func @columns
// CHECK:      graph.contract "mk,nk->mn"(%a, %r)
// CHECK:      func.func @reduced
// CHECK:      graph.contract "mk,kn->mn"(%a, %r)

// -----

// Keys and values are stored token by token, and each serves two heads: the equations read them where they are.

func.func @of_tokens(%q: tensor<4x1x8xf32>, %k: tensor<7x2x8xf32>) -> tensor<4x1x7xf32> {
  %t = graph.transpose(%k) {perm = array<i64: 1, 0, 2>} : (tensor<7x2x8xf32>) -> tensor<2x7x8xf32>
  %u = graph.reshape(%t) {shape = ["2", "1", "7", "8"]} : (tensor<2x7x8xf32>) -> tensor<2x1x7x8xf32>
  %b = graph.broadcast(%u) {shape = ["2", "2", "7", "8"]} : (tensor<2x1x7x8xf32>) -> tensor<2x2x7x8xf32>
  %r = graph.reshape(%b) {shape = ["4", "7", "8"]} : (tensor<2x2x7x8xf32>) -> tensor<4x7x8xf32>
  %s = graph.contract "bmk,bnk->bmn"(%q, %r) : (tensor<4x1x8xf32>, tensor<4x7x8xf32>) -> tensor<4x1x7xf32>
  func.return %s : tensor<4x1x7xf32>
}

// CHECK:      func.func @of_tokens
// CHECK-NEXT: [[Q:%\w+]] = graph.reshape(%q)
// CHECK-NEXT: graph.contract "{{abmk,nak|bamk,nbk}}->{{abmn|bamn}}"([[Q]], %k)
