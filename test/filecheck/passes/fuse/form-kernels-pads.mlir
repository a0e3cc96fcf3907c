// RUN: mlc-opt %s -p form-kernels --split-input-file | filecheck %s

// Zeros between the elements, or before an unknown number of rows: the padding is a kernel of its own.
func.func @between(%a: tensor<3x4xf32>, %b: tensor<4x5xf32>) -> tensor<5x5xf32> {
  %0 = graph.contract "mk,kn->mn"(%a, %b) : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  %1 = graph.pad(%0) {low = ["0", "0"], high = ["0", "0"], interior = array<i64: 1, 0>, value = "0"} : (tensor<3x5xf32>) -> tensor<5x5xf32>
  func.return %1 : tensor<5x5xf32>
}

// CHECK:      func.func @between(%a: tensor<3x4xf32>, %b: tensor<4x5xf32>) -> tensor<5x5xf32> {
// CHECK-NEXT: %0 = kernel.call @contract_0(%a, %b) : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: %1 = kernel.call @pad_1(%0) : (tensor<3x5xf32>) -> tensor<5x5xf32>
// CHECK-NEXT: func.return %1 : tensor<5x5xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @contract_0(%a: tensor<3x4xf32>, %b: tensor<4x5xf32>) -> tensor<3x5xf32> {
// CHECK-NEXT: %0 = graph.contract "mk,kn->mn"(%a, %b) : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: kernel.return %0 : tensor<3x5xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @pad_1(%0: tensor<3x5xf32>) -> tensor<5x5xf32> {
// CHECK-NEXT: %1 = graph.pad(%0) {low = ["0", "0"], high = ["0", "0"], interior = array<i64: 1, 0>, value = "0"} : (tensor<3x5xf32>) -> tensor<5x5xf32>
// CHECK-NEXT: kernel.return %1 : tensor<5x5xf32>

// -----

func.func @unknown(%a: tensor<3x4xf32>, %b: tensor<4x5xf32>, %n: tensor<?xf32, #graph.dims<["n"]>>) -> tensor<?x5xf32, #graph.dims<["n+3", "5"]>> {
  %0 = graph.contract "mk,kn->mn"(%a, %b) : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  %1 = graph.pad(%0) {low = ["n", "0"], high = ["0", "0"], interior = array<i64: 0, 0>, value = "0"} : (tensor<3x5xf32>) -> tensor<?x5xf32, #graph.dims<["n+3", "5"]>>
  func.return %1 : tensor<?x5xf32, #graph.dims<["n+3", "5"]>>
}

// CHECK:      func.func @unknown(%a: tensor<3x4xf32>, %b: tensor<4x5xf32>, %n: tensor<?xf32, #graph.dims<["n"]>>) -> tensor<?x5xf32, #graph.dims<["n+3", "5"]>> {
// CHECK-NEXT: %0 = kernel.call @contract_0(%a, %b) : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: %1 = kernel.call @pad_1(%0) : (tensor<3x5xf32>) -> tensor<?x5xf32, #graph.dims<["n+3", "5"]>>
// CHECK-NEXT: func.return %1 : tensor<?x5xf32, #graph.dims<["n+3", "5"]>>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @contract_0(%a: tensor<3x4xf32>, %b: tensor<4x5xf32>) -> tensor<3x5xf32> {
// CHECK-NEXT: %0 = graph.contract "mk,kn->mn"(%a, %b) : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: kernel.return %0 : tensor<3x5xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @pad_1(%0: tensor<3x5xf32>) -> tensor<?x5xf32, #graph.dims<["n+3", "5"]>> {
// CHECK-NEXT: %1 = graph.pad(%0) {low = ["n", "0"], high = ["0", "0"], interior = array<i64: 0, 0>, value = "0"} : (tensor<3x5xf32>) -> tensor<?x5xf32, #graph.dims<["n+3", "5"]>>
// CHECK-NEXT: kernel.return %1 : tensor<?x5xf32, #graph.dims<["n+3", "5"]>>

// -----

// A window reads its padding from its own kernel; a padding with two readers, or of channels, has one.
func.func @window(%x: tensor<1x64x7x7xf32>) -> tensor<1x64x7x7xf32> {
  %0 = graph.pad(%x) {low = ["0", "0", "1", "1"], high = ["0", "0", "1", "1"], interior = array<i64: 0, 0, 0, 0>, value = "-inf"} : (tensor<1x64x7x7xf32>) -> tensor<1x64x9x9xf32>
  %1 = graph.pool "max"(%0) {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x64x9x9xf32>) -> tensor<1x64x7x7xf32>
  func.return %1 : tensor<1x64x7x7xf32>
}

// CHECK:      func.func @window(%x: tensor<1x64x7x7xf32>) -> tensor<1x64x7x7xf32> {
// CHECK-NEXT: %0 = kernel.call @pool_0(%x) : (tensor<1x64x7x7xf32>) -> tensor<1x64x7x7xf32>
// CHECK-NEXT: func.return %0 : tensor<1x64x7x7xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @pool_0(%x: tensor<1x64x7x7xf32>) -> tensor<1x64x7x7xf32> {
// CHECK-NEXT: %0 = graph.pad(%x) {low = ["0", "0", "1", "1"], high = ["0", "0", "1", "1"], interior = array<i64: 0, 0, 0, 0>, value = "-inf"} : (tensor<1x64x7x7xf32>) -> tensor<1x64x9x9xf32>
// CHECK-NEXT: %1 = graph.pool "max"(%0) {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x64x9x9xf32>) -> tensor<1x64x7x7xf32>
// CHECK-NEXT: kernel.return %1 : tensor<1x64x7x7xf32>

