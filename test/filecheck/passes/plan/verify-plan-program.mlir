// RUN: mlc-opt %s -p verify-plan --verify-diagnostics --split-input-file | filecheck %s

// A program runs on buffers defined before, of symbolic sizes too; its kernels are loops on buffers.

rt.program "net" {inputs = ["x"], outputs = ["y"], dims = ["n"]} do {
  %x = rt.input 0 : i64 : memref<5xf32>
  %y = rt.output 0 : i64 : memref<5xf32>
  %w = rt.weight "w" {offset = 64 : i64} : memref<5xf32>
  %a = rt.buffer "20*n" {after = []} : memref<5xf32>
  %v = rt.view %a : memref<5xf32> -> memref<5xf32>
  rt.copy %v, %y : memref<5xf32>, memref<5xf32>
}

// CHECK:      %v = rt.view %a
// CHECK-NEXT: rt.copy %v, %y

// -----

rt.program "net" {inputs = ["x"], outputs = ["y"], dims = []} do {
  %y = rt.output 0 : i64 : memref<5xf32>
  rt.copy %x, %y : memref<5xf32>, memref<5xf32>
  %x = rt.input 0 : i64 : memref<5xf32>
}

// CHECK:      Illegal at the plan level: operand 0 is not defined before it (operator 'rt.copy', stage 'verify-plan').

// -----

rt.program "net" {inputs = [], outputs = [], dims = []} do {
  %n = arith.constant 4 : index
}

// CHECK:      Illegal at the plan level: it is not allowed in rt.program (operator 'arith.constant'

// -----

rt.program "net" {inputs = ["x"], outputs = [], dims = []} do {
  %x = rt.input 0 : i64 : memref<5xf32>
  rt.launch @k(%x) {graph.node = ["/relu"], writes = 1 : i64} : memref<5xf32>
}
kernel.func @k(%a: memref<5xf32>, %o: memref<5xf32>) {
  kernel.return
}

// CHECK:      Illegal at the plan level: its buffers do not match the parameters of kernel @k (node '/relu', operator 'rt.launch'

// -----

kernel.func @k(%a: tensor<5xf32>) {
  kernel.return
}

// CHECK:      Illegal at the plan level: it defines a value of type tensor<5xf32> (operator 'kernel.func'
