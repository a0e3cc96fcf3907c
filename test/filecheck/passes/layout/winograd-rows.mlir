// RUN: mlc-opt %s -p 'winograd{gain=0.0}' --split-input-file | filecheck %s
// RUN: mlc-opt %s --for-target x86-64-v4:l2=2K -p 'winograd{gain=0.0}' --split-input-file | filecheck %s --check-prefix SMALL

// 8 rows of whole tiles, and a row that fits: the products keep the dimension of rows. Else a reshape makes one of rows and columns.

func.func @fits(%x: tensor<1x1x34x10x4xf32>) -> tensor<1x2x32x8x4xf32> {
  %w = graph.weight "w" : tensor<2x1x3x3x4x4xf32>
  %0 = graph.conv(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, layouts = [#graph.layout<"aBcd4b">, #graph.layout<"ABcd4b4a">, #graph.layout<"aBcd4b">]} : (tensor<1x1x34x10x4xf32>, tensor<2x1x3x3x4x4xf32>) -> tensor<1x2x32x8x4xf32>
  func.return %0 : tensor<1x2x32x8x4xf32>
}

// CHECK:      func.func @fits
// CHECK:      graph.winograd_input({{%\w+}}) {m = 4 : i64} : (tensor<1x1x8x6x10x4xf32>) -> tensor<1x36x8x2x4xf32>
// CHECK:      graph.reshape({{%\w+}}) {shape = ["72", "1", "1", "1", "4", "4"]}
// CHECK-NEXT: graph.conv({{.*}}) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 36 : i64, layouts = [#graph.layout<"aBcd4b">, #graph.layout<"ABcd4b4a">, #graph.layout<"aBcd4b">]} : (tensor<1x36x8x2x4xf32>, tensor<72x1x1x1x4x4xf32>) -> tensor<1x72x8x2x4xf32>
// CHECK-NEXT: graph.winograd_sums({{.*}} : (tensor<1x72x8x2x4xf32>) -> tensor<1x2x8x4x2x6x4xf32>
// SMALL:      func.func @fits
// SMALL:      [[TILES:%\w+]] = graph.winograd_input({{%\w+}}) {m = 4 : i64} : (tensor<1x1x8x6x10x4xf32>) -> tensor<1x36x8x2x4xf32>
// SMALL-NEXT: [[FLAT:%\w+]] = graph.reshape([[TILES]]) {shape = ["1", "36", "16", "4"]}
// SMALL:      [[PRODUCTS:%\w+]] = graph.conv([[FLAT]], {{.*}} -> tensor<1x72x16x4xf32>
// SMALL-NEXT: [[BACK:%\w+]] = graph.reshape([[PRODUCTS]]) {shape = ["1", "72", "8", "2", "4"]}
// SMALL-NEXT: graph.winograd_sums([[BACK]])

// -----

// Two images, whose rows are blocks as well.

func.func @images(%x: tensor<2x1x34x10x4xf32>) -> tensor<2x2x32x8x4xf32> {
  %w = graph.weight "w" : tensor<2x1x3x3x4x4xf32>
  %0 = graph.conv(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, layouts = [#graph.layout<"aBcd4b">, #graph.layout<"ABcd4b4a">, #graph.layout<"aBcd4b">]} : (tensor<2x1x34x10x4xf32>, tensor<2x1x3x3x4x4xf32>) -> tensor<2x2x32x8x4xf32>
  func.return %0 : tensor<2x2x32x8x4xf32>
}

// CHECK:      func.func @images
// CHECK:      graph.winograd_input({{%\w+}}) {m = 4 : i64} : (tensor<2x1x8x6x10x4xf32>) -> tensor<2x36x8x2x4xf32>
// CHECK:      graph.reshape({{%\w+}}) {shape = ["72", "1", "1", "1", "4", "4"]}
// CHECK-NEXT: graph.conv({{.*}} -> tensor<2x72x8x2x4xf32>
// SMALL:      func.func @images

// -----

// Seven rows of tiles are too few for threads to divide.

func.func @rows(%x: tensor<1x1x30x10x4xf32>) -> tensor<1x2x28x8x4xf32> {
  %w = graph.weight "w" : tensor<2x1x3x3x4x4xf32>
  %0 = graph.conv(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, layouts = [#graph.layout<"aBcd4b">, #graph.layout<"ABcd4b4a">, #graph.layout<"aBcd4b">]} : (tensor<1x1x30x10x4xf32>, tensor<2x1x3x3x4x4xf32>) -> tensor<1x2x28x8x4xf32>
  func.return %0 : tensor<1x2x28x8x4xf32>
}

// CHECK:      func.func @rows
// CHECK:      [[TILES:%\w+]] = graph.winograd_input({{%\w+}}) {m = 4 : i64} :
// CHECK-NEXT: graph.reshape([[TILES]])
// SMALL:      func.func @rows

// -----

// A last row of tiles that is cut.

func.func @cut_rows(%x: tensor<1x1x36x10x4xf32>) -> tensor<1x2x34x8x4xf32> {
  %w = graph.weight "w" : tensor<2x1x3x3x4x4xf32>
  %0 = graph.conv(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, layouts = [#graph.layout<"aBcd4b">, #graph.layout<"ABcd4b4a">, #graph.layout<"aBcd4b">]} : (tensor<1x1x36x10x4xf32>, tensor<2x1x3x3x4x4xf32>) -> tensor<1x2x34x8x4xf32>
  func.return %0 : tensor<1x2x34x8x4xf32>
}

// CHECK:      func.func @cut_rows
// CHECK:      [[TILES:%\w+]] = graph.winograd_input({{%\w+}}) {m = 4 : i64} :
// CHECK-NEXT: graph.reshape([[TILES]])
// SMALL:      func.func @cut_rows

// -----

// A last column of tiles that is cut.

func.func @cut_columns(%x: tensor<1x1x34x11x4xf32>) -> tensor<1x2x32x9x4xf32> {
  %w = graph.weight "w" : tensor<2x1x3x3x4x4xf32>
  %0 = graph.conv(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, layouts = [#graph.layout<"aBcd4b">, #graph.layout<"ABcd4b4a">, #graph.layout<"aBcd4b">]} : (tensor<1x1x34x11x4xf32>, tensor<2x1x3x3x4x4xf32>) -> tensor<1x2x32x9x4xf32>
  func.return %0 : tensor<1x2x32x9x4xf32>
}

// CHECK:      func.func @cut_columns
// CHECK:      [[TILES:%\w+]] = graph.winograd_input({{%\w+}}) {m = 4 : i64} :
// CHECK-NEXT: graph.reshape([[TILES]])
// SMALL:      func.func @cut_columns
