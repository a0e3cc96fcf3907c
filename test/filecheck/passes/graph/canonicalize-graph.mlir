// RUN: mlc-opt %s -p canonicalize-graph --split-input-file | filecheck %s

func.func @reshapes(%x: tensor<?x3x4xf32, #graph.dims<["n", "3", "4"]>>) -> tensor<?xf32, #graph.dims<["12*n"]>> {
  %0 = graph.reshape(%x) {graph.node = ["/a"], shape = ["3*n", "4"]} : (tensor<?x3x4xf32, #graph.dims<["n", "3", "4"]>>) -> tensor<?x4xf32, #graph.dims<["3*n", "4"]>>
  %1 = graph.reshape(%0) {graph.node = ["/b"], shape = ["12*n"]} : (tensor<?x4xf32, #graph.dims<["3*n", "4"]>>) -> tensor<?xf32, #graph.dims<["12*n"]>>
  func.return %1 : tensor<?xf32, #graph.dims<["12*n"]>>
}

// CHECK:      func.func @reshapes(%x: tensor<?x3x4xf32, #graph.dims<["n", "3", "4"]>>) -> tensor<?xf32, #graph.dims<["12*n"]>> {
// CHECK-NEXT: %0 = graph.reshape(%x) {graph.node = ["/b"], shape = ["12*n"]} : (tensor<?x3x4xf32, #graph.dims<["n", "3", "4"]>>) -> tensor<?xf32, #graph.dims<["12*n"]>>
// CHECK-NEXT: func.return %0 : tensor<?xf32, #graph.dims<["12*n"]>>

// -----

func.func @transposes_through_a_reshape(%x: tensor<2x3x4x5xf32>) -> tensor<2x20x3xf32> {
  %0 = graph.transpose(%x) {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = graph.reshape(%0) {shape = ["2", "20", "3"]} : (tensor<2x4x5x3xf32>) -> tensor<2x20x3xf32>
  %2 = graph.transpose(%1) {perm = array<i64: 0, 2, 1>} : (tensor<2x20x3xf32>) -> tensor<2x3x20xf32>
  %3 = graph.transpose(%2) {perm = array<i64: 0, 2, 1>} : (tensor<2x3x20xf32>) -> tensor<2x20x3xf32>
  func.return %3 : tensor<2x20x3xf32>
}

// CHECK:      func.func @transposes_through_a_reshape(%x: tensor<2x3x4x5xf32>) -> tensor<2x20x3xf32> {
// CHECK-NEXT: %0 = graph.transpose(%x) {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
// CHECK-NEXT: %1 = graph.reshape(%0) {shape = ["2", "20", "3"]} : (tensor<2x4x5x3xf32>) -> tensor<2x20x3xf32>
// CHECK-NEXT: func.return %1 : tensor<2x20x3xf32>

// -----

func.func @nothing_moves(%x: tensor<2x1x3xf32>) -> tensor<1x2x3xf32> {
  %0 = graph.transpose(%x) {perm = array<i64: 1, 0, 2>} : (tensor<2x1x3xf32>) -> tensor<1x2x3xf32>
  %1 = graph.pad(%0) {low = ["0", "0", "0"], high = ["0", "0", "0"], interior = array<i64: 0, 0, 0>, value = "0"} : (tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  %2 = graph.slice(%1) {starts = ["0", "0", "0"], sizes = ["1", "2", "3"], steps = array<i64: 1, 1, 1>} : (tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  %3 = graph.map "x0"(%2) : (tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  func.return %3 : tensor<1x2x3xf32>
}

// CHECK:      func.func @nothing_moves(%x: tensor<2x1x3xf32>) -> tensor<1x2x3xf32> {
// CHECK-NEXT: %0 = graph.reshape(%x) {shape = ["1", "2", "3"]} : (tensor<2x1x3xf32>) -> tensor<1x2x3xf32>
// CHECK-NEXT: func.return %0 : tensor<1x2x3xf32>

// -----

func.func @maps(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = graph.constant dense<4.0> : tensor<1x3xf32> : tensor<1x3xf32>
  %wide = graph.broadcast(%c) {shape = ["2", "3"]} : (tensor<1x3xf32>) -> tensor<2x3xf32>
  %0 = graph.map "(x0 ** 2) / x1"(%x, %wide) {graph.node = ["/div"]} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = graph.map "x0 * 1.0 + x1"(%0, %0) {graph.node = ["/add"]} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// CHECK:      func.func @maps(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT: %0 = graph.map "((x0 * x0) * 0.25)"(%x) {graph.node = ["/div"]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %1 = graph.map "(x0 + x0)"(%0) {graph.node = ["/add"]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: func.return %1 : tensor<2x3xf32>

// -----

func.func @computed_once(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = graph.map "exp(x0)"(%x) {graph.node = ["/one"]} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = graph.map "exp(x0)"(%x) {graph.node = ["/two"]} : (tensor<2xf32>) -> tensor<2xf32>
  %2 = graph.map "log(x0)"(%1) {graph.node = ["/unused"]} : (tensor<2xf32>) -> tensor<2xf32>
  %3 = graph.map "x0 - x1"(%0, %1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %3 : tensor<2xf32>
}

// CHECK:      func.func @computed_once(%x: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT: %0 = graph.map "exp(x0)"(%x) {graph.node = ["/one", "/two"]} : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT: %1 = graph.map "(x0 - x0)"(%0) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT: func.return %1 : tensor<2xf32>
