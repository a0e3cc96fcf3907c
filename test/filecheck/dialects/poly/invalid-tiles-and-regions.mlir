// RUN: mlc-opt %s --verify-diagnostics --split-input-file | filecheck %s

// Statements without an end, and tiles whose lists differ in length.

kernel.func @k(%o: memref<4xf32>) {
  "poly.statement"(%o) <{id = "S0", domain = #poly.domain<"0 <= i < 4">, accesses = [#poly.access<"b0[i]">], operandSegmentSizes = array<i32: 0, 1>}> ({
  }) : (memref<4xf32>) -> ()
  kernel.return
}

// CHECK:      Region 'body' at position 0 expected a single block, but got 0 blocks

// -----

kernel.func @k(%o: memref<4xf32>) {
  "poly.statement"(%o) <{id = "S0", domain = #poly.domain<"0 <= i < 4">, accesses = [#poly.access<"b0[i]">], operandSegmentSizes = array<i32: 0, 1>}> ({
    %c = arith.constant 2.0 : f64
    poly.yield %c : f64
  }) : (memref<4xf32>) -> ()
  kernel.return
}

// CHECK:      poly.statement "S0": its region must end in a poly.yield of one f32

// -----

kernel.func @k(%a: memref<4xf32>) {
  poly.tile "T0" {statements = ["S0"], iters = ["i"], starts = ["0", "4"], sizes = array<i64: 1>, valid = ["1"], vector = ""}
  kernel.return
}

// CHECK:      poly.tile "T0": 1 iters, 2 starts, 1 sizes and 1 valid; write one of each for each axis

// -----

kernel.func @k(%a: memref<4xf32>) {
  poly.tile "T0" {statements = ["S0"], iters = ["i"], starts = ["0"], sizes = array<i64: 1>, valid = [], vector = ""}
  kernel.return
}

// CHECK:      poly.tile "T0": 1 iters, 1 starts, 1 sizes and 0 valid; write one of each for each axis

// -----

kernel.func @k(%a: memref<4xf32>) {
  poly.tile "T0" {statements = ["S0"], iters = ["i"], starts = ["0"], sizes = array<i64: 0>, valid = ["0"], vector = ""}
  kernel.return
}

// CHECK:      poly.tile "T0": a size is smaller than 1

// -----

kernel.func @k(%a: memref<4xf32>) {
  poly.tile "T0" {statements = ["S0"], iters = ["i"], starts = ["0"], sizes = array<i64: 1>, valid = ["1"], vector = "j"}
  kernel.return
}

// CHECK:      poly.tile "T0": the vectorized iterator "j" is not one of its iters

// -----

kernel.func @k(%a: memref<4xf32>, %o: memref<4xf32>) {
  poly.statement "S0" ins(%a : memref<4xf32>) outs(%o : memref<4xf32>) {domain = #poly.domain<"0 <= i < 4">, accesses = [#poly.access<"b0[i]">, #poly.access<"b1[i]">]} do {
  ^bb0(%x: f32):
  }
  kernel.return
}

// CHECK:      Operation poly.statement contains empty block in single-block region that expects at least a terminator
