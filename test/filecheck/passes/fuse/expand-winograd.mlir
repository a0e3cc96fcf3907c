// RUN: mlc-opt %s --for-target cuda -p 'expand-winograd' | filecheck %s

// A convolution of many products: transforms of tiles in kernels of their own, and 36 products of matrices. What follows
// is computed by the last transform, whichever operand of the map the convolution is.
// CHECK-LABEL: func.func @many
// CHECK:      %[[W:.*]] = graph.weight "w"
// CHECK-NEXT: %[[P:.*]] = graph.pad(%x) {{.*}}high = ["0", "0", "2", "2"]
// CHECK-NEXT: %[[X:.*]] = graph.reshape(%[[P]]) {{.*}}shape = ["32", "128", "18", "18", "1"]
// CHECK-NEXT: %[[R:.*]] = graph.winograd_rows(%[[X]]) {{.*}}m = 4
// CHECK-NEXT: %[[A:.*]] = graph.reshape(%[[R]]) {{.*}}barrier
// CHECK-NEXT: %[[T:.*]] = graph.winograd_input(%[[A]])
// CHECK-NEXT: %[[F:.*]] = graph.reshape(%[[T]]) {{.*}}shape = ["32", "4608", "16"]
// CHECK:      %[[U:.*]] = graph.reshape(%{{.*}}) {{.*}}shape = ["4608", "128", "1"]
// CHECK-NEXT: %[[Q:.*]] = graph.conv(%[[F]], %[[U]]) {{.*}}groups = 36
// CHECK-NEXT: %[[B:.*]] = graph.reshape(%[[Q]]) {{.*}}shape = ["32", "4608", "4", "4", "1"]
// CHECK-NEXT: %[[S:.*]] = graph.winograd_sums(%[[B]]) {{.*}}extents = array<i64: 14, 14>
// CHECK-NEXT: %[[L:.*]] = graph.reshape(%[[S]]) {{.*}}barrier
// CHECK-NEXT: %[[Z:.*]] = graph.reshape(%z) {{.*}}shape = ["32", "128", "14", "14", "1"]
// CHECK-NEXT: %[[Y:.*]] = graph.winograd_output "max((x1 + x0), 0)"(%[[L]], %[[Z]])
// CHECK-NEXT: graph.reshape(%[[Y]]) {{.*}}shape = ["32", "128", "14", "14"]
func.func @many(%x: tensor<32x128x16x16xf32>, %z: tensor<32x128x14x14xf32>) -> tensor<32x128x14x14xf32> {
  %w = graph.weight "w" : tensor<128x128x3x3xf32>
  %y = graph.conv(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<32x128x16x16xf32>, tensor<128x128x3x3xf32>) -> tensor<32x128x14x14xf32>
  %m = graph.map "max(x0 + x1, 0)"(%z, %y) : (tensor<32x128x14x14xf32>, tensor<32x128x14x14xf32>) -> tensor<32x128x14x14xf32>
  func.return %m : tensor<32x128x14x14xf32>
}

// Few products, strides, and weights that are computed: as they are.
// CHECK-LABEL: func.func @others
// CHECK-NOT: winograd
func.func @others(%x: tensor<1x16x16x16xf32>, %a: tensor<32x128x16x16xf32>, %v: tensor<128x128x3x3xf32>) -> (tensor<1x16x14x14xf32>, tensor<32x128x7x7xf32>, tensor<32x128x14x14xf32>) {
  %w = graph.weight "w" : tensor<128x128x3x3xf32>
  %u = graph.weight "u" : tensor<16x16x3x3xf32>
  %0 = graph.conv(%x, %u) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x16x16xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x14x14xf32>
  %1 = graph.conv(%a, %w) {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<32x128x16x16xf32>, tensor<128x128x3x3xf32>) -> tensor<32x128x7x7xf32>
  %2 = graph.conv(%a, %v) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<32x128x16x16xf32>, tensor<128x128x3x3xf32>) -> tensor<32x128x14x14xf32>
  func.return %0, %1, %2 : tensor<1x16x14x14xf32>, tensor<32x128x7x7xf32>, tensor<32x128x14x14xf32>
}
