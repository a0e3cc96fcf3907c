// RUN: mlc-opt %s -p verify-plan --verify-diagnostics --split-input-file | filecheck %s

rt.program "net" {inputs = ["x"], outputs = ["y"], dims = []} do {
  %x = rt.input 0 : i64 : memref<5xf32>
  %y = rt.output 0 : i64 of %x : memref<5xf32>, : memref<5xf32>
  rt.launch @k(%x, %y) {graph.node = ["a"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
}
kernel.func @k(%a: memref<5xf32>, %o: memref<5xf32>) {
  kernel.return
}

// CHECK:      Illegal at the plan level: operand 0 is the old value of an input or state that is overwritten (node 'a', operator 'rt.launch', stage 'verify-plan').

// -----

rt.program "net" {inputs = ["x"], outputs = ["y", "z"], dims = []} do {
  %x = rt.input 0 : i64 : memref<5xf32>
  %y = rt.output 0 : i64 of %x : memref<5xf32>, : memref<5xf32>
  %z = rt.output 1 : i64 : memref<5xf32>
  rt.launch @k(%x, %y) {graph.node = ["a"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
  rt.launch @k(%x, %z) {graph.node = ["b"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
}
kernel.func @k(%a: memref<5xf32>, %o: memref<5xf32>) attributes {in_place = [array<i64: 0, 1>]} {
  kernel.return
}

// CHECK:      Illegal at the plan level: operand 0 is the old value of an input or state that is overwritten (node 'b', operator 'rt.launch', stage 'verify-plan').

// -----

rt.program "net" {inputs = ["x"], outputs = ["y", "z"], dims = []} do {
  %x = rt.input 0 : i64 : memref<5xf32>
  %y = rt.output 0 : i64 of %x : memref<5xf32>, : memref<5xf32>
  %z = rt.output 1 : i64 of %x : memref<5xf32>, : memref<5xf32>
}

// CHECK:      Illegal at the plan level: the memory that it replaces is no input or state, or replaced twice

// -----

rt.program "net" {inputs = ["x"], outputs = ["y"], dims = []} do {
  %x = rt.input 0 : i64 : memref<5xf32>
  %y = rt.output 0 : i64 of %x : memref<5xf32>, : memref<4xf32>
}

// CHECK:      rt.output: memref<4xf32> cannot be the memory of memref<5xf32>
