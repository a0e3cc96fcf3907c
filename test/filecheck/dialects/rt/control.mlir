// RUN: mlc-opt %s --split-input-file | mlc-opt --split-input-file | filecheck %s
// RUN: mlc-opt %s --split-input-file --print-op-generic | mlc-opt --split-input-file | filecheck %s

// Loops, decisions and branches.

rt.program "main" {inputs = ["input0", "input1", "input2"], outputs = ["output0", "output1"], dims = ["seq"]} do {
  %0 = rt.input 0 : i64 : memref<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>
  %1 = rt.input 1 : i64 : memref<2x4xf32>
  %2 = rt.input 2 : i64 : memref<2x4xf32>
  %3 = rt.output 0 : i64 : memref<2x4xf32>
  %4 = rt.output 1 : i64 : memref<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>
  %5 = rt.buffer "32" {offset = 0 : i64} : memref<2x4xf32>
  rt.launch @map_0(%2, %5) {graph.node = ["/exp"], writes = 1 : i64} : memref<2x4xf32>, memref<2x4xf32>
  %6 = rt.buffer "32" {offset = 64 : i64} : memref<2x4xf32>
  %7 = rt.buffer "32" {offset = 128 : i64} : memref<2x4xf32>
  rt.barrier
  %8 = rt.loop "step0" to "seq"(%1 : memref<2x4xf32>) (%6 : memref<2x4xf32>) (%7 : memref<2x4xf32>) -> (memref<2x4xf32>) attributes {graph.node = ["/loop"]} {
  ^bb0(%9: memref<2x4xf32>, %10: memref<2x4xf32>):
    %11 = rt.view %0 {offset = "32*step0"} : memref<?x2x4xf32, #graph.dims<["seq", "2", "4"]>> -> memref<1x2x4xf32>
    %12 = rt.view %11 : memref<1x2x4xf32> -> memref<2x4xf32>
    %13 = rt.view %4 {offset = "32*step0"} : memref<?x2x4xf32, #graph.dims<["seq", "2", "4"]>> -> memref<2x4xf32>
    rt.launch @map_5(%9, %12, %5, %10, %13) {graph.node = ["/tanh"], writes = 2 : i64} : memref<2x4xf32>, memref<2x4xf32>, memref<2x4xf32>, memref<2x4xf32>, memref<2x4xf32>
    rt.barrier
  }
  rt.copy %8, %3 : memref<2x4xf32>, memref<2x4xf32>
}

// CHECK:      rt.program "main" {inputs = ["input0", "input1", "input2"], outputs = ["output0", "output1"], dims = ["seq"]} do {
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

rt.program "main" {inputs = ["input0", "input1", "input2"], outputs = ["output0", "output1", "size0"], dims = [], sizes = ["size0"], bounds = ["9"]} do {
  %0 = rt.input 0 : i64 : memref<4xf32>
  %1 = rt.input 1 : i64 : memref<i64>
  %2 = rt.input 2 : i64 : memref<i1>
  %3 = rt.output 0 : i64 : memref<4xf32>
  %4 = rt.output 1 : i64 : memref<?x4xf32, #graph.dims<["size0", "4"]>>
  %5 = rt.output 2 : i64 : memref<i64>
  %6 = rt.buffer "16" {offset = 64 : i64} : memref<4xf32>
  %7 = rt.buffer "16" {offset = 128 : i64} : memref<4xf32>
  %8 = rt.buffer "1" {offset = 0 : i64} : memref<i1>
  rt.copy %2, %8 : memref<i1>, memref<i1>
  rt.barrier
  rt.loop_condition "step0" next "0" limit %1 : memref<i64> while %8 : memref<i1> count %5 : memref<i64> {most = "9", size = "size0"}
  rt.barrier
  %9 = rt.loop "step0"(%0 : memref<4xf32>) (%6 : memref<4xf32>) (%7 : memref<4xf32>) -> (memref<4xf32>) attributes {graph.node = ["/loop"]} {
  ^bb0(%10: memref<4xf32>, %11: memref<4xf32>):
    rt.launch @map_2(%10, %11, %8) {graph.node = ["/half", "/max", "/more"], writes = 2 : i64} : memref<4xf32>, memref<4xf32>, memref<i1>
    %12 = rt.view %4 {offset = "16*step0"} : memref<?x4xf32, #graph.dims<["size0", "4"]>> -> memref<4xf32>
    rt.copy %10, %12 : memref<4xf32>, memref<4xf32>
    rt.barrier
    rt.loop_condition "step0" next "step0+1" limit %1 : memref<i64> while %8 : memref<i1> count %5 : memref<i64> {most = "9", size = "size0"}
    rt.barrier
  }
  rt.copy %9, %3 : memref<4xf32>, memref<4xf32>
}

// CHECK:      rt.program "main" {inputs = ["input0", "input1", "input2"], outputs = ["output0", "output1", "size0"], dims = [], sizes = ["size0"], bounds = ["9"]} do {
// CHECK-NEXT: %0 = rt.input 0 : i64 : memref<4xf32>
// CHECK-NEXT: %1 = rt.input 1 : i64 : memref<i64>
// CHECK-NEXT: %2 = rt.input 2 : i64 : memref<i1>
// CHECK-NEXT: %3 = rt.output 0 : i64 : memref<4xf32>
// CHECK-NEXT: %4 = rt.output 1 : i64 : memref<?x4xf32, #graph.dims<["size0", "4"]>>
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

rt.program "main" {inputs = ["input0", "input1"], outputs = ["output0"], dims = []} do {
  %0 = rt.input 0 : i64 : memref<4xf32>
  %1 = rt.input 1 : i64 : memref<i1>
  %2 = rt.output 0 : i64 : memref<4xf32>
  rt.loop_condition "branch0" next "0" while %1 : memref<i1>
  rt.barrier
  rt.if "branch0" attributes {graph.node = ["/if"]} {
    rt.launch @map_2(%0, %2) {graph.node = ["/exp"], writes = 1 : i64} : memref<4xf32>, memref<4xf32>
    rt.barrier
  } else {
    rt.copy %0, %2 : memref<4xf32>, memref<4xf32>
    rt.barrier
  }
}

// CHECK:      rt.program "main" {inputs = ["input0", "input1"], outputs = ["output0"], dims = []} do {
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
