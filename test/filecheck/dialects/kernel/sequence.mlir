// RUN: mlc-opt %s --split-input-file --verify-diagnostics | filecheck %s

// A kernel that is made of others: a loop that data end, a branch in it, and the element of an iteration.

// CHECK: kernel.repeat "step0" to "n" limit %l : memref<i64> while %go : memref<i1> {
// CHECK-NEXT: %y = kernel.view %x "8*step0" : memref<?xf64, #graph.dims<["n"]>> -> memref<f64>
// CHECK-NEXT: kernel.copy %s, %y : memref<f64>, memref<f64>
kernel.func @k(%s: memref<f64>, %l: memref<i64>, %go: memref<i1>, %x: memref<?xf64, #graph.dims<["n"]>>) {
  kernel.repeat "step0" to "n" limit %l : memref<i64> while %go : memref<i1> {
    %y = kernel.view %x "8*step0" : memref<?xf64, #graph.dims<["n"]>> -> memref<f64>
    kernel.copy %s, %y : memref<f64>, memref<f64>
  }
  kernel.return
}

// -----

// CHECK: nothing ends the loop; give a number of iterations
kernel.func @k(%a: memref<f64>, %b: memref<f64>) {
  kernel.repeat "step0" {
    kernel.copy %a, %b : memref<f64>, memref<f64>
  }
  kernel.return
}

// -----

// CHECK: kernel.copy: 8 bytes into a buffer of 16; use a kernel.view of the range
kernel.func @k(%a: memref<f64>, %b: memref<2xf64>) {
  kernel.copy %a, %b : memref<f64>, memref<2xf64>
  kernel.return
}
