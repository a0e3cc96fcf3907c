// RUN: mlc-opt %s -p tile-kernels --verify-diagnostics --split-input-file | filecheck %s

// Schedules that do not fit statements of different spaces, reductions, or the lanes.

kernel.func @k(%a: memref<6x5xf32>, %t: memref<6x7xf32>, %o: memref<6x5xf32>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"x: S0 S1 | i j | ">} {
  poly.statement "S0" ins(%a : memref<6x5xf32>) outs(%o : memref<6x5xf32>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < 5">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b2[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.statement "S1" ins(%a : memref<6x5xf32>) outs(%t : memref<6x7xf32>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < 7">, accesses = [#poly.access<"b0[i, 0]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      j is not one iterator of all of S0, S1

// -----

kernel.func @k(%a: memref<6x5xf32>, %o: memref<6x5xf32>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"x: S0 | i/2v j/5v | ">} {
  poly.statement "S0" ins(%a : memref<6x5xf32>) outs(%o : memref<6x5xf32>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < 5">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      'x: S0 | i/2v j/5v | ': only one iterator can be vectorized (v)

// -----

kernel.func @k(%a: memref<6x5xf32>, %o: memref<6x5xf32>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"x: S0 | i j/3*2v | ">} {
  poly.statement "S0" ins(%a : memref<6x5xf32>) outs(%o : memref<6x5xf32>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < 5">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      schedule item j/3*2v does not cover an extent of 5

// -----

kernel.func @sum(%a: memref<6x5xf32>, %o: memref<6xf32>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"x: S0 | i j | ">} {
  poly.statement "S0" ins(%a : memref<6x5xf32>) outs(%o : memref<6xf32>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < 5">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      S0 reduces over j, which must be after the second '|'

// -----

kernel.func @sum(%a: memref<6x5xf32>, %t: memref<6xf32>, %o: memref<6x5xf32>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"x: S0 S1 | i/4v | j/4v">} {
  poly.statement "S0" ins(%a : memref<6x5xf32>) outs(%t : memref<6xf32>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < 5">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.statement "S1" ins(%a, %t : memref<6x5xf32>, memref<6xf32>) outs(%o : memref<6x5xf32>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < 5">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i]">, #poly.access<"b2[i, j]">]} do {
  ^bb0(%x: f32, %s: f32):
    %d = arith.divf %x, %s : f32
    poly.yield %d : f32
  }
  kernel.return
}

// CHECK:      'x: S0 S1 | i/4v | j/4v': i and j cannot both be vectorized: a statement along j is no reduction, or reads what the nest computes

// -----

kernel.func @sum(%a: memref<6x?xf32, #graph.dims<["6", "n"]>>, %o: memref<6xf32>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"x: S0 | i/4v | j/4v">} {
  poly.statement "S0" ins(%a : memref<6x?xf32, #graph.dims<["6", "n"]>>) outs(%o : memref<6xf32>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < n">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      'x: S0 | i/4v | j/4v': i and j can both be vectorized where j has a constant extent
