// RUN: mlc-opt %s -p sink-reshapes --verify-diagnostics --split-input-file | filecheck %s

func.func @main(%x: tensor<?x6x8xf32, #graph.dims<["batch", "6", "8"]>>, %bias: tensor<8xf32>) -> tensor<?x2x3x8xf32, #graph.dims<["batch", "2", "3", "8"]>> {
  %0 = graph.map "exp(x0)"(%x) {graph.node = ["/exp"]} : (tensor<?x6x8xf32, #graph.dims<["batch", "6", "8"]>>) -> tensor<?x6x8xf32, #graph.dims<["batch", "6", "8"]>>
  %1 = graph.reshape(%0) {graph.node = ["/reshape"], shape = ["batch", "2", "3", "8"]} : (tensor<?x6x8xf32, #graph.dims<["batch", "6", "8"]>>) -> tensor<?x2x3x8xf32, #graph.dims<["batch", "2", "3", "8"]>>
  %2 = graph.map "x0 + x1"(%1, %bias) {graph.node = ["/add"]} : (tensor<?x2x3x8xf32, #graph.dims<["batch", "2", "3", "8"]>>, tensor<8xf32>) -> tensor<?x2x3x8xf32, #graph.dims<["batch", "2", "3", "8"]>>
  func.return %2 : tensor<?x2x3x8xf32, #graph.dims<["batch", "2", "3", "8"]>>
}

// CHECK:      func.func @main(%x: tensor<?x6x8xf32, #graph.dims<["batch", "6", "8"]>>, %bias: tensor<8xf32>) -> tensor<?x2x3x8xf32, #graph.dims<["batch", "2", "3", "8"]>> {
// CHECK-NEXT: %0 = graph.map "exp(x0)"(%x) {graph.node = ["/exp"]} : (tensor<?x6x8xf32, #graph.dims<["batch", "6", "8"]>>) -> tensor<?x6x8xf32, #graph.dims<["batch", "6", "8"]>>
// CHECK-NEXT: %1 = graph.reshape(%bias) {shape = ["1", "1", "8"]} : (tensor<8xf32>) -> tensor<1x1x8xf32>
// CHECK-NEXT: %2 = graph.map "(x0 + x1)"(%0, %1) {graph.node = ["/add"]} : (tensor<?x6x8xf32, #graph.dims<["batch", "6", "8"]>>, tensor<1x1x8xf32>) -> tensor<?x6x8xf32, #graph.dims<["batch", "6", "8"]>>
// CHECK-NEXT: %3 = graph.reshape(%2) {shape = ["batch", "2", "3", "8"]} : (tensor<?x6x8xf32, #graph.dims<["batch", "6", "8"]>>) -> tensor<?x2x3x8xf32, #graph.dims<["batch", "2", "3", "8"]>>
// CHECK-NEXT: func.return %3 : tensor<?x2x3x8xf32, #graph.dims<["batch", "2", "3", "8"]>>

// -----

func.func @splits_what_the_other_operand_keeps(%x: tensor<6x8xf32>, %c: tensor<3x8xf32>) -> tensor<2x3x8xf32> {
  %0 = graph.map "exp(x0)"(%x) : (tensor<6x8xf32>) -> tensor<6x8xf32>
  %1 = graph.reshape(%0) {shape = ["2", "3", "8"]} : (tensor<6x8xf32>) -> tensor<2x3x8xf32>
  %2 = graph.map "x0 + x1"(%1, %c) : (tensor<2x3x8xf32>, tensor<3x8xf32>) -> tensor<2x3x8xf32>
  func.return %2 : tensor<2x3x8xf32>
}

// CHECK:      func.func @splits_what_the_other_operand_keeps(%x: tensor<6x8xf32>, %c: tensor<3x8xf32>) -> tensor<2x3x8xf32> {
// CHECK-NEXT: %0 = graph.map "exp(x0)"(%x) : (tensor<6x8xf32>) -> tensor<6x8xf32>
// CHECK-NEXT: %1 = graph.reshape(%0) {shape = ["2", "3", "8"]} : (tensor<6x8xf32>) -> tensor<2x3x8xf32>
// CHECK-NEXT: %2 = graph.map "x0 + x1"(%1, %c) : (tensor<2x3x8xf32>, tensor<3x8xf32>) -> tensor<2x3x8xf32>
// CHECK-NEXT: func.return %2 : tensor<2x3x8xf32>

// -----

func.func @read_twice(%x: tensor<6x8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %0 = graph.map "exp(x0)"(%x) : (tensor<6x8xf32>) -> tensor<6x8xf32>
  %1 = graph.reshape(%0) {shape = ["2", "3", "8"]} : (tensor<6x8xf32>) -> tensor<2x3x8xf32>
  %2 = graph.map "neg(x0)"(%1) : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  func.return %1, %2 : tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

// CHECK:      func.func @read_twice(%x: tensor<6x8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
// CHECK-NEXT: %0 = graph.map "exp(x0)"(%x) : (tensor<6x8xf32>) -> tensor<6x8xf32>
// CHECK-NEXT: %1 = graph.reshape(%0) {shape = ["2", "3", "8"]} : (tensor<6x8xf32>) -> tensor<2x3x8xf32>
// CHECK-NEXT: %2 = graph.map "neg(x0)"(%1) : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
// CHECK-NEXT: func.return %1, %2 : tensor<2x3x8xf32>, tensor<2x3x8xf32>

// -----

// An epilogue stays with its contraction.

func.func @epilogue(%a: tensor<1x3xf32>, %b: tensor<3x8xf32>, %c: tensor<4x2xf32>) -> tensor<1x8xf32> {
  %e = graph.map "exp(x0)"(%c) : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %r = graph.reshape(%e) {shape = ["1", "8"]} : (tensor<4x2xf32>) -> tensor<1x8xf32>
  %q = graph.contract "mk,kn->mn"(%a, %b) : (tensor<1x3xf32>, tensor<3x8xf32>) -> tensor<1x8xf32>
  %y = graph.map "x0 + x1"(%r, %q) : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
  func.return %y : tensor<1x8xf32>
}

// CHECK:      func.func @epilogue
// CHECK:      %y = graph.map "x0 + x1"(%r, %q) : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
