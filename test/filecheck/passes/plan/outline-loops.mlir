// RUN: mlc-opt %s -p hoist-loop-invariants,split-yields,form-kernels,lower-kernels,count-work,choose-schedule,tile-kernels,lower-tiles,build-program,outline-loops,plan-memory,insert-barriers,annotate-launches,verify-plan --split-input-file | filecheck %s

// A loop of small iterations is one kernel: a sequential loop, whose tensors are local arrays. Data end it.

func.func @main(%h: tensor<3xf64>, %n: tensor<i64>) -> tensor<3xf64> {
  %last = graph.loop "step0" to "9" limit(%n : tensor<i64>) carry(%h : tensor<3xf64>) use() -> (tensor<3xf64>) attributes {graph.node = ["/loop"], at = []} {
  ^bb0(%s: tensor<3xf64>):
    %m = graph.map "x0 * 0.5"(%s) {graph.node = ["/half"]} : (tensor<3xf64>) -> tensor<3xf64>
    graph.yield %m : tensor<3xf64>
  }
  func.return %last : tensor<3xf64>
}

// CHECK:      rt.program "main" {inputs = ["input0", "input1"], outputs = ["output0"], dims = [], arena = {bytes = 64 : i64, live = 64 : i64, at = {}}} do {
// CHECK-NEXT: %0 = rt.input 0 : i64 : memref<3xf64>
// CHECK-NEXT: %1 = rt.input 1 : i64 : memref<i64>
// CHECK-NEXT: %2 = rt.output 0 : i64 : memref<3xf64>
// CHECK-NEXT: %3 = rt.buffer "24" {offset = 0 : i64} : memref<3xf64>
// CHECK-NEXT: rt.launch @loop_0(%0, %1, %3) {graph.node = ["/loop"], writes = 1 : i64, flops = "24", bytes = "384", serial} : memref<3xf64>, memref<i64>, memref<3xf64>
// CHECK-NEXT: rt.barrier
// CHECK-NEXT: rt.copy %3, %2 : memref<3xf64>, memref<3xf64>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @loop_0(%0: memref<3xf64>, %1: memref<i64>, %2: memref<3xf64>) attributes {work = #kernel.work<flops = 24, bytes = 384>, serial = "a loop of small iterations: map_2"} {
// CHECK-NEXT: %3 = kernel.local : memref<3xf64>
// CHECK-NEXT: %4 = kernel.local : memref<3xf64>
// CHECK-NEXT: kernel.copy %0, %3 : memref<3xf64>, memref<3xf64>
// CHECK-NEXT: kernel.repeat "step0" to "9" limit %1 : memref<i64> {
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: %cst = arith.constant 5.000000e-01 : f64
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %5 = kernel.read %3[%c0] {strides = array<i64: 1>} : memref<3xf64> -> vector<3xf64>
// CHECK-NEXT: %6 = vector.broadcast %cst : f64 to vector<3xf64>
// CHECK-NEXT: %7 = arith.mulf %5, %6 : vector<3xf64>
// CHECK-NEXT: kernel.write %7, %4[%c0] {strides = array<i64: 1>} : vector<3xf64>, memref<3xf64>
// CHECK-NEXT: kernel.copy %4, %3 : memref<3xf64>, memref<3xf64>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.copy %3, %2 : memref<3xf64>, memref<3xf64>
// CHECK-NEXT: kernel.return
// CHECK-NEXT: }

// -----

// A loop that collects what it carries, from the last element of what it reads to the first.

func.func @main(%h: tensor<2xf32>, %xs: tensor<5x2xf32>) -> (tensor<2xf32>, tensor<5x2xf32>) {
  %last, %all = graph.loop "step0" to "5" carry(%h : tensor<2xf32>) use(%xs : tensor<5x2xf32>) -> (tensor<2xf32>, tensor<5x2xf32>) attributes {graph.node = ["/scan"], at = ["4 - step0"]} {
  ^bb0(%s: tensor<2xf32>, %x: tensor<5x2xf32>):
    %a = graph.slice(%x) {graph.node = ["/slice"], starts = ["4 - step0", "0"], sizes = ["1", "2"], steps = array<i64: 1, 1>} : (tensor<5x2xf32>) -> tensor<1x2xf32>
    %b = graph.reshape(%a) {graph.node = ["/slice"], shape = ["2"]} : (tensor<1x2xf32>) -> tensor<2xf32>
    %m = graph.map "x0 * x1"(%s, %b) {graph.node = ["/product"]} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    graph.yield %m, %s : tensor<2xf32>, tensor<2xf32>
  }
  func.return %last, %all : tensor<2xf32>, tensor<5x2xf32>
}

// CHECK:      rt.launch @loop_0(%0, %1, %3, %4) {graph.node = ["/scan"], writes = 2 : i64, flops = "10", bytes = "120", serial} : memref<2xf32>, memref<5x2xf32>, memref<5x2xf32>, memref<2xf32>
// CHECK:      kernel.repeat "step0" to "5" {
// CHECK-NEXT: %6 = kernel.view %1 "-8*step0+32" : memref<5x2xf32> -> memref<1x2xf32>
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %7 = kernel.read %4[%c0] {strides = array<i64: 1>} : memref<2xf32> -> vector<2xf32>
// CHECK-NEXT: %8 = kernel.read %6[%c0] {strides = array<i64: 1>} : memref<1x2xf32> -> vector<2xf32>
// CHECK-NEXT: %9 = arith.mulf %7, %8 : vector<2xf32>
// CHECK-NEXT: kernel.write %9, %5[%c0] {strides = array<i64: 1>} : vector<2xf32>, memref<2xf32>
// CHECK-NEXT: %10 = kernel.view %2 "-8*step0+32" : memref<5x2xf32> -> memref<2xf32>
// CHECK-NEXT: kernel.copy %4, %10 : memref<2xf32>, memref<2xf32>
// CHECK-NEXT: kernel.copy %5, %4 : memref<2xf32>, memref<2xf32>
// CHECK-NEXT: }

// -----

// A loop whose iterations have much to do stays in the host program, and says why.

func.func @main(%h: tensor<300x300xf32>) -> tensor<300x300xf32> {
  %last = graph.loop "step0" to "9" carry(%h : tensor<300x300xf32>) use() -> (tensor<300x300xf32>) attributes {graph.node = ["/loop"], at = []} {
  ^bb0(%s: tensor<300x300xf32>):
    %m = graph.map "x0 * 0.5"(%s) {graph.node = ["/half"]} : (tensor<300x300xf32>) -> tensor<300x300xf32>
    graph.yield %m : tensor<300x300xf32>
  }
  func.return %last : tensor<300x300xf32>
}

// CHECK:      %4 = rt.loop "step0" to "9"(%0 : memref<300x300xf32>) (%2 : memref<300x300xf32>) (%3 : memref<300x300xf32>) -> (memref<300x300xf32>) attributes {graph.node = ["/loop"], apart = "it carries 360,000 bytes from one iteration to the next, more than 2,048"} {
