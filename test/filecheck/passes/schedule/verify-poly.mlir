// RUN: mlc-opt %s -p verify-poly --verify-diagnostics --split-input-file | filecheck %s

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

// CHECK:      Illegal at the poly level: it is not allowed in poly.statement (operator 'vector.broadcast'

// -----

kernel.func @k(%a: memref<3x5xf32>, %o: memref<3x5xf32>) {
  kernel.generic ["i", "j"] ins(%a : memref<3x5xf32>) outs(%o : memref<3x5xf32>) {bounds = ["3", "5"], maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]} do {
  ^bb0(%x: f32):
    %y = math.exp %x : f32
    kernel.yield %y : f32
  }
  kernel.return
}

// CHECK:      Illegal at the poly level: it is not allowed in kernel.func (operator 'kernel.generic'
