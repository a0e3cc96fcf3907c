// RUN: mlc-opt %s -p tile-kernels --verify-diagnostics --parsing-diagnostics --split-input-file | filecheck %s

// Blocks that a band cannot have, and nests that cannot run block by block.

kernel.func @k(%a: memref<8x5xf32>, %o: memref<8x5xf32>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"x: S0 | j@2 i | j/4v">} {
  poly.statement "S0" ins(%a : memref<8x5xf32>) outs(%o : memref<8x5xf32>) {domain = #poly.domain<"0 <= i < 8 and 0 <= j < 5">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      'x: S0 | j@2 i | j/4v': j@2 is no iterator of the band with a constant extent

// -----

kernel.func @k(%a: memref<8x5xf32>, %o: memref<8x5xf32>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"x: S0 | k@2 i j | ">} {
  poly.statement "S0" ins(%a : memref<8x5xf32>) outs(%o : memref<8x5xf32>) {domain = #poly.domain<"0 <= i < 8 and 0 <= j < 5">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      'x: S0 | k@2 i j | ': k@2 is no iterator of the band with a constant extent

// -----

kernel.func @k(%a: memref<?x5xf32, #graph.dims<["n", "5"]>>, %o: memref<?x5xf32, #graph.dims<["n", "5"]>>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"x: S0 | i@2 i j | ">} {
  poly.statement "S0" ins(%a : memref<?x5xf32, #graph.dims<["n", "5"]>>) outs(%o : memref<?x5xf32, #graph.dims<["n", "5"]>>) {domain = #poly.domain<"0 <= i < n and 0 <= j < 5">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      'x: S0 | i@2 i j | ': i@2 is no iterator of the band with a constant extent

// -----

kernel.func @k(%a: memref<8x5xf32>, %o: memref<8x5xf32>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"x: S0 | i@0 i j | ">} {
  poly.statement "S0" ins(%a : memref<8x5xf32>) outs(%o : memref<8x5xf32>) {domain = #poly.domain<"0 <= i < 8 and 0 <= j < 5">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      schedule item 'i@0': blocks, as in y@4, must be first in the band and at least 1

// -----

kernel.func @k(%a: memref<8x5xf32>, %o: memref<8x5xf32>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"x: S0 | i i@2 j | ">} {
  poly.statement "S0" ins(%a : memref<8x5xf32>) outs(%o : memref<8x5xf32>) {domain = #poly.domain<"0 <= i < 8 and 0 <= j < 5">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      schedule item 'i@2': blocks, as in y@4, must be first in the band and at least 1

// -----

kernel.func @k(%a: memref<8x5xf32>, %o: memref<8x5xf32>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"x: S0 | i | j@2">} {
  poly.statement "S0" ins(%a : memref<8x5xf32>) outs(%o : memref<8x5xf32>) {domain = #poly.domain<"0 <= i < 8 and 0 <= j < 5">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      schedule item 'j@2': blocks, as in y@4, must be first in the band and at least 1

// -----

kernel.func @k(%a: memref<8x5xf32>, %o: memref<8x5xf32>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"& x: S0 | i | j">} {
  poly.statement "S0" ins(%a : memref<8x5xf32>) outs(%o : memref<8x5xf32>) {domain = #poly.domain<"0 <= i < 8 and 0 <= j < 5">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      schedule '' is not 'rule: statements | band | inner'

// -----

kernel.func @k(%a: memref<8x5xf32>, %o: memref<8x5xf32>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"x: S0 | i@4 | j">} {
  poly.statement "S0" ins(%a : memref<8x5xf32>) outs(%o : memref<8x5xf32>) {domain = #poly.domain<"0 <= i < 8 and 0 <= j < 5">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      'x: S0 | i@4 | j': band and inner must name each of the iterators i, j once

// -----

kernel.func @k(%a: memref<8x5xf32>, %o: memref<8x5xf32>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"x: S0 | i@4 i j | & x: S1 | i@2 i j | ">} {
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

// CHECK:      'x: S1 | i@2 i j | ': nests joined by '&' must have blocks (@), and as many

// -----

kernel.func @k(%a: memref<8x5xf32>, %o: memref<8x5xf32>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"x: S0 | i@4 i j | & x: S1 | i j | ">} {
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

// CHECK:      'x: S1 | i j | ': nests joined by '&' must have blocks (@), and as many

// -----

kernel.func @k(%a: memref<8x5xf32>, %o: memref<8x5xf32>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"x: S0 | i j | & x: S1 | i j | ">} {
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

// CHECK:      'x: S1 | i j | ': nests joined by '&' must have blocks (@), and as many

// -----

kernel.func @k(%a: memref<8x5xf32>, %o: memref<8x5xf32>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"x: S0 | i@4 i j | & x: S1 | i@4 i j | ">} {
  %t = kernel.local : memref<8x5xf32>
  poly.statement "S0" ins(%a : memref<8x5xf32>) outs(%t : memref<8x5xf32>) {domain = #poly.domain<"0 <= i < 8 and 0 <= j < 5">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"t0[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.statement "S1" ins(%t : memref<8x5xf32>) outs(%o : memref<8x5xf32>) {domain = #poly.domain<"0 <= i < 8 and 0 <= j < 5">, accesses = [#poly.access<"t0[-i + 7, -j + 4]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      schedule of kernel @k: a block of nests joined by '&' needs results of another; write ';' instead of '&'

// -----

kernel.func @k(%a: memref<8x5xf32>, %o: memref<8x5xf32>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"serial: S0 | i@4 i j | & serial: S1 | i@4 i j | ">} {
  %t = kernel.local : memref<8x5xf32>
  poly.statement "S0" ins(%a : memref<8x5xf32>) outs(%t : memref<8x5xf32>) {domain = #poly.domain<"0 <= i < 8 and 0 <= j < 5">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"t0[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.statement "S1" ins(%t : memref<8x5xf32>) outs(%o : memref<8x5xf32>) {domain = #poly.domain<"0 <= i < 8 and 0 <= j < 5">, accesses = [#poly.access<"t0[-i + 7, -j + 4]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      schedule of kernel @k: a block of nests joined by '&' needs results of another; write ';' instead of '&'

// -----

kernel.func @k(%a: memref<8x5xf32>, %o: memref<8x5xf32>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"x: S0 | i@8 i j | & x: S1 | j@8 i j | ">} {
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

// CHECK:      schedule of kernel @k: a block of nests joined by '&' needs results of another; write ';' instead of '&'

// -----

kernel.func @k(%a: memref<8x5xf32>, %o: memref<8x5xf32>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"x: S1 | i@8 i j | & x: S0 | i@8 i j | ">} {
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

// CHECK:      schedule of kernel @k: statements must keep their order S0 S1

// -----

kernel.func @k(%a: memref<8x5xf32>, %o: memref<8x5xf32>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"x: S0 | i@8 i j | ; x: S1 | i@8 i j | ">} {
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

// CHECK:      schedule of kernel @k: its nests depend on each other; name them 'serial'

// -----

kernel.func @k(%a: memref<8x5xf32>, %o: memref<8x5xf32>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"x: S0 | i@5t i j | ">} {
  poly.statement "S0" ins(%a : memref<8x5xf32>) outs(%o : memref<8x5xf32>) {domain = #poly.domain<"0 <= i < 8 and 0 <= j < 5">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      i@5t needs equal blocks, of which the last may be smaller, and i has 8 points

// -----

// The tiles cover more than a block.

kernel.func @k(%a: memref<8x5xf32>, %o: memref<8x5xf32>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"x: S0 | i@2t i/3*2+1*2 j | ">} {
  poly.statement "S0" ins(%a : memref<8x5xf32>) outs(%o : memref<8x5xf32>) {domain = #poly.domain<"0 <= i < 8 and 0 <= j < 5">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      schedule item i/3*2+1*2 does not cover an extent of 4
