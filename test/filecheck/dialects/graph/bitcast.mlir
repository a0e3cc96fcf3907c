// RUN: mlc-opt %s --verify-diagnostics --split-input-file | filecheck %s

func.func @words(%x: tensor<?x8xui8, #graph.dims<["n", "8"]>>) -> tensor<?x2xi32, #graph.dims<["n", "2"]>> {
  %0 = graph.bitcast(%x) {element = "i32"} : (tensor<?x8xui8, #graph.dims<["n", "8"]>>) -> tensor<?x2xi32, #graph.dims<["n", "2"]>>
  func.return %0 : tensor<?x2xi32, #graph.dims<["n", "2"]>>
}

// CHECK:      %0 = graph.bitcast(%x) {element = "i32"} : (tensor<?x8xui8, #graph.dims<["n", "8"]>>) -> tensor<?x2xi32, #graph.dims<["n", "2"]>>

// -----

func.func @halves(%x: tensor<3x8xf16>) {
  %0 = graph.bitcast(%x) {element = "i32"} : (tensor<3x8xf16>) -> tensor<3x4xi32>
  func.return
}

// CHECK:      graph.bitcast: f16 as i32; it supports only bytes, i16 and bf16 as i32

// -----

func.func @words(%x: tensor<3x8xi16>) {
  %0 = graph.bitcast(%x) {element = "i32"} : (tensor<3x8xi16>) -> tensor<3x4xi32>
  func.return
}

// CHECK:      graph.bitcast(%x) {element = "i32"} : (tensor<3x8xi16>) -> tensor<3x4xi32>

// -----

func.func @pairs(%x: tensor<3x8xbf16>) {
  %0 = graph.bitcast(%x) {element = "i32"} : (tensor<3x8xbf16>) -> tensor<3x4xi32>
  func.return
}

// CHECK:      graph.bitcast(%x) {element = "i32"} : (tensor<3x8xbf16>) -> tensor<3x4xi32>

// -----

func.func @odd(%x: tensor<3x6xi8>) {
  %0 = graph.bitcast(%x) {element = "i32"} : (tensor<3x6xi8>) -> tensor<3x1xi32>
  func.return
}

// CHECK:      graph.bitcast: the last dimension of (3, 6) is not a multiple of 4

// -----

// The product of two operands is an expression: here of a byte and a number of 32 bits.
func.func @product(%x: tensor<2x3xui8>, %y: tensor<3x5xi32>) -> tensor<2x5xi32> {
  %0 = graph.contract "mk,kn->mn"(%x, %y) {product = "i32(x0) * x1"} : (tensor<2x3xui8>, tensor<3x5xi32>) -> tensor<2x5xi32>
  func.return %0 : tensor<2x5xi32>
}

// CHECK:      {product = "i32(x0) * x1"} : (tensor<2x3xui8>, tensor<3x5xi32>) -> tensor<2x5xi32>

// -----

func.func @mixed(%x: tensor<2x3xui8>, %y: tensor<3x5xi32>) {
  %0 = graph.contract "mk,kn->mn"(%x, %y) {product = "x0 * x1"} : (tensor<2x3xui8>, tensor<3x5xi32>) -> tensor<2x5xi32>
  func.return
}

// CHECK:      (x0 * x1) mixes ['i32', 'ui8']; insert a cast
