// RUN: mlc-opt %s -p tile-kernels --split-input-file | filecheck %s

// Blocks of an iterator stand round the whole band; a tile belongs to the block in which it begins.

kernel.func @k(%a: memref<8x5xf32>, %o: memref<8x5xf32>) attributes {schedule = #poly.schedule<"x: S0 | i@4 j i | ">} {
  poly.statement "S0" ins(%a : memref<8x5xf32>) outs(%o : memref<8x5xf32>) {domain = #poly.domain<"0 <= i < 8 and 0 <= j < 5">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      kernel.func @k({{.*}}schedule_tree = "{ domain: \22{ T0[j, i] : 0 <= j <= 4 and 0 <= i <= 7 }\22, child: { schedule: \22[{ T0[j, i] -> [(floor((i)/2))] }]\22, permutable: 1, coincident: [ 1 ], child: { schedule: \22[{ T0[j, i] -> [(j)] }]\22, permutable: 1, coincident: [ 1 ], child: { schedule: \22[{ T0[j, i] -> [(i)] }]\22, permutable: 1, coincident: [ 1 ] } } } }"}

// -----

// Tiles of several sizes have one loop over blocks.

kernel.func @k(%a: memref<8x5xf32>, %o: memref<8x5xf32>) attributes {schedule = #poly.schedule<"x: S0 | i@2 i/3*2+2 j/4v | ">} {
  poly.statement "S0" ins(%a : memref<8x5xf32>) outs(%o : memref<8x5xf32>) {domain = #poly.domain<"0 <= i < 8 and 0 <= j < 5">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      kernel.func @k({{.*}}schedule_tree = "{ domain: \22{ T0[i, j = 0] : 0 <= i <= 1; T2[i = 0, j = 0]; T3[i = 0, j = 0]; T1[i, j = 0] : 0 <= i <= 1 }\22, child: { schedule: \22[{ T0[i, j] -> [(i + floor((-i)/4))]; T2[i, j] -> [(1 + floor((1 + i)/2))]; T3[i, j] -> [(1 + floor((1 + i)/2))]; T1[i, j] -> [(i + floor((-i)/4))] }]\22, permutable: 1, coincident: [ 1 ], child: { sequence: [ { filter: \22{ T0[i, j]; T1[i, j] }\22, child: { schedule: \22[{ T0[i, j] -> [(i)]; T1[i, j] -> [(i)] }]\22, permutable: 1, coincident: [ 1 ], child: { sequence: [ { filter: \22{ T0[i, j] }\22, child: { schedule: \22[{ T0[i, j] -> [(j)] }]\22, permutable: 1, coincident: [ 1 ] } }, { filter: \22{ T1[i, j] }\22, child: { schedule: \22[{ T1[i, j] -> [(j)] }]\22, permutable: 1, coincident: [ 1 ] } } ] } } }, { filter: \22{ T2[i, j]; T3[i, j] }\22, child: { schedule: \22[{ T2[i, j] -> [(i)]; T3[i, j] -> [(i)] }]\22, permutable: 1, coincident: [ 1 ], child: { sequence: [ { filter: \22{ T2[i, j] }\22, child: { schedule: \22[{ T2[i, j] -> [(j)] }]\22, permutable: 1, coincident: [ 1 ] } }, { filter: \22{ T3[i, j] }\22, child: { schedule: \22[{ T3[i, j] -> [(j)] }]\22, permutable: 1, coincident: [ 1 ] } } ] } } } ] } } }"}

// -----

// The band of each nest joined by & stands in one block, one after the other.

kernel.func @k(%a: memref<8x5xf32>, %o: memref<8x5xf32>) attributes {schedule = #poly.schedule<"x: S0 | i@4 i j | & x: S1 | i@4 j i | ">} {
  %t = kernel.local : memref<8x5xf32>
  poly.statement "S0" ins(%a : memref<8x5xf32>) outs(%t : memref<8x5xf32>) {domain = #poly.domain<"0 <= i < 8 and 0 <= j < 5">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"t0[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.statement "S1" ins(%t : memref<8x5xf32>) outs(%o : memref<8x5xf32>) {domain = #poly.domain<"0 <= i < 8 and 0 <= j < 5">, accesses = [#poly.access<"t0[i, -j + 4]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      kernel.func @k({{.*}}schedule_tree = "{ domain: \22{ T0[i, j] : 0 <= i <= 7 and 0 <= j <= 4; T1[j, i] : 0 <= j <= 4 and 0 <= i <= 7 }\22, child: { schedule: \22[{ T0[i, j] -> [(floor((i)/2))]; T1[j, i] -> [(floor((i)/2))] }]\22, permutable: 1, coincident: [ 1 ], child: { sequence: [ { filter: \22{ T0[i, j] }\22, child: { schedule: \22[{ T0[i, j] -> [(i)] }]\22, permutable: 1, coincident: [ 1 ], child: { schedule: \22[{ T0[i, j] -> [(j)] }]\22, permutable: 1, coincident: [ 1 ] } } }, { filter: \22{ T1[j, i] }\22, child: { schedule: \22[{ T1[j, i] -> [(j)] }]\22, permutable: 1, coincident: [ 1 ], child: { schedule: \22[{ T1[j, i] -> [(i)] }]\22, permutable: 1, coincident: [ 1 ] } } } ] } } }"}

// -----

// Where what a nest hands over stays in a block, other tiles in it may be other ones.

kernel.func @k(%a: memref<8x5xf32>, %o: memref<8x5xf32>) attributes {schedule = #poly.schedule<"x: S0 | i@2 i/2 j | & x: S1 | i@2 i/4 j | ">} {
  %t = kernel.local : memref<8x5xf32>
  poly.statement "S0" ins(%a : memref<8x5xf32>) outs(%t : memref<8x5xf32>) {domain = #poly.domain<"0 <= i < 8 and 0 <= j < 5">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"t0[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.statement "S1" ins(%t : memref<8x5xf32>) outs(%o : memref<8x5xf32>) {domain = #poly.domain<"0 <= i < 8 and 0 <= j < 5">, accesses = [#poly.access<"t0[i, -j + 4]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      kernel.func @k({{.*}}schedule_tree = "{ domain: \22{ T0[i, j] : 0 <= i <= 3 and 0 <= j <= 4; T1[i, j] : 0 <= i <= 1 and 0 <= j <= 4 }\22, child: { schedule: \22[{ T0[i, j] -> [(floor((i)/2))]; T1[i, j] -> [(i)] }]\22, permutable: 1, coincident: [ 1 ], child: { sequence: [ { filter: \22{ T0[i, j] }\22, child: { schedule: \22[{ T0[i, j] -> [(i)] }]\22, permutable: 1, coincident: [ 1 ], child: { schedule: \22[{ T0[i, j] -> [(j)] }]\22, permutable: 1, coincident: [ 1 ] } } }, { filter: \22{ T1[i, j] }\22, child: { schedule: \22[{ T1[i, j] -> [(i)] }]\22, permutable: 1, coincident: [ 1 ], child: { schedule: \22[{ T1[i, j] -> [(j)] }]\22, permutable: 1, coincident: [ 1 ] } } } ] } } }"}

// -----

// Tiled blocks: tiles of 3 and 1 cover a block of 4, and repeat in each. The coordinate i' counts the blocks.

kernel.func @k(%a: memref<8x5xf32>, %o: memref<8x5xf32>) attributes {schedule = #poly.schedule<"x: S0 | i@2t j i/3*1+1*1 | & x: S1 | i@2t i j/5v | ">} {
  %t = kernel.local : memref<8x5xf32>
  poly.statement "S0" ins(%a : memref<8x5xf32>) outs(%t : memref<8x5xf32>) {domain = #poly.domain<"0 <= i < 8 and 0 <= j < 5">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"t0[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.statement "S1" ins(%t : memref<8x5xf32>) outs(%o : memref<8x5xf32>) {domain = #poly.domain<"0 <= i < 8 and 0 <= j < 5">, accesses = [#poly.access<"t0[i, -j + 4]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      poly.tile "T0" {statements = ["S0"], iters = ["i", "j", "i"], starts = ["0", "0", "0"], sizes = array<i64: 4, 1, 3>
// CHECK:      poly.tile "T1" {statements = ["S0"], iters = ["i", "j", "i"], starts = ["0", "0", "3"], sizes = array<i64: 4, 1, 1>
// CHECK:      poly.tile "T2" {statements = ["S1"], iters = ["i", "i", "j"], starts = ["0", "0", "0"], sizes = array<i64: 4, 1, 5>
