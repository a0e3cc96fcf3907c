// RUN: mlc-opt %s | mlc-opt | filecheck %s
// RUN: mlc-opt %s --print-op-generic | mlc-opt | filecheck %s

func.func @main(%x: tensor<?x8x9x10xf32, #graph.dims<["n", "8", "9", "10"]>>, %m: tensor<2x8xf32>, %k: tensor<8x5xf32>) -> () {
  %bias = graph.weight "bias" : tensor<8x1x1xf32>
  %w = graph.weight "conv.weight" {graph.node = ["/conv"]} : tensor<16x4x3x2xf32>
  %wb = graph.weight "blocked" : tensor<4x2x3x2x4x4xf32>
  %wd = graph.weight "depthwise" : tensor<2x1x3x2x4xf32>
  %p = graph.weight "panels" : tensor<2x8x4xf32>
  %c = graph.constant dense<[1, 2]> : tensor<2xi64> : tensor<2xi64>
  %map = graph.map "max((x0 + x1), 0)"(%x, %bias) {graph.node = ["/add", "/relu"]} : (tensor<?x8x9x10xf32, #graph.dims<["n", "8", "9", "10"]>>, tensor<8x1x1xf32>) -> tensor<?x8x9x10xf32, #graph.dims<["n", "8", "9", "10"]>>
  %contract = graph.contract "mk,kn->mn"(%m, %k) : (tensor<2x8xf32>, tensor<8x5xf32>) -> tensor<2x5xf32>
  %packed = graph.contract "mk,kn->mn"(%m, %p) {layouts = [#graph.layout<"ab">, #graph.layout<"Ba4b", padding = [2]>, #graph.layout<"ab">]} : (tensor<2x8xf32>, tensor<2x8x4xf32>) -> tensor<2x6xf32>
  %conv = graph.conv(%x, %w) {strides = array<i64: 2, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<?x8x9x10xf32, #graph.dims<["n", "8", "9", "10"]>>, tensor<16x4x3x2xf32>) -> tensor<?x16x4x9xf32, #graph.dims<["n", "16", "4", "9"]>>
  %split = graph.reshape(%x) {shape = ["n", "2", "4", "9", "10"]} : (tensor<?x8x9x10xf32, #graph.dims<["n", "8", "9", "10"]>>) -> tensor<?x2x4x9x10xf32, #graph.dims<["n", "2", "4", "9", "10"]>>
  %blocks = graph.transpose(%split) {perm = array<i64: 0, 1, 3, 4, 2>} : (tensor<?x2x4x9x10xf32, #graph.dims<["n", "2", "4", "9", "10"]>>) -> tensor<?x2x9x10x4xf32, #graph.dims<["n", "2", "9", "10", "4"]>>
  %blocked = graph.conv(%blocks, %wb) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, layouts = [#graph.layout<"aBcd4b">, #graph.layout<"ABcd4b4a">, #graph.layout<"aBcd4b">]} : (tensor<?x2x9x10x4xf32, #graph.dims<["n", "2", "9", "10", "4"]>>, tensor<4x2x3x2x4x4xf32>) -> tensor<?x4x7x9x4xf32, #graph.dims<["n", "4", "7", "9", "4"]>>
  %depthwise = graph.conv(%blocks, %wd) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 8 : i64, layouts = [#graph.layout<"aBcd4b">, #graph.layout<"Abcd4a">, #graph.layout<"aBcd4b">]} : (tensor<?x2x9x10x4xf32, #graph.dims<["n", "2", "9", "10", "4"]>>, tensor<2x1x3x2x4xf32>) -> tensor<?x2x7x9x4xf32, #graph.dims<["n", "2", "7", "9", "4"]>>
  %reduce = graph.reduce "add"(%x) {axes = array<i64: 2, 3>, keepdims = true} : (tensor<?x8x9x10xf32, #graph.dims<["n", "8", "9", "10"]>>) -> tensor<?x8x1x1xf32, #graph.dims<["n", "8", "1", "1"]>>
  %pool = graph.pool "max"(%x) {kernel = array<i64: 3, 2>, strides = array<i64: 2, 1>, dilations = array<i64: 1, 1>} : (tensor<?x8x9x10xf32, #graph.dims<["n", "8", "9", "10"]>>) -> tensor<?x8x4x9xf32, #graph.dims<["n", "8", "4", "9"]>>
  %broadcast = graph.broadcast(%m) {shape = ["n", "2", "8"]} : (tensor<2x8xf32>) -> tensor<?x2x8xf32, #graph.dims<["n", "2", "8"]>>
  %slice = graph.slice(%m) {starts = ["0", "7"], sizes = ["2", "4"], steps = array<i64: 1, -2>} : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %pad = graph.pad(%m) {low = ["0", "1"], high = ["2", "0"], interior = array<i64: 0, 1>, value = "-inf"} : (tensor<2x8xf32>) -> tensor<4x16xf32>
  %concat = graph.concat(%m, %m) {axis = 1 : i64} : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x16xf32>
  %gather = graph.compute "x0[x1[i0], i1]"(%k, %c) {shape = ["2", "5"], reduce = []} : (tensor<8x5xf32>, tensor<2xi64>) -> tensor<2x5xf32>
  %sum = graph.compute "x0[i0, r0]"(%m) {shape = ["2"], reduce = ["8"], monoid = "add"} : (tensor<2x8xf32>) -> tensor<2xf32>
  func.return
}

// CHECK:      func.func @main(%x: tensor<?x8x9x10xf32, #graph.dims<["n", "8", "9", "10"]>>, %m: tensor<2x8xf32>, %k: tensor<8x5xf32>) {
// CHECK-NEXT: %bias = graph.weight "bias" : tensor<8x1x1xf32>
// CHECK-NEXT: %w = graph.weight "conv.weight" {graph.node = ["/conv"]} : tensor<16x4x3x2xf32>
// CHECK-NEXT: %wb = graph.weight "blocked" : tensor<4x2x3x2x4x4xf32>
// CHECK-NEXT: %wd = graph.weight "depthwise" : tensor<2x1x3x2x4xf32>
// CHECK-NEXT: %p = graph.weight "panels" : tensor<2x8x4xf32>
// CHECK-NEXT: %c = graph.constant dense<[1, 2]> : tensor<2xi64> : tensor<2xi64>
// CHECK-NEXT: %map = graph.map "max((x0 + x1), 0)"(%x, %bias) {graph.node = ["/add", "/relu"]} : (tensor<?x8x9x10xf32, #graph.dims<["n", "8", "9", "10"]>>, tensor<8x1x1xf32>) -> tensor<?x8x9x10xf32, #graph.dims<["n", "8", "9", "10"]>>
// CHECK-NEXT: %contract = graph.contract "mk,kn->mn"(%m, %k) : (tensor<2x8xf32>, tensor<8x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: %packed = graph.contract "mk,kn->mn"(%m, %p) {layouts = [#graph.layout<"ab">, #graph.layout<"Ba4b", padding = [2]>, #graph.layout<"ab">]} : (tensor<2x8xf32>, tensor<2x8x4xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %conv = graph.conv(%x, %w) {strides = array<i64: 2, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<?x8x9x10xf32, #graph.dims<["n", "8", "9", "10"]>>, tensor<16x4x3x2xf32>) -> tensor<?x16x4x9xf32, #graph.dims<["n", "16", "4", "9"]>>
// CHECK-NEXT: %split = graph.reshape(%x) {shape = ["n", "2", "4", "9", "10"]} : (tensor<?x8x9x10xf32, #graph.dims<["n", "8", "9", "10"]>>) -> tensor<?x2x4x9x10xf32, #graph.dims<["n", "2", "4", "9", "10"]>>
// CHECK-NEXT: %blocks = graph.transpose(%split) {perm = array<i64: 0, 1, 3, 4, 2>} : (tensor<?x2x4x9x10xf32, #graph.dims<["n", "2", "4", "9", "10"]>>) -> tensor<?x2x9x10x4xf32, #graph.dims<["n", "2", "9", "10", "4"]>>
// CHECK-NEXT: %blocked = graph.conv(%blocks, %wb) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, layouts = [#graph.layout<"aBcd4b">, #graph.layout<"ABcd4b4a">, #graph.layout<"aBcd4b">]} : (tensor<?x2x9x10x4xf32, #graph.dims<["n", "2", "9", "10", "4"]>>, tensor<4x2x3x2x4x4xf32>) -> tensor<?x4x7x9x4xf32, #graph.dims<["n", "4", "7", "9", "4"]>>
// CHECK-NEXT: %depthwise = graph.conv(%blocks, %wd) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 8 : i64, layouts = [#graph.layout<"aBcd4b">, #graph.layout<"Abcd4a">, #graph.layout<"aBcd4b">]} : (tensor<?x2x9x10x4xf32, #graph.dims<["n", "2", "9", "10", "4"]>>, tensor<2x1x3x2x4xf32>) -> tensor<?x2x7x9x4xf32, #graph.dims<["n", "2", "7", "9", "4"]>>
// CHECK-NEXT: %reduce = graph.reduce "add"(%x) {axes = array<i64: 2, 3>, keepdims = true} : (tensor<?x8x9x10xf32, #graph.dims<["n", "8", "9", "10"]>>) -> tensor<?x8x1x1xf32, #graph.dims<["n", "8", "1", "1"]>>
// CHECK-NEXT: %pool = graph.pool "max"(%x) {kernel = array<i64: 3, 2>, strides = array<i64: 2, 1>, dilations = array<i64: 1, 1>} : (tensor<?x8x9x10xf32, #graph.dims<["n", "8", "9", "10"]>>) -> tensor<?x8x4x9xf32, #graph.dims<["n", "8", "4", "9"]>>
// CHECK-NEXT: %broadcast = graph.broadcast(%m) {shape = ["n", "2", "8"]} : (tensor<2x8xf32>) -> tensor<?x2x8xf32, #graph.dims<["n", "2", "8"]>>
// CHECK-NEXT: %slice = graph.slice(%m) {starts = ["0", "7"], sizes = ["2", "4"], steps = array<i64: 1, -2>} : (tensor<2x8xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: %pad = graph.pad(%m) {low = ["0", "1"], high = ["2", "0"], interior = array<i64: 0, 1>, value = "-inf"} : (tensor<2x8xf32>) -> tensor<4x16xf32>
// CHECK-NEXT: %concat = graph.concat(%m, %m) {axis = 1 : i64} : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x16xf32>
// CHECK-NEXT: %gather = graph.compute "x0[x1[i0], i1]"(%k, %c) {shape = ["2", "5"], reduce = []} : (tensor<8x5xf32>, tensor<2xi64>) -> tensor<2x5xf32>
// CHECK-NEXT: %sum = graph.compute "x0[i0, r0]"(%m) {shape = ["2"], reduce = ["8"], monoid = "add"} : (tensor<2x8xf32>) -> tensor<2xf32>
// CHECK-NEXT: func.return
