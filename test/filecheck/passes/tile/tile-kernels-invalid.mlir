// RUN: mlc-opt %s -p tile-kernels --verify-diagnostics --parsing-diagnostics --split-input-file | filecheck %s

kernel.func @k(%a: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %t: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %o: memref<6x?xf32, #graph.dims<["6", "batch"]>>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"elementwise: S0 S1 | i/4 j/16v | ">} {
  poly.statement "S0" ins(%a : memref<6x?xf32, #graph.dims<["6", "batch"]>>) outs(%t : memref<6x?xf32, #graph.dims<["6", "batch"]>>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < batch">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.statement "S1" ins(%t : memref<6x?xf32, #graph.dims<["6", "batch"]>>) outs(%o : memref<6x?xf32, #graph.dims<["6", "batch"]>>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < batch">, accesses = [#poly.access<"b1[i, j]">, #poly.access<"b2[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      schedule item i/4 does not cover an extent of 6

// -----

kernel.func @k(%a: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %t: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %o: memref<6x?xf32, #graph.dims<["6", "batch"]>>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"elementwise: S0 S1 | i j/4 | ">} {
  poly.statement "S0" ins(%a : memref<6x?xf32, #graph.dims<["6", "batch"]>>) outs(%t : memref<6x?xf32, #graph.dims<["6", "batch"]>>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < batch">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.statement "S1" ins(%t : memref<6x?xf32, #graph.dims<["6", "batch"]>>) outs(%o : memref<6x?xf32, #graph.dims<["6", "batch"]>>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < batch">, accesses = [#poly.access<"b1[i, j]">, #poly.access<"b2[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      schedule item j/4 does not cover an extent of batch

// -----

kernel.func @k(%a: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %t: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %o: memref<6x?xf32, #graph.dims<["6", "batch"]>>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"elementwise: S0 S1 | i/4*2 j/16v | ">} {
  poly.statement "S0" ins(%a : memref<6x?xf32, #graph.dims<["6", "batch"]>>) outs(%t : memref<6x?xf32, #graph.dims<["6", "batch"]>>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < batch">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.statement "S1" ins(%t : memref<6x?xf32, #graph.dims<["6", "batch"]>>) outs(%o : memref<6x?xf32, #graph.dims<["6", "batch"]>>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < batch">, accesses = [#poly.access<"b1[i, j]">, #poly.access<"b2[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      schedule item i/4*2 does not cover an extent of 6

// -----

kernel.func @k(%a: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %t: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %o: memref<6x?xf32, #graph.dims<["6", "batch"]>>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"elementwise: S0 S1 | i j/16v | ">} {
  poly.statement "S0" ins(%a : memref<6x?xf32, #graph.dims<["6", "batch"]>>) outs(%t : memref<6x?xf32, #graph.dims<["6", "batch"]>>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < batch">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.statement "S1" ins(%t : memref<6x?xf32, #graph.dims<["6", "batch"]>>) outs(%o : memref<6x?xf32, #graph.dims<["6", "batch"]>>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < batch">, accesses = [#poly.access<"b1[i, batch - j - 1]">, #poly.access<"b2[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      splits a dependence over two tiles; both instances must be in one tile

// -----

kernel.func @k(%a: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %t: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %o: memref<6x?xf32, #graph.dims<["6", "batch"]>>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"rows: S0 | i | j; rows: S1 | i | j">} {
  poly.statement "S0" ins(%a : memref<6x?xf32, #graph.dims<["6", "batch"]>>) outs(%t : memref<6x?xf32, #graph.dims<["6", "batch"]>>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < batch">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.statement "S1" ins(%t : memref<6x?xf32, #graph.dims<["6", "batch"]>>) outs(%o : memref<6x?xf32, #graph.dims<["6", "batch"]>>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < batch">, accesses = [#poly.access<"b1[i, j]">, #poly.access<"b2[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      its nests depend on each other; name them 'serial'

// -----

kernel.func @k(%a: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %t: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %o: memref<6x?xf32, #graph.dims<["6", "batch"]>>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"serial: S1 | i j | ; serial: S0 | i j | ">} {
  poly.statement "S0" ins(%a : memref<6x?xf32, #graph.dims<["6", "batch"]>>) outs(%t : memref<6x?xf32, #graph.dims<["6", "batch"]>>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < batch">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.statement "S1" ins(%t : memref<6x?xf32, #graph.dims<["6", "batch"]>>) outs(%o : memref<6x?xf32, #graph.dims<["6", "batch"]>>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < batch">, accesses = [#poly.access<"b1[i, j]">, #poly.access<"b2[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      statements must keep their order S0 S1

// -----

kernel.func @k(%a: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %t: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %o: memref<6x?xf32, #graph.dims<["6", "batch"]>>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"elementwise: S0 | i j/16v | ">} {
  poly.statement "S0" ins(%a : memref<6x?xf32, #graph.dims<["6", "batch"]>>) outs(%t : memref<6x?xf32, #graph.dims<["6", "batch"]>>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < batch">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.statement "S1" ins(%t : memref<6x?xf32, #graph.dims<["6", "batch"]>>) outs(%o : memref<6x?xf32, #graph.dims<["6", "batch"]>>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < batch">, accesses = [#poly.access<"b1[i, j]">, #poly.access<"b2[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      not every statement instance is in a tile

// -----

kernel.func @k(%a: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %t: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %o: memref<6x?xf32, #graph.dims<["6", "batch"]>>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"elementwise: S0 S2 | i j/16v | ">} {
  poly.statement "S0" ins(%a : memref<6x?xf32, #graph.dims<["6", "batch"]>>) outs(%t : memref<6x?xf32, #graph.dims<["6", "batch"]>>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < batch">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.statement "S1" ins(%t : memref<6x?xf32, #graph.dims<["6", "batch"]>>) outs(%o : memref<6x?xf32, #graph.dims<["6", "batch"]>>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < batch">, accesses = [#poly.access<"b1[i, j]">, #poly.access<"b2[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      kernel @k has no statement S2

// -----

kernel.func @k(%a: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %t: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %o: memref<6x?xf32, #graph.dims<["6", "batch"]>>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"elementwise: S0 S1 | i k/16v | ">} {
  poly.statement "S0" ins(%a : memref<6x?xf32, #graph.dims<["6", "batch"]>>) outs(%t : memref<6x?xf32, #graph.dims<["6", "batch"]>>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < batch">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.statement "S1" ins(%t : memref<6x?xf32, #graph.dims<["6", "batch"]>>) outs(%o : memref<6x?xf32, #graph.dims<["6", "batch"]>>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < batch">, accesses = [#poly.access<"b1[i, j]">, #poly.access<"b2[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      'elementwise: S0 S1 | i k/16v | ': band and inner must name each of the iterators i, j once

// -----

kernel.func @k(%a: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %t: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %o: memref<6x?xf32, #graph.dims<["6", "batch"]>>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"elementwise: S0 S1 | i i j | ">} {
  poly.statement "S0" ins(%a : memref<6x?xf32, #graph.dims<["6", "batch"]>>) outs(%t : memref<6x?xf32, #graph.dims<["6", "batch"]>>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < batch">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.statement "S1" ins(%t : memref<6x?xf32, #graph.dims<["6", "batch"]>>) outs(%o : memref<6x?xf32, #graph.dims<["6", "batch"]>>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < batch">, accesses = [#poly.access<"b1[i, j]">, #poly.access<"b2[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      'elementwise: S0 S1 | i i j | ': band and inner must name each of the iterators i, j once

// -----

kernel.func @k(%a: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %t: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %o: memref<6x?xf32, #graph.dims<["6", "batch"]>>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"elementwise: S0 S1 | i j/sixteen | ">} {
  poly.statement "S0" ins(%a : memref<6x?xf32, #graph.dims<["6", "batch"]>>) outs(%t : memref<6x?xf32, #graph.dims<["6", "batch"]>>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < batch">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.statement "S1" ins(%t : memref<6x?xf32, #graph.dims<["6", "batch"]>>) outs(%o : memref<6x?xf32, #graph.dims<["6", "batch"]>>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < batch">, accesses = [#poly.access<"b1[i, j]">, #poly.access<"b2[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      schedule item 'j/sixteen' is not 'iterator/size*count+…'

// -----

kernel.func @k(%a: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %t: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %o: memref<6x?xf32, #graph.dims<["6", "batch"]>>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"elementwise: S0 S1 | i j/0v | ">} {
  poly.statement "S0" ins(%a : memref<6x?xf32, #graph.dims<["6", "batch"]>>) outs(%t : memref<6x?xf32, #graph.dims<["6", "batch"]>>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < batch">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.statement "S1" ins(%t : memref<6x?xf32, #graph.dims<["6", "batch"]>>) outs(%o : memref<6x?xf32, #graph.dims<["6", "batch"]>>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < batch">, accesses = [#poly.access<"b1[i, j]">, #poly.access<"b2[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      schedule item 'j/0v' has a tile smaller than 1

// -----

kernel.func @k(%a: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %t: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %o: memref<6x?xf32, #graph.dims<["6", "batch"]>>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"elementwise S0 S1 | i j | ">} {
  poly.statement "S0" ins(%a : memref<6x?xf32, #graph.dims<["6", "batch"]>>) outs(%t : memref<6x?xf32, #graph.dims<["6", "batch"]>>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < batch">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.statement "S1" ins(%t : memref<6x?xf32, #graph.dims<["6", "batch"]>>) outs(%o : memref<6x?xf32, #graph.dims<["6", "batch"]>>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < batch">, accesses = [#poly.access<"b1[i, j]">, #poly.access<"b2[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      is not 'rule: statements | band | inner'

// -----

kernel.func @k(%a: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %t: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %o: memref<6x?xf32, #graph.dims<["6", "batch"]>>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"elementwise: S0 S1 | i j">} {
  poly.statement "S0" ins(%a : memref<6x?xf32, #graph.dims<["6", "batch"]>>) outs(%t : memref<6x?xf32, #graph.dims<["6", "batch"]>>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < batch">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.statement "S1" ins(%t : memref<6x?xf32, #graph.dims<["6", "batch"]>>) outs(%o : memref<6x?xf32, #graph.dims<["6", "batch"]>>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < batch">, accesses = [#poly.access<"b1[i, j]">, #poly.access<"b2[i, j]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      is not 'rule: statements | band | inner'

// -----

kernel.func @k(%a: memref<6x5xf32>, %o: memref<6xf32>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"rows: S0 | i/2 | j/4v">} {
  poly.statement "S0" ins(%a : memref<6x5xf32>) outs(%o : memref<6xf32>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < 5">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      S0 is reduced across lanes, so i/2 must have tiles of 1
