// RUN: mlc-opt %s -p 'rematerialize{peak_memory=32768}' | filecheck %s

// Four tensors of 8 KiB are alive at once where %a is computed anew for its last reader, from %h, which is saved for
// %g. It reads that through a barrier, so it does not fuse with the first computation.

func.func @layers(%x: tensor<64x32xf32>, %w: tensor<32x32xf32>) -> tensor<64x32xf32> {
  %h = graph.contract "mk,kn->mn"(%x, %w) {graph.node = ["/h"]} : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %a = graph.map "tanh(x0)"(%h) {graph.node = ["/a"]} : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %b = graph.contract "mk,kn->mn"(%a, %w) {graph.node = ["/b"]} : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %c = graph.contract "mk,kn->mn"(%b, %w) {graph.node = ["/c"]} : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %d = graph.contract "mk,nk->mn"(%c, %w) {graph.node = ["/d"]} : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %e = graph.contract "mk,mn->kn"(%b, %d) {graph.node = ["/e"]} : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<32x32xf32>
  %f = graph.contract "mk,kn->mn"(%a, %e) {graph.node = ["/f"]} : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %g = graph.map "x0 + x1"(%f, %h) {graph.node = ["/g"]} : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  func.return %g : tensor<64x32xf32>
}

// CHECK:      func.func @layers(%x: tensor<64x32xf32>, %w: tensor<32x32xf32>) -> tensor<64x32xf32> {
// CHECK-NEXT: %h = graph.contract "mk,kn->mn"(%x, %w) {graph.node = ["/h"]} : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
// CHECK-NEXT: %a = graph.map "tanh(x0)"(%h) {graph.node = ["/a"]} : (tensor<64x32xf32>) -> tensor<64x32xf32>
// CHECK-NEXT: %b = graph.contract "mk,kn->mn"(%a, %w) {graph.node = ["/b"]} : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
// CHECK-NEXT: %c = graph.contract "mk,kn->mn"(%b, %w) {graph.node = ["/c"]} : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
// CHECK-NEXT: %d = graph.contract "mk,nk->mn"(%c, %w) {graph.node = ["/d"]} : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
// CHECK-NEXT: %e = graph.contract "mk,mn->kn"(%b, %d) {graph.node = ["/e"]} : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<32x32xf32>
// CHECK-NEXT: %0 = graph.reshape(%h) {graph.node = ["/f"], shape = ["64", "32"], barrier} : (tensor<64x32xf32>) -> tensor<64x32xf32>
// CHECK-NEXT: %a_1 = graph.map "tanh(x0)"(%0) {graph.node = ["/a"]} : (tensor<64x32xf32>) -> tensor<64x32xf32>
// CHECK-NEXT: %f = graph.contract "mk,kn->mn"(%a_1, %e) {graph.node = ["/f"]} : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
// CHECK-NEXT: %g = graph.map "x0 + x1"(%f, %h) {graph.node = ["/g"]} : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
// CHECK-NEXT: func.return %g : tensor<64x32xf32>
