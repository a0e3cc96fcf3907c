// RUN: mlc-opt %s --verify-diagnostics --split-input-file | filecheck %s

kernel.func @k(%a: memref<4x8xf32>, %o: memref<4xf32>) {
  poly.statement "S0" ins(%a : memref<4x8xf32>) outs(%o : memref<4xf32>) {domain = #poly.domain<"0 <= i < 4 and 0 <= j < 8">, accesses = [#poly.access<"b0[i, j]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      poly.statement "S0": 1 accesses for 2 operands

// -----

kernel.func @k(%a: memref<4x8xf32>, %o: memref<4xf32>) {
  poly.statement "S0" ins(%a : memref<4x8xf32>) outs(%o : memref<4xf32>) {domain = #poly.domain<"0 <= i < 4 and 0 <= j < 8">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%x: f32, %acc: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      poly.statement "S0": the region takes one element for each operand read

// -----

kernel.func @k(%a: memref<4x8xf32>, %o: memref<4xf32>) {
  poly.statement "S0" ins(%a : memref<4x8xf32>) outs(%o : memref<4xf32>) {domain = #poly.domain<"0 <= i < 4 and 0 <= j < 8">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i]">], monoid = "add"} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      poly.statement "S0": a monoid needs its initial value, and only a monoid

// -----

kernel.func @k(%a: memref<4x8xf32>, %o: memref<4xf32>) {
  poly.statement "S0" ins(%a : memref<4x8xf32>) outs(%o : memref<4xf32>) {domain = #poly.domain<"0 <= i < 4 and 0 <= j < 8">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i]">], init = 0.0 : f32} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      poly.statement "S0": a monoid needs its initial value, and only a monoid
