// RUN: mlc-opt %s --verify-diagnostics --split-input-file | filecheck %s

// Statements on tensors, without operands to write or of too many accesses, and a tile that does not say what runs along the lanes.

kernel.func @k(%a: tensor<4xf32>, %o: memref<4xf32>) {
  poly.statement "S0" ins(%a : tensor<4xf32>) outs(%o : memref<4xf32>) {domain = #poly.domain<"0 <= i < 4">, accesses = [#poly.access<"b0[i]">, #poly.access<"b1[i]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      tensor<4xf32> should be of base attribute memref

// -----

kernel.func @k(%o: memref<4xf32>) {
  poly.statement "S3" outs(%o : memref<4xf32>) {domain = #poly.domain<"0 <= i < 4">, accesses = [#poly.access<"b0[i]">, #poly.access<"b0[i]">]} do {
    %c = arith.constant 2.0 : f32
    poly.yield %c : f32
  }
  kernel.return
}

// CHECK:      poly.statement "S3": 2 accesses for 1 operands

// -----

kernel.func @k(%o: memref<4xf32>) {
  poly.statement "S0" outs(%o : memref<4xf32>) {accesses = [#poly.access<"b0[i]">]} do {
    %c = arith.constant 2.0 : f32
    poly.yield %c : f32
  }
  kernel.return
}

// CHECK:      property 'domain' expected in operation 'poly.statement'

// -----

kernel.func @k(%a: memref<4xf32>) {
  poly.tile "T0" {statements = ["S0"], iters = ["i"], starts = ["0"], sizes = array<i64: 1>, valid = ["1"]}
  kernel.return
}

// CHECK:      property 'vector' expected in operation 'poly.tile'

// -----

kernel.func @k(%a: memref<4x8xf32>, %o: memref<4xf32>) {
  poly.statement "S0" ins(%a : memref<4x8xf32>) outs(%o : memref<4xf32>) {domain = #poly.domain<"0 <= i < 4 and 0 <= j < 8">, accesses = [#poly.access<"b0[i]">, #poly.access<"b1[i]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      poly.statement "S0": 1 indices of b0, which has rank 2
