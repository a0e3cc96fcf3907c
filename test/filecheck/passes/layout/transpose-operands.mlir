// RUN: mlc-opt %s -p transpose-operands --split-input-file | filecheck %s

func.func @main(%q: tensor<2x4x33x64xf32>, %k: tensor<2x77x4x64xf32>) -> tensor<2x4x33x77xf32> {
  %0 = graph.contract "bhsd,bthd->bhst"(%q, %k) {graph.node = ["/scores"]} : (tensor<2x4x33x64xf32>, tensor<2x77x4x64xf32>) -> tensor<2x4x33x77xf32>
  func.return %0 : tensor<2x4x33x77xf32>
}

// CHECK:      %[[T:.*]] = graph.transpose(%k) {graph.node = ["/scores"], perm = array<i64: 0, 2, 3, 1>} : (tensor<2x77x4x64xf32>) -> tensor<2x4x64x77xf32>
// CHECK-NEXT: graph.contract "bhsd,bhdt->bhst"(%q, %[[T]]) {graph.node = ["/scores"]}

// -----

// One query sums along the contiguous axis, a product that is not batched is packed, and this one is contiguous already.

func.func @main(%q: tensor<2x4x1x64xf32>, %k: tensor<2x77x4x64xf32>, %a: tensor<33x64xf32>, %b: tensor<77x64xf32>, %c: tensor<2x33x64xf32>, %d: tensor<2x64x9xf32>) -> (tensor<2x4x1x77xf32>, tensor<33x77xf32>, tensor<2x33x9xf32>) {
  %0 = graph.contract "bhsd,bthd->bhst"(%q, %k) : (tensor<2x4x1x64xf32>, tensor<2x77x4x64xf32>) -> tensor<2x4x1x77xf32>
  %1 = graph.contract "mk,nk->mn"(%a, %b) : (tensor<33x64xf32>, tensor<77x64xf32>) -> tensor<33x77xf32>
  %2 = graph.contract "bmk,bkn->bmn"(%c, %d) : (tensor<2x33x64xf32>, tensor<2x64x9xf32>) -> tensor<2x33x9xf32>
  func.return %0, %1, %2 : tensor<2x4x1x77xf32>, tensor<33x77xf32>, tensor<2x33x9xf32>
}

// CHECK:      func.func @main
// CHECK-NOT:  graph.transpose
// CHECK:      func.return
