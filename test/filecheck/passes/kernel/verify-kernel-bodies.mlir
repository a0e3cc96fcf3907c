// RUN: mlc-opt %s --disable-verify -p verify-kernel --verify-diagnostics --split-input-file | filecheck %s

// Kernels of one block that compute scalars; calls that read what is there; no program yet.

kernel.func @two(%a: memref<4xf32>) {
  "cf.br"()[^next] : () -> ()
^next:
  kernel.return
}

// CHECK:      Illegal at the kernel level: a region has 2 blocks, not 1 (operator 'kernel.func', stage 'verify-kernel').

// -----

kernel.func @k(%a: memref<4xf32>) {
  poly.statement "S0" outs(%a : memref<4xf32>) {domain = #poly.domain<"0 <= i < 4">, accesses = [#poly.access<"b0[i]">]} do {
    %c = arith.constant dense<2.0> : vector<4xf32>
    %d = arith.constant 2.0 : f32
    poly.yield %d : f32
  }
  kernel.return
}

// CHECK:      Illegal at the kernel level: it defines a value of type vector<4xf32> (operator 'arith.constant'

// -----

kernel.func @k(%a: memref<4xf32>, %n: i1) {
  poly.statement "S0" outs(%a : memref<4xf32>) {domain = #poly.domain<"0 <= i < 4">, accesses = [#poly.access<"b0[i]">]} do {
    %d = arith.constant 2.0 : f32
    scf.if %n {
    }
    poly.yield %d : f32
  }
  kernel.return
}

// CHECK:      Illegal at the kernel level: it is not allowed in poly.statement (operator 'scf.if'

// -----

func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = kernel.call @k(%1) {graph.node = ["/early"]} : (tensor<3xf32>) -> tensor<3xf32>
  %1 = kernel.call @k(%x) {graph.node = ["/late"]} : (tensor<3xf32>) -> tensor<3xf32>
  func.return %0 : tensor<3xf32>
}

// CHECK:      Illegal at the kernel level: operand 0 is not defined before it (node '/early', operator 'kernel.call'

// -----

rt.program "net" {inputs = [], outputs = [], dims = []} do {
  rt.barrier
}

// CHECK:      Illegal at the kernel level: it is not allowed in builtin.module (operator 'rt.program'
