// RUN: mlc-opt %s -p verify-loops --verify-diagnostics --split-input-file | filecheck %s

// Nothing of the poly level is left, one parallel loop is not in another, and it combines nothing.

kernel.func @k(%a: memref<4xf32>) {
  poly.tile "T0" {statements = ["S0"], iters = ["i"], starts = ["2"], sizes = array<i64: 1>, valid = ["1"], vector = ""}
  kernel.return
}

// CHECK:      Illegal at the loops level: it is not allowed in kernel.func (operator 'poly.tile', stage 'verify-loops').

// -----

kernel.func @k(%n: index) {
  "scf.parallel"(%n, %n, %n) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%j: index):
    "scf.parallel"(%n, %n, %n) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
    ^bb0(%i: index):
      scf.reduce
    }) : (index, index, index) -> ()
    scf.reduce
  }) : (index, index, index) -> ()
  kernel.return
}

// CHECK:      Illegal at the loops level: it is not allowed in scf.parallel (operator 'scf.parallel'

// -----

kernel.func @k(%n: index, %x: f32) {
  %0 = "scf.parallel"(%n, %n, %n, %x) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>}> ({
  ^bb0(%j: index):
    "scf.reduce"(%x) ({
    ^bb1(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      "scf.reduce.return"(%c) : (f32) -> ()
    }) : (f32) -> ()
  }) : (index, index, index, f32) -> f32
  kernel.return
}

// CHECK:      Illegal at the loops level: it is not allowed in scf.reduce (operator 'arith.addf'

// -----

kernel.func @k(%z: complex<f32>) {
  kernel.return
}

// CHECK:      Illegal at the loops level: it defines a value of type complex<f32> (operator 'kernel.func'

// -----

func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = kernel.call @k(%x) : (tensor<3xf32>) -> tensor<3xf32>
  func.return %0 : tensor<3xf32>
}

// CHECK:      Illegal at the loops level: it names no source nodes (operator 'kernel.call'
