// RUN: mlc-opt %s --verify-diagnostics --split-input-file | filecheck %s

// Operators that read what is not there, and constants and dimensions that say two things.

func.func @concat(%x: tensor<2x3xf32>) {
  %0 = graph.concat(%x, %x) {axis = 2 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  func.return
}

// CHECK:      graph.concat: 2 operands of shape [(2, 3)] have no axis 2

// -----

func.func @concat_of_nothing() {
  %0 = graph.concat() {axis = 0 : i64} : () -> tensor<2x6xf32>
  func.return
}

// CHECK:      graph.concat: 0 operands of shape [] have no axis 0

// -----

func.func @reduce(%x: tensor<2x3xf32>) {
  %0 = graph.reduce "add"(%x) {axes = array<i64: 1, 1>, keepdims = false} : (tensor<2x3xf32>) -> tensor<2xf32>
  func.return
}

// CHECK:      graph.reduce: axes [1, 1] of an operand of rank 2

// -----

func.func @operand(%x: tensor<4xi64>) {
  %0 = graph.compute "x1[i0]"(%x) {shape = ["4"], reduce = []} : (tensor<4xi64>) -> tensor<4xi64>
  func.return
}

// CHECK:      graph.compute: x1[i0] reads x1 of 1 operands

// -----

func.func @index(%x: tensor<4xi64>) {
  %0 = graph.compute "x0[x1[i0]]"(%x) {shape = ["4"], reduce = []} : (tensor<4xi64>) -> tensor<4xi64>
  func.return
}

// CHECK:      graph.compute: x0[x1[i0]] reads x1 of 1 operands

// -----

func.func @rank(%x: tensor<4x5xi64>) {
  %0 = graph.compute "x0[i0]"(%x) {shape = ["4"], reduce = []} : (tensor<4x5xi64>) -> tensor<4xi64>
  func.return
}

// CHECK:      graph.compute: x0[i0] has 1 indices for an operand of rank 2

// -----

func.func @name(%x: tensor<4xi64>) {
  %0 = graph.compute "y[i0]"(%x) {shape = ["4"], reduce = []} : (tensor<4xi64>) -> tensor<4xi64>
  func.return
}

// CHECK:      graph.compute: 'y[i0]' is not a scalar expression

// -----

func.func @macro(%x: tensor<4xf32>) {
  %0 = graph.map "clip(x0)"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK:      graph.map: clip with 1 arguments: takes 3

// -----

func.func @padding(%x: tensor<4xf32>) {
  %0 = graph.pad(%x) {low = ["0"], high = ["1"], interior = array<i64: 0>, value = "zero("} : (tensor<4xf32>) -> tensor<5xf32>
  func.return
}

// CHECK:      'zero(' is not a scalar expression

// -----

func.func @padding_by_a_name(%x: tensor<4xf32>) {
  %0 = graph.pad(%x) {low = ["0"], high = ["1"], interior = array<i64: 0>, value = "zero"} : (tensor<4xf32>) -> tensor<5xf32>
  func.return
}

// CHECK:      graph.pad: the value 'zero' is not a number

// -----

func.func @constant() {
  %0 = graph.constant dense<[1, 2]> : tensor<2xi64> : tensor<3xi64>
  func.return
}

// CHECK:      graph.constant: tensor<2xi64> is stored as tensor<3xi64>

// -----

func.func @dim_of_a_shape(%x: tensor<4xf32>) {
  %0 = graph.reshape(%x) {shape = ["n+"]} : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK:      'n+' is not a dimension: integers, names and + - * // % max min are allowed

// -----

func.func @dim(%x: tensor<?xf32, #graph.dims<["n+"]>>) {
  %0 = graph.map "x0"(%x) : (tensor<?xf32, #graph.dims<["n+"]>>) -> tensor<4xf32>
  func.return
}

// CHECK:      'n+' is not a dimension: integers, names and + - * // % max min are allowed

// -----

func.func @dims(%x: tensor<?x4xf32, #graph.dims<["n"]>>) {
  %0 = graph.map "exp(x0)"(%x) : (tensor<?x4xf32, #graph.dims<["n"]>>) -> tensor<?x4xf32, #graph.dims<["n"]>>
  func.return
}

// CHECK:      tensor<?x4xf32, #graph.dims<["n"]>>: its #graph.dims are not those of its shape

// -----

func.func @other_extent(%x: tensor<?x4xf32, #graph.dims<["n", "5"]>>) {
  %0 = graph.map "exp(x0)"(%x) : (tensor<?x4xf32, #graph.dims<["n", "5"]>>) -> tensor<?x4xf32, #graph.dims<["n", "5"]>>
  func.return
}

// CHECK:      tensor<?x4xf32, #graph.dims<["n", "5"]>>: its #graph.dims are not those of its shape

// -----

func.func @no_name(%x: tensor<?xf32>) {
  %0 = graph.map "exp(x0)"(%x) : (tensor<?xf32>) -> tensor<?xf32>
  func.return
}

// CHECK:      tensor<?xf32>: its dimensions need names, #graph.dims<[…]>