// -----

func.func @two_readers(%x: tensor<1x64x7x7xf32>) -> (tensor<1x64x7x7xf32>, tensor<1x64x7x7xf32>) {
  %0 = graph.pad(%x) {low = ["0", "0", "1", "1"], high = ["0", "0", "1", "1"], interior = array<i64: 0, 0, 0, 0>, value = "-inf"} : (tensor<1x64x7x7xf32>) -> tensor<1x64x9x9xf32>
  %1 = graph.pool "max"(%0) {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x64x9x9xf32>) -> tensor<1x64x7x7xf32>
  %2 = graph.pool "min"(%0) {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x64x9x9xf32>) -> tensor<1x64x7x7xf32>
  func.return %1, %2 : tensor<1x64x7x7xf32>, tensor<1x64x7x7xf32>
}

// CHECK:      func.func @two_readers(%x: tensor<1x64x7x7xf32>) -> (tensor<1x64x7x7xf32>, tensor<1x64x7x7xf32>) {
// CHECK-NEXT: %0 = kernel.call @pad_0(%x) : (tensor<1x64x7x7xf32>) -> tensor<1x64x9x9xf32>
// CHECK-NEXT: %1 = kernel.call @pool_1(%0) : (tensor<1x64x9x9xf32>) -> tensor<1x64x7x7xf32>
// CHECK-NEXT: %2 = kernel.call @pool_2(%0) : (tensor<1x64x9x9xf32>) -> tensor<1x64x7x7xf32>
// CHECK-NEXT: func.return %1, %2 : tensor<1x64x7x7xf32>, tensor<1x64x7x7xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @pad_0(%x: tensor<1x64x7x7xf32>) -> tensor<1x64x9x9xf32> {
// CHECK-NEXT: %0 = graph.pad(%x) {low = ["0", "0", "1", "1"], high = ["0", "0", "1", "1"], interior = array<i64: 0, 0, 0, 0>, value = "-inf"} : (tensor<1x64x7x7xf32>) -> tensor<1x64x9x9xf32>
// CHECK-NEXT: kernel.return %0 : tensor<1x64x9x9xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @pool_1(%0: tensor<1x64x9x9xf32>) -> tensor<1x64x7x7xf32> {
// CHECK-NEXT: %1 = graph.pool "max"(%0) {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x64x9x9xf32>) -> tensor<1x64x7x7xf32>
// CHECK-NEXT: kernel.return %1 : tensor<1x64x7x7xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @pool_2(%0: tensor<1x64x9x9xf32>) -> tensor<1x64x7x7xf32> {
// CHECK-NEXT: %1 = graph.pool "min"(%0) {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x64x9x9xf32>) -> tensor<1x64x7x7xf32>
// CHECK-NEXT: kernel.return %1 : tensor<1x64x7x7xf32>

// -----

func.func @channels(%x: tensor<1x62x7x7xf32>) -> tensor<1x64x7x7xf32> {
  %0 = graph.pad(%x) {low = ["0", "1", "1", "1"], high = ["0", "1", "1", "1"], interior = array<i64: 0, 0, 0, 0>, value = "-inf"} : (tensor<1x62x7x7xf32>) -> tensor<1x64x9x9xf32>
  %1 = graph.pool "max"(%0) {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x64x9x9xf32>) -> tensor<1x64x7x7xf32>
  func.return %1 : tensor<1x64x7x7xf32>
}

// CHECK:      func.func @channels(%x: tensor<1x62x7x7xf32>) -> tensor<1x64x7x7xf32> {
// CHECK-NEXT: %0 = kernel.call @pad_0(%x) : (tensor<1x62x7x7xf32>) -> tensor<1x64x9x9xf32>
// CHECK-NEXT: %1 = kernel.call @pool_1(%0) : (tensor<1x64x9x9xf32>) -> tensor<1x64x7x7xf32>
// CHECK-NEXT: func.return %1 : tensor<1x64x7x7xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @pad_0(%x: tensor<1x62x7x7xf32>) -> tensor<1x64x9x9xf32> {
// CHECK-NEXT: %0 = graph.pad(%x) {low = ["0", "1", "1", "1"], high = ["0", "1", "1", "1"], interior = array<i64: 0, 0, 0, 0>, value = "-inf"} : (tensor<1x62x7x7xf32>) -> tensor<1x64x9x9xf32>
// CHECK-NEXT: kernel.return %0 : tensor<1x64x9x9xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @pool_1(%0: tensor<1x64x9x9xf32>) -> tensor<1x64x7x7xf32> {
// CHECK-NEXT: %1 = graph.pool "max"(%0) {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x64x9x9xf32>) -> tensor<1x64x7x7xf32>
// CHECK-NEXT: kernel.return %1 : tensor<1x64x7x7xf32>
