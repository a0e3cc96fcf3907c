// RUN: mlc-opt %s -p form-kernels --for-target x86-64-v3 --split-input-file | filecheck %s

// Products around something else than a softmax of rows are two kernels or more. Summed along the rows:
func.func @columns(%q: tensor<4x16x4xf32>, %k: tensor<4x4x16xf32>, %v: tensor<4x16x6xf32>) -> tensor<4x16x6xf32> {
  %0 = graph.contract "bmk,bkn->bmn"(%q, %k) : (tensor<4x16x4xf32>, tensor<4x4x16xf32>) -> tensor<4x16x16xf32>
  %1 = graph.reduce "max"(%0) {axes = array<i64: 2>, keepdims = true} : (tensor<4x16x16xf32>) -> tensor<4x16x1xf32>
  %2 = graph.map "exp(x0 - x1)"(%0, %1) : (tensor<4x16x16xf32>, tensor<4x16x1xf32>) -> tensor<4x16x16xf32>
  %3 = graph.contract "bmn,bmd->bnd"(%2, %v) : (tensor<4x16x16xf32>, tensor<4x16x6xf32>) -> tensor<4x16x6xf32>
  func.return %3 : tensor<4x16x6xf32>
}

// CHECK:      func.func @columns(%q: tensor<4x16x4xf32>, %k: tensor<4x4x16xf32>, %v: tensor<4x16x6xf32>) -> tensor<4x16x6xf32> {
// CHECK-NEXT: %0 = kernel.call @contract_0(%q, %k) : (tensor<4x16x4xf32>, tensor<4x4x16xf32>) -> tensor<4x16x16xf32>
// CHECK-NEXT: %1 = kernel.call @reduce_1(%0) : (tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
// CHECK-NEXT: %2 = kernel.call @contract_2(%1, %v) : (tensor<4x16x16xf32>, tensor<4x16x6xf32>) -> tensor<4x16x6xf32>
// CHECK-NEXT: func.return %2 : tensor<4x16x6xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @contract_0(%q: tensor<4x16x4xf32>, %k: tensor<4x4x16xf32>) -> tensor<4x16x16xf32> {
// CHECK-NEXT: %0 = graph.contract "bmk,bkn->bmn"(%q, %k) : (tensor<4x16x4xf32>, tensor<4x4x16xf32>) -> tensor<4x16x16xf32>
// CHECK-NEXT: kernel.return %0 : tensor<4x16x16xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @reduce_1(%0: tensor<4x16x16xf32>) -> tensor<4x16x16xf32> {
// CHECK-NEXT: %1 = graph.reduce "max"(%0) {axes = array<i64: 2>, keepdims = true} : (tensor<4x16x16xf32>) -> tensor<4x16x1xf32>
// CHECK-NEXT: %2 = graph.map "exp(x0 - x1)"(%0, %1) : (tensor<4x16x16xf32>, tensor<4x16x1xf32>) -> tensor<4x16x16xf32>
// CHECK-NEXT: kernel.return %2 : tensor<4x16x16xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @contract_2(%0: tensor<4x16x16xf32>, %v: tensor<4x16x6xf32>) -> tensor<4x16x6xf32> {
// CHECK-NEXT: %1 = graph.contract "bmn,bmd->bnd"(%0, %v) : (tensor<4x16x16xf32>, tensor<4x16x6xf32>) -> tensor<4x16x6xf32>
// CHECK-NEXT: kernel.return %1 : tensor<4x16x6xf32>

// -----

// Normalized along the other axis:
func.func @other_axis(%q: tensor<4x16x4xf32>, %k: tensor<4x4x16xf32>, %v: tensor<4x16x6xf32>) -> tensor<4x16x6xf32> {
  %0 = graph.contract "bmk,bkn->bmn"(%q, %k) : (tensor<4x16x4xf32>, tensor<4x4x16xf32>) -> tensor<4x16x16xf32>
  %1 = graph.reduce "max"(%0) {axes = array<i64: 1>, keepdims = true} : (tensor<4x16x16xf32>) -> tensor<4x1x16xf32>
  %2 = graph.map "exp(x0 - x1)"(%0, %1) : (tensor<4x16x16xf32>, tensor<4x1x16xf32>) -> tensor<4x16x16xf32>
  %3 = graph.contract "bmn,bnd->bmd"(%2, %v) : (tensor<4x16x16xf32>, tensor<4x16x6xf32>) -> tensor<4x16x6xf32>
  func.return %3 : tensor<4x16x6xf32>
}

