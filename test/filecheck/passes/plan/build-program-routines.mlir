// RUN: mlc-opt %s -p 'build-program,plan-memory,insert-barriers,verify-plan' | filecheck %s

// A routine on strings is a step that one thread runs: what it writes is known after a barrier, and the last one writes
// into the memory of the caller.

func.func @net(%x: tensor<2x!graph.string> {graph.name = "x"}) -> (tensor<2x!graph.string> {graph.name = "y"}) attributes {graph.strings = ["", "!"]} {
  %0 = graph.routine "string.intern"(%x) {graph.node = ["x"]} : (tensor<2x!graph.string>) -> tensor<2xi64>
  %1 = graph.routine "string.upper"(%0) {graph.node = ["/upper"]} : (tensor<2xi64>) -> tensor<2xi64>
  %y = graph.routine "string.extern"(%1) {graph.node = ["y"]} : (tensor<2xi64>) -> tensor<2x!graph.string>
  func.return %y : tensor<2x!graph.string>
}

// CHECK:      rt.program "net" {inputs = ["x"], outputs = ["y"], dims = [], strings = ["", "!"], arena = {bytes = 128 : i64, live = 128 : i64, at = {}}} do {
// CHECK-NEXT: %0 = rt.input 0 : i64 : memref<2x!graph.string>
// CHECK-NEXT: %1 = rt.output 0 : i64 : memref<2x!graph.string>
// CHECK-NEXT: %2 = rt.buffer "16" {offset = 0 : i64} : memref<2xi64>
// CHECK-NEXT: rt.routine "string.intern"(%0, %2) {graph.node = ["x"]} : memref<2x!graph.string>, memref<2xi64>
// CHECK-NEXT: %3 = rt.buffer "16" {offset = 64 : i64} : memref<2xi64>
// CHECK-NEXT: rt.barrier
// CHECK-NEXT: rt.routine "string.upper"(%2, %3) {graph.node = ["/upper"]} : memref<2xi64>, memref<2xi64>
// CHECK-NEXT: rt.barrier
// CHECK-NEXT: rt.routine "string.extern"(%3, %1) {graph.node = ["y"]} : memref<2xi64>, memref<2x!graph.string>
