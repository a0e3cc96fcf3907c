// RUN: mlc-opt %s -p verify-kernel --verify-diagnostics --split-input-file | filecheck %s

// Statements read what is defined before, hold scalars; calls name their source nodes.

kernel.func @k(%a: memref<4xf32>, %o: memref<4xf32>) {
  poly.statement "S0" ins(%t : memref<4xf32>) outs(%o : memref<4xf32>) {domain = #poly.domain<"0 <= i < 4">, accesses = [#poly.access<"t0[i]">, #poly.access<"b1[i]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  %t = kernel.local : memref<4xf32>
  kernel.return
}

// CHECK:      Illegal at the kernel level: operand 0 is not defined before it (operator 'poly.statement', stage 'verify-kernel').

// -----

kernel.func @k(%a: memref<4xf32>, %v: vector<4xf32>) {
  kernel.return
}

// CHECK:      Illegal at the kernel level: it defines a value of type vector<4xf32> (operator 'kernel.func'

// -----

kernel.func @k(%a: memref<4xf32>, %n: index) {
  scf.for %i = %n to %n step %n {
  }
  kernel.return
}

// CHECK:      Illegal at the kernel level: it is not allowed in kernel.func (operator 'scf.for'

// -----

func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = kernel.call @k(%x) : (tensor<3xf32>) -> tensor<3xf32>
  func.return %0 : tensor<3xf32>
}

// CHECK:      Illegal at the kernel level: it names no source nodes (operator 'kernel.call'

// -----

kernel.func @k(%a: memref<4xf32>, %o: memref<4xf32>) {
  poly.statement "S0" ins(%a : memref<4xf32>) outs(%o : memref<4xf32>) {domain = #poly.domain<"0 <= i < 4">, accesses = [#poly.access<"b0[i]">, #poly.access<"b1[i]">]} do {
  ^bb0(%x: f32):
    %n = kernel.symbol "batch"
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      %n = kernel.symbol "batch"

// -----

kernel.func @k(%a: memref<4xf32>, %o: memref<4xf32>) {
  poly.statement "S0" ins(%a : memref<4xf32>) outs(%o : memref<4xf32>) {domain = #poly.domain<"0 <= i < 4">, accesses = [#poly.access<"b0[i]">, #poly.access<"b1[i]">]} do {
  ^bb0(%x: f32):
    %v = vector.broadcast %x : f32 to vector<4xf32>
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      Illegal at the kernel level: it is not allowed in poly.statement (operator 'vector.broadcast'
