// RUN: mlc-opt %s --verify-diagnostics --split-input-file | filecheck %s

rt.program "net" {inputs = ["x"], outputs = ["y"], dims = [], strings = ["", "!"]} do {
  %x = rt.input 0 : i64 : memref<2x!graph.string>
  %y = rt.output 0 : i64 : memref<2x!graph.string>
  %b = rt.buffer "16" : memref<2xi64>
  rt.routine "string.intern"(%x, %b) {graph.node = ["x"]} : memref<2x!graph.string>, memref<2xi64>
  rt.routine "string.pieces"(%b, %b) {graph.node = ["/p"], words = ["-"], numbers = array<i64: -1, 8>} : memref<2xi64>, memref<2xi64>
  rt.routine "string.extern"(%b, %y) {graph.node = ["y"]} : memref<2xi64>, memref<2x!graph.string>
}

// CHECK:      rt.program "net" {inputs = ["x"], outputs = ["y"], dims = [], strings = ["", "!"]} do {
// CHECK:      rt.routine "string.intern"(%x, %b) {graph.node = ["x"]} : memref<2x!graph.string>, memref<2xi64>
// CHECK-NEXT: rt.routine "string.pieces"(%b, %b) {graph.node = ["/p"], words = ["-"], numbers = array<i64: -1, 8>} : memref<2xi64>, memref<2xi64>

// -----

rt.program "net" {inputs = [], outputs = [], dims = []} do {
  %b = rt.buffer "16" : memref<2xi64>
  rt.routine "string.reverse"(%b, %b) : memref<2xi64>, memref<2xi64>
}

// CHECK:      rt.routine: there is no routine 'string.reverse'

// -----

rt.program "net" {inputs = [], outputs = [], dims = []} do {
  %b = rt.buffer "8" : memref<2xf32>
  rt.routine "string.lower"(%b, %b) : memref<2xf32>, memref<2xf32>
}

// CHECK:      rt.routine: string.lower takes buffers of i64, i64

// -----

// A decoder takes bytes, and gives pixels with their height and width after them.

rt.program "net" {inputs = ["x"], outputs = [], dims = ["n"]} do {
  %x = rt.input 0 : i64 : memref<?xui8, #graph.dims<["n"]>>
  %b = rt.buffer "196612" : memref<196612xui8>
  rt.routine "image.decode"(%x, %b) {words = ["too large"], numbers = array<i64: 256, 1>} : memref<?xui8, #graph.dims<["n"]>>, memref<196612xui8>
}

// CHECK:      rt.routine "image.decode"(%x, %b) {words = ["too large"], numbers = array<i64: 256, 1>} : memref<?xui8, #graph.dims<["n"]>>, memref<196612xui8>