// CHECK:      func.func @other_axis(%q: tensor<4x16x4xf32>, %k: tensor<4x4x16xf32>, %v: tensor<4x16x6xf32>) -> tensor<4x16x6xf32> {
// CHECK-NEXT: %0 = kernel.call @contract_0(%q, %k) : (tensor<4x16x4xf32>, tensor<4x4x16xf32>) -> tensor<4x16x16xf32>
// CHECK-NEXT: %1 = kernel.call @reduce_1(%0) : (tensor<4x16x16xf32>) -> tensor<4x1x16xf32>
// CHECK-NEXT: %2 = kernel.call @map_2(%0, %1) : (tensor<4x16x16xf32>, tensor<4x1x16xf32>) -> tensor<4x16x16xf32>
// CHECK-NEXT: %3 = kernel.call @contract_3(%2, %v) : (tensor<4x16x16xf32>, tensor<4x16x6xf32>) -> tensor<4x16x6xf32>
// CHECK-NEXT: func.return %3 : tensor<4x16x6xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @contract_0(%q: tensor<4x16x4xf32>, %k: tensor<4x4x16xf32>) -> tensor<4x16x16xf32> {
// CHECK-NEXT: %0 = graph.contract "bmk,bkn->bmn"(%q, %k) : (tensor<4x16x4xf32>, tensor<4x4x16xf32>) -> tensor<4x16x16xf32>
// CHECK-NEXT: kernel.return %0 : tensor<4x16x16xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @reduce_1(%0: tensor<4x16x16xf32>) -> tensor<4x1x16xf32> {
// CHECK-NEXT: %1 = graph.reduce "max"(%0) {axes = array<i64: 1>, keepdims = true} : (tensor<4x16x16xf32>) -> tensor<4x1x16xf32>
// CHECK-NEXT: kernel.return %1 : tensor<4x1x16xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @map_2(%0: tensor<4x16x16xf32>, %1: tensor<4x1x16xf32>) -> tensor<4x16x16xf32> {
// CHECK-NEXT: %2 = graph.map "exp(x0 - x1)"(%0, %1) : (tensor<4x16x16xf32>, tensor<4x1x16xf32>) -> tensor<4x16x16xf32>
// CHECK-NEXT: kernel.return %2 : tensor<4x16x16xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @contract_3(%0: tensor<4x16x16xf32>, %v: tensor<4x16x6xf32>) -> tensor<4x16x6xf32> {
// CHECK-NEXT: %1 = graph.contract "bmn,bnd->bmd"(%0, %v) : (tensor<4x16x16xf32>, tensor<4x16x6xf32>) -> tensor<4x16x6xf32>
// CHECK-NEXT: kernel.return %1 : tensor<4x16x6xf32>

// -----

