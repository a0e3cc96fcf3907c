// RUN: mlc-opt %s --verify-diagnostics --split-input-file | filecheck %s

// Statements on tensors, without operands to write or of too many accesses, and a tile without its expansion.

kernel.func @k(%a: tensor<4xf32>, %o: memref<4xf32>) {
  poly.statement "S0" ins(%a : tensor<4xf32>) outs(%o : memref<4xf32>) {domain = "{ S0[i] : 0 <= i < 4 }", accesses = ["{ S0[i] -> b0[i] }", "{ S0[i] -> b1[i] }"]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      tensor<4xf32> should be of base attribute memref

// -----

kernel.func @k(%o: memref<4xf32>) {
  poly.statement "S3" outs(%o : memref<4xf32>) {domain = "{ S3[i] : 0 <= i < 4 }", accesses = ["{ S3[i] -> b0[i] }", "{ S3[i] -> b0[i] }"]} do {
    %c = arith.constant 2.0 : f32
    poly.yield %c : f32
  }
  kernel.return
}

// CHECK:      poly.statement "S3": 2 accesses for 1 operands

// -----

kernel.func @k(%o: memref<4xf32>) {
  poly.statement "S0" outs(%o : memref<4xf32>) {accesses = ["{ S0[i] -> b0[i] }"]} do {
    %c = arith.constant 2.0 : f32
    poly.yield %c : f32
  }
  kernel.return
}

// CHECK:      property 'domain' expected in operation 'poly.statement'

// -----

kernel.func @k(%a: memref<4xf32>) {
  poly.tile "T0" {statements = ["S0"], domain = "{ T0[i] : 0 <= i < 4 }", iters = ["i"], starts = ["0"], sizes = array<i64: 1>, lanes = [""], inner = [], vector = ""}
  kernel.return
}

// CHECK:      property 'expansion' expected in operation 'poly.tile'
