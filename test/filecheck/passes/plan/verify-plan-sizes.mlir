// RUN: mlc-opt %s -p verify-plan --verify-diagnostics --split-input-file | filecheck %s

// A step that needs a size stands after what makes it known, and a barrier between them.

rt.program "net" {inputs = ["m"], outputs = ["p", "size0"], dims = [], sizes = ["size0"], bounds = ["8"]} do {
  %m = rt.input 0 : i64 : memref<8xi1>
  %p = rt.output 0 : i64 : memref<?xi64, #graph.dims<["size0"]>>
  %s = rt.output 1 : i64 : memref<i64>
  %b = rt.buffer "64" {offset = 0 : i64} : memref<?xi64, #graph.dims<["size0"]>>
  rt.nonzero "size0" %m, %b, %s : memref<8xi1>, memref<?xi64, #graph.dims<["size0"]>>, memref<i64>
  rt.barrier
  rt.copy %b, %p : memref<?xi64, #graph.dims<["size0"]>>, memref<?xi64, #graph.dims<["size0"]>>
}

// CHECK:      rt.nonzero "size0" %m, %b, %s : memref<8xi1>, memref<?xi64, #graph.dims<["size0"]>>, memref<i64>
// CHECK-NEXT: rt.barrier

// -----

rt.program "net" {inputs = ["m"], outputs = ["p", "size0"], dims = [], sizes = ["size0"], bounds = ["8"]} do {
  %m = rt.input 0 : i64 : memref<8xi1>
  %p = rt.output 0 : i64 : memref<?xi64, #graph.dims<["size0"]>>
  %s = rt.output 1 : i64 : memref<i64>
  %b = rt.buffer "64" {offset = 0 : i64} : memref<?xi64, #graph.dims<["size0"]>>
  rt.nonzero "size0" %m, %b, %s : memref<8xi1>, memref<?xi64, #graph.dims<["size0"]>>, memref<i64>
  rt.copy %b, %p : memref<?xi64, #graph.dims<["size0"]>>, memref<?xi64, #graph.dims<["size0"]>>
}

// CHECK:      Illegal at the plan level: the run-time dimension size0 is not known here (operator 'rt.copy', stage 'verify-plan').

// -----

rt.program "net" {inputs = ["m"], outputs = ["p"], dims = [], sizes = ["size0"], bounds = ["8"]} do {
  %m = rt.input 0 : i64 : memref<8xi1>
  %p = rt.output 0 : i64 : memref<8xi1>
  %v = rt.view %m {offset = "size0"} : memref<8xi1> -> memref<1xi1>
  %w = rt.view %p : memref<8xi1> -> memref<1xi1>
  rt.copy %v, %w : memref<1xi1>, memref<1xi1>
}

// CHECK:      Illegal at the plan level: the run-time dimension size0 is not known here (operator 'rt.copy', stage 'verify-plan').

// -----

rt.program "net" {inputs = ["n"], outputs = ["y", "size0", "size1"], dims = [], sizes = ["size0", "size1"], bounds = ["9", "9"]} do {
  %n = rt.input 0 : i64 : memref<i64>
  %y = rt.output 0 : i64 : memref<?xi64, #graph.dims<["size1"]>>
  %s = rt.output 1 : i64 : memref<i64>
  %t = rt.output 2 : i64 : memref<i64>
  rt.size "size0" %n, %s most "9" else "why" : memref<i64>, memref<i64>
  rt.size "size1" %n, %t most "size0" else "why" : memref<i64>, memref<i64>
}

// CHECK:      Illegal at the plan level: the run-time dimension size0 is not known here (operator 'rt.size', stage 'verify-plan').