// The scores on both sides:
func.func @squared(%q: tensor<4x16x4xf32>, %k: tensor<4x4x16xf32>) -> tensor<4x16x16xf32> {
  %0 = graph.contract "bmk,bkn->bmn"(%q, %k) : (tensor<4x16x4xf32>, tensor<4x4x16xf32>) -> tensor<4x16x16xf32>
  %1 = graph.reduce "max"(%0) {axes = array<i64: 2>, keepdims = true} : (tensor<4x16x16xf32>) -> tensor<4x16x1xf32>
  %2 = graph.map "exp(x0 - x1)"(%0, %1) : (tensor<4x16x16xf32>, tensor<4x16x1xf32>) -> tensor<4x16x16xf32>
  %3 = graph.contract "bmn,bnd->bmd"(%2, %0) : (tensor<4x16x16xf32>, tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
  func.return %3 : tensor<4x16x16xf32>
}

// CHECK:      func.func @squared(%q: tensor<4x16x4xf32>, %k: tensor<4x4x16xf32>) -> tensor<4x16x16xf32> {
// CHECK-NEXT: %0 = kernel.call @contract_0(%q, %k) : (tensor<4x16x4xf32>, tensor<4x4x16xf32>) -> tensor<4x16x16xf32>
// CHECK-NEXT: %1 = kernel.call @reduce_1(%0) : (tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
// CHECK-NEXT: %2 = kernel.call @contract_2(%1, %0) : (tensor<4x16x16xf32>, tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
// CHECK-NEXT: func.return %2 : tensor<4x16x16xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @contract_0(%q: tensor<4x16x4xf32>, %k: tensor<4x4x16xf32>) -> tensor<4x16x16xf32> {
// CHECK-NEXT: %0 = graph.contract "bmk,bkn->bmn"(%q, %k) : (tensor<4x16x4xf32>, tensor<4x4x16xf32>) -> tensor<4x16x16xf32>
// CHECK-NEXT: kernel.return %0 : tensor<4x16x16xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @reduce_1(%0: tensor<4x16x16xf32>) -> tensor<4x16x16xf32> {
// CHECK-NEXT: %1 = graph.reduce "max"(%0) {axes = array<i64: 2>, keepdims = true} : (tensor<4x16x16xf32>) -> tensor<4x16x1xf32>
// CHECK-NEXT: %2 = graph.map "exp(x0 - x1)"(%0, %1) : (tensor<4x16x16xf32>, tensor<4x16x1xf32>) -> tensor<4x16x16xf32>
// CHECK-NEXT: kernel.return %2 : tensor<4x16x16xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @contract_2(%0: tensor<4x16x16xf32>, %1: tensor<4x16x16xf32>) -> tensor<4x16x16xf32> {
// CHECK-NEXT: %2 = graph.contract "bmn,bnd->bmd"(%0, %1) : (tensor<4x16x16xf32>, tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
// CHECK-NEXT: kernel.return %2 : tensor<4x16x16xf32>

// -----

// No normalization; and two products of the rows:
func.func @plain(%q: tensor<4x16x4xf32>, %k: tensor<4x4x16xf32>, %v: tensor<4x16x6xf32>) -> tensor<4x16x6xf32> {
  %0 = graph.contract "bmk,bkn->bmn"(%q, %k) : (tensor<4x16x4xf32>, tensor<4x4x16xf32>) -> tensor<4x16x16xf32>
  %1 = graph.map "exp(x0)"(%0) : (tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
  %2 = graph.contract "bmn,bnd->bmd"(%1, %v) : (tensor<4x16x16xf32>, tensor<4x16x6xf32>) -> tensor<4x16x6xf32>
  func.return %2 : tensor<4x16x6xf32>
}

// CHECK:      func.func @plain(%q: tensor<4x16x4xf32>, %k: tensor<4x4x16xf32>, %v: tensor<4x16x6xf32>) -> tensor<4x16x6xf32> {
// CHECK-NEXT: %0 = kernel.call @contract_0(%q, %k) : (tensor<4x16x4xf32>, tensor<4x4x16xf32>) -> tensor<4x16x16xf32>
// CHECK-NEXT: %1 = kernel.call @contract_1(%0, %v) : (tensor<4x16x16xf32>, tensor<4x16x6xf32>) -> tensor<4x16x6xf32>
// CHECK-NEXT: func.return %1 : tensor<4x16x6xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @contract_0(%q: tensor<4x16x4xf32>, %k: tensor<4x4x16xf32>) -> tensor<4x16x16xf32> {
// CHECK-NEXT: %0 = graph.contract "bmk,bkn->bmn"(%q, %k) : (tensor<4x16x4xf32>, tensor<4x4x16xf32>) -> tensor<4x16x16xf32>
// CHECK-NEXT: %1 = graph.map "exp(x0)"(%0) : (tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
// CHECK-NEXT: kernel.return %1 : tensor<4x16x16xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @contract_1(%0: tensor<4x16x16xf32>, %v: tensor<4x16x6xf32>) -> tensor<4x16x6xf32> {
// CHECK-NEXT: %1 = graph.contract "bmn,bnd->bmd"(%0, %v) : (tensor<4x16x16xf32>, tensor<4x16x6xf32>) -> tensor<4x16x6xf32>
// CHECK-NEXT: kernel.return %1 : tensor<4x16x6xf32>

// -----

func.func @two(%q: tensor<4x16x4xf32>, %k: tensor<4x4x16xf32>, %v: tensor<4x16x6xf32>) -> (tensor<4x16x6xf32>, tensor<4x16x6xf32>) {
  %0 = graph.contract "bmk,bkn->bmn"(%q, %k) : (tensor<4x16x4xf32>, tensor<4x4x16xf32>) -> tensor<4x16x16xf32>
  %1 = graph.reduce "max"(%0) {axes = array<i64: 2>, keepdims = true} : (tensor<4x16x16xf32>) -> tensor<4x16x1xf32>
  %2 = graph.map "exp(x0 - x1)"(%0, %1) : (tensor<4x16x16xf32>, tensor<4x16x1xf32>) -> tensor<4x16x16xf32>
  %3 = graph.contract "bmn,bnd->bmd"(%2, %v) : (tensor<4x16x16xf32>, tensor<4x16x6xf32>) -> tensor<4x16x6xf32>
  %4 = graph.contract "bmn,bnd->bmd"(%2, %v) : (tensor<4x16x16xf32>, tensor<4x16x6xf32>) -> tensor<4x16x6xf32>
  func.return %3, %4 : tensor<4x16x6xf32>, tensor<4x16x6xf32>
}

// CHECK:      func.func @two(%q: tensor<4x16x4xf32>, %k: tensor<4x4x16xf32>, %v: tensor<4x16x6xf32>) -> (tensor<4x16x6xf32>, tensor<4x16x6xf32>) {
// CHECK-NEXT: %0 = kernel.call @contract_0(%q, %k) : (tensor<4x16x4xf32>, tensor<4x4x16xf32>) -> tensor<4x16x16xf32>
// CHECK-NEXT: %1 = kernel.call @reduce_1(%0) : (tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
// CHECK-NEXT: %2 = kernel.call @contract_2(%1, %v) : (tensor<4x16x16xf32>, tensor<4x16x6xf32>) -> tensor<4x16x6xf32>
// CHECK-NEXT: %3 = kernel.call @contract_3(%1, %v) : (tensor<4x16x16xf32>, tensor<4x16x6xf32>) -> tensor<4x16x6xf32>
// CHECK-NEXT: func.return %2, %3 : tensor<4x16x6xf32>, tensor<4x16x6xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @contract_0(%q: tensor<4x16x4xf32>, %k: tensor<4x4x16xf32>) -> tensor<4x16x16xf32> {
// CHECK-NEXT: %0 = graph.contract "bmk,bkn->bmn"(%q, %k) : (tensor<4x16x4xf32>, tensor<4x4x16xf32>) -> tensor<4x16x16xf32>
// CHECK-NEXT: kernel.return %0 : tensor<4x16x16xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @reduce_1(%0: tensor<4x16x16xf32>) -> tensor<4x16x16xf32> {
// CHECK-NEXT: %1 = graph.reduce "max"(%0) {axes = array<i64: 2>, keepdims = true} : (tensor<4x16x16xf32>) -> tensor<4x16x1xf32>
// CHECK-NEXT: %2 = graph.map "exp(x0 - x1)"(%0, %1) : (tensor<4x16x16xf32>, tensor<4x16x1xf32>) -> tensor<4x16x16xf32>
// CHECK-NEXT: kernel.return %2 : tensor<4x16x16xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @contract_2(%0: tensor<4x16x16xf32>, %v: tensor<4x16x6xf32>) -> tensor<4x16x6xf32> {
// CHECK-NEXT: %1 = graph.contract "bmn,bnd->bmd"(%0, %v) : (tensor<4x16x16xf32>, tensor<4x16x6xf32>) -> tensor<4x16x6xf32>
// CHECK-NEXT: kernel.return %1 : tensor<4x16x6xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @contract_3(%0: tensor<4x16x16xf32>, %v: tensor<4x16x6xf32>) -> tensor<4x16x6xf32> {
// CHECK-NEXT: %1 = graph.contract "bmn,bnd->bmd"(%0, %v) : (tensor<4x16x16xf32>, tensor<4x16x6xf32>) -> tensor<4x16x6xf32>
// CHECK-NEXT: kernel.return %1 : tensor<4x16x6xf32>
