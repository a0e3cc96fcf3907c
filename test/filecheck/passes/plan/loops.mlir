// RUN: mlc-opt %s -p hoist-loop-invariants,split-yields,form-kernels,lower-kernels,build-program,plan-memory,insert-barriers --split-input-file | filecheck %s

// Iterations read and write a state's two buffers alternately; data decides in a step of its own; each iteration ends with a barrier.

func.func @main(%x: tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>, %h: tensor<2x4xf32>, %k: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>) {
  %last, %all = graph.loop "step0" to "seq" carry(%h : tensor<2x4xf32>) use(%x, %k : tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>) attributes {graph.node = ["/loop"], at = ["step0"]} {
  ^bb0(%s: tensor<2x4xf32>, %xs: tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>, %0: tensor<2x4xf32>):
    %e = graph.map "exp(x0)"(%0) {graph.node = ["/exp"]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %a = graph.slice(%xs) {graph.node = ["/slice"], starts = ["step0", "0", "0"], sizes = ["1", "2", "4"], steps = array<i64: 1, 1, 1>} : (tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>) -> tensor<1x2x4xf32>
    %b = graph.reshape(%a) {graph.node = ["/slice"], shape = ["2", "4"]} : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
    %n = graph.map "tanh((x0 + x1)) * x2"(%s, %b, %e) {graph.node = ["/tanh"]} : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    graph.yield %n, %n : tensor<2x4xf32>, tensor<2x4xf32>
  }
  func.return %last, %all : tensor<2x4xf32>, tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>
}

// CHECK:      rt.program "main" {inputs = ["input0", "input1", "input2"], outputs = ["output0", "output1"], dims = ["seq"], arena = {bytes = 192 : i64, live = 192 : i64, at = {}}} do {
// CHECK-NEXT: %0 = rt.input 0 : i64 : memref<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>
// CHECK-NEXT: %1 = rt.input 1 : i64 : memref<2x4xf32>
// CHECK-NEXT: %2 = rt.input 2 : i64 : memref<2x4xf32>
// CHECK-NEXT: %3 = rt.output 0 : i64 : memref<2x4xf32>
// CHECK-NEXT: %4 = rt.output 1 : i64 : memref<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>
// CHECK-NEXT: %5 = rt.buffer "32" {offset = 0 : i64} : memref<2x4xf32>
// CHECK-NEXT: rt.launch @map_0(%2, %5) {graph.node = ["/exp"], writes = 1 : i64} : memref<2x4xf32>, memref<2x4xf32>
// CHECK-NEXT: %6 = rt.buffer "32" {offset = 64 : i64} : memref<2x4xf32>
// CHECK-NEXT: %7 = rt.buffer "32" {offset = 128 : i64} : memref<2x4xf32>
// CHECK-NEXT: rt.barrier
// CHECK-NEXT: %8 = rt.loop "step0" to "seq"(%1 : memref<2x4xf32>) (%6 : memref<2x4xf32>) (%7 : memref<2x4xf32>) -> (memref<2x4xf32>) attributes {graph.node = ["/loop"]} {
// CHECK-NEXT: ^bb0(%9: memref<2x4xf32>, %10: memref<2x4xf32>):
// CHECK-NEXT: %11 = rt.view %0 {offset = "32*step0"} : memref<?x2x4xf32, #graph.dims<["seq", "2", "4"]>> -> memref<1x2x4xf32>
// CHECK-NEXT: %12 = rt.view %11 : memref<1x2x4xf32> -> memref<2x4xf32>
// CHECK-NEXT: %13 = rt.view %4 {offset = "32*step0"} : memref<?x2x4xf32, #graph.dims<["seq", "2", "4"]>> -> memref<2x4xf32>
// CHECK-NEXT: rt.launch @map_5(%9, %12, %5, %10, %13) {graph.node = ["/tanh"], writes = 2 : i64} : memref<2x4xf32>, memref<2x4xf32>, memref<2x4xf32>, memref<2x4xf32>, memref<2x4xf32>
// CHECK-NEXT: rt.barrier
// CHECK-NEXT: }
// CHECK-NEXT: rt.copy %8, %3 : memref<2x4xf32>, memref<2x4xf32>
// CHECK-NEXT: }

// -----

func.func @main(%h: tensor<4xf32>, %n: tensor<i64>, %go: tensor<i1>) -> (tensor<4xf32>, tensor<?x4xf32, #graph.dims<["size0", "4"]>>) {
  %last, %all = graph.loop "step0" to "9" limit(%n : tensor<i64>) while(%go : tensor<i1>) carry(%h : tensor<4xf32>) use() -> (tensor<4xf32>, tensor<?x4xf32, #graph.dims<["size0", "4"]>>) attributes {graph.node = ["/loop"], at = ["step0"], size = "size0"} {
  ^bb0(%s: tensor<4xf32>):
    %m = graph.map "x0 * 0.5"(%s) {graph.node = ["/half"]} : (tensor<4xf32>) -> tensor<4xf32>
    %r = graph.reduce "max"(%m) {graph.node = ["/max"], axes = array<i64: 0>, keepdims = false} : (tensor<4xf32>) -> tensor<f32>
    %more = graph.map "x0 > 0.1"(%r) {graph.node = ["/more"]} : (tensor<f32>) -> tensor<i1>
    graph.yield %more, %m, %s : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  }
  func.return %last, %all : tensor<4xf32>, tensor<?x4xf32, #graph.dims<["size0", "4"]>>
}

// CHECK:      rt.program "main" {inputs = ["input0", "input1", "input2"], outputs = ["output0", "output1", "size0"], dims = [], sizes = ["size0"], bounds = ["9"], arena = {bytes = 192 : i64, live = 192 : i64, at = {}}} do {
// CHECK-NEXT: %0 = rt.input 0 : i64 : memref<4xf32>
// CHECK-NEXT: %1 = rt.input 1 : i64 : memref<i64>
// CHECK-NEXT: %2 = rt.input 2 : i64 : memref<i1>
// CHECK-NEXT: %3 = rt.output 0 : i64 : memref<4xf32>
// CHECK-NEXT: %4 = rt.output 1 : i64 {bound = ["9", "4"]} : memref<?x4xf32, #graph.dims<["size0", "4"]>>
// CHECK-NEXT: %5 = rt.output 2 : i64 : memref<i64>
// CHECK-NEXT: %6 = rt.buffer "16" {offset = 64 : i64} : memref<4xf32>
// CHECK-NEXT: %7 = rt.buffer "16" {offset = 128 : i64} : memref<4xf32>
// CHECK-NEXT: %8 = rt.buffer "1" {offset = 0 : i64} : memref<i1>
// CHECK-NEXT: rt.copy %2, %8 : memref<i1>, memref<i1>
// CHECK-NEXT: rt.barrier
// CHECK-NEXT: rt.loop_condition "step0" next "0" limit %1 : memref<i64> while %8 : memref<i1> count %5 : memref<i64> {most = "9", size = "size0"}
// CHECK-NEXT: rt.barrier
// CHECK-NEXT: %9 = rt.loop "step0"(%0 : memref<4xf32>) (%6 : memref<4xf32>) (%7 : memref<4xf32>) -> (memref<4xf32>) attributes {graph.node = ["/loop"]} {
// CHECK-NEXT: ^bb0(%10: memref<4xf32>, %11: memref<4xf32>):
// CHECK-NEXT: rt.launch @map_2(%10, %11, %8) {graph.node = ["/half", "/max", "/more"], writes = 2 : i64} : memref<4xf32>, memref<4xf32>, memref<i1>
// CHECK-NEXT: %12 = rt.view %4 {offset = "16*step0"} : memref<?x4xf32, #graph.dims<["size0", "4"]>> -> memref<4xf32>
// CHECK-NEXT: rt.copy %10, %12 : memref<4xf32>, memref<4xf32>
// CHECK-NEXT: rt.barrier
// CHECK-NEXT: rt.loop_condition "step0" next "step0+1" limit %1 : memref<i64> while %8 : memref<i1> count %5 : memref<i64> {most = "9", size = "size0"}
// CHECK-NEXT: rt.barrier
// CHECK-NEXT: }
// CHECK-NEXT: rt.copy %9, %3 : memref<4xf32>, memref<4xf32>
// CHECK-NEXT: }

// -----

func.func @main(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %y = graph.if(%c : tensor<i1>) use(%x : tensor<4xf32>) -> (tensor<4xf32>) attributes {graph.node = ["/if"]} {
  ^bb0(%a: tensor<4xf32>):
    %e = graph.map "exp(x0)"(%a) {graph.node = ["/exp"]} : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %e : tensor<4xf32>
  } else {
  ^bb0(%b: tensor<4xf32>):
    graph.yield %b : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}

// CHECK:      rt.program "main" {inputs = ["input0", "input1"], outputs = ["output0"], dims = [], arena = {bytes = 0 : i64, live = 0 : i64, at = {}}} do {
// CHECK-NEXT: %0 = rt.input 0 : i64 : memref<4xf32>
// CHECK-NEXT: %1 = rt.input 1 : i64 : memref<i1>
// CHECK-NEXT: %2 = rt.output 0 : i64 : memref<4xf32>
// CHECK-NEXT: rt.loop_condition "branch0" next "0" while %1 : memref<i1>
// CHECK-NEXT: rt.barrier
// CHECK-NEXT: rt.if "branch0" attributes {graph.node = ["/if"]} {
// CHECK-NEXT: rt.launch @map_2(%0, %2) {graph.node = ["/exp"], writes = 1 : i64} : memref<4xf32>, memref<4xf32>
// CHECK-NEXT: rt.barrier
// CHECK-NEXT: } else {
// CHECK-NEXT: rt.copy %0, %2 : memref<4xf32>, memref<4xf32>
// CHECK-NEXT: rt.barrier
// CHECK-NEXT: }
// CHECK-NEXT: }
