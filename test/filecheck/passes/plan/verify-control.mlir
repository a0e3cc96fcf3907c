// RUN: mlc-opt %s -p verify-plan --verify-diagnostics --split-input-file | filecheck %s

// Barriers before branches and after iterations, and numbers of iterations where they are known.

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
  }
  rt.copy %8, %3 : memref<2x4xf32>, memref<2x4xf32>
}

kernel.func @map_0(%0: memref<2x4xf32>, %1: memref<2x4xf32>) {
  kernel.return
}
kernel.func @map_5(%0: memref<2x4xf32>, %1: memref<2x4xf32>, %2: memref<2x4xf32>, %3: memref<2x4xf32>, %4: memref<2x4xf32>) {
  kernel.return
}

// CHECK: Illegal at the plan level: its region does not end with a barrier (node '/loop', operator 'rt.loop', stage 'verify-plan')

// -----

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
  %v = rt.view %4 {offset = "32*step0"} : memref<?x2x4xf32, #graph.dims<["seq", "2", "4"]>> -> memref<2x4xf32>
  rt.copy %v, %3 : memref<2x4xf32>, memref<2x4xf32>
}

kernel.func @map_0(%0: memref<2x4xf32>, %1: memref<2x4xf32>) {
  kernel.return
}
kernel.func @map_5(%0: memref<2x4xf32>, %1: memref<2x4xf32>, %2: memref<2x4xf32>, %3: memref<2x4xf32>, %4: memref<2x4xf32>) {
  kernel.return
}

// CHECK: Illegal at the plan level: the run-time dimension step0 is not known here (operator 'rt.copy', stage 'verify-plan')

// -----

rt.program "main" {inputs = ["input0", "input1"], outputs = ["output0"], dims = []} do {
  %0 = rt.input 0 : i64 : memref<4xf32>
  %1 = rt.input 1 : i64 : memref<i1>
  %2 = rt.output 0 : i64 : memref<4xf32>
  rt.loop_condition "branch0" next "0" while %1 : memref<i1>
  rt.if "branch0" attributes {graph.node = ["/if"]} {
    rt.launch @map_2(%0, %2) {graph.node = ["/exp"], writes = 1 : i64} : memref<4xf32>, memref<4xf32>
    rt.barrier
  } else {
    rt.copy %0, %2 : memref<4xf32>, memref<4xf32>
    rt.barrier
  }
}

kernel.func @map_2(%0: memref<4xf32>, %1: memref<4xf32>) {
  kernel.return
}

// CHECK: Illegal at the plan level: there is no barrier between it and the step before it (node '/if', operator 'rt.if', stage 'verify-plan')
