// RUN: mlc-opt %s -p tile-kernels,lower-tiles --verify-diagnostics --split-input-file | filecheck %s

// Threads divide blocks. With a block for each row, what one nest hands to the next is a local array of one row.

kernel.func @k(%a: memref<8x5xf32>, %o: memref<8x5xf32>) attributes {schedule = #poly.schedule<"x: S0 | i@8 i j | & x: S1 | i@8 i j | ">} {
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

// CHECK:      [[T:%\w+]] = kernel.local : memref<5xf32>
// CHECK:      "scf.parallel"({{.*}}
// CHECK-NEXT: ^bb0([[I:%\w+]]: index):
// CHECK:      scf.for [[J:%\w+]] = {{.*}}{
// CHECK:      kernel.write {{.*}}, [[T]][[[J]]]
// CHECK:      scf.for {{.*}}{
// CHECK:      kernel.read [[T]][
// CHECK:      kernel.write {{.*}}, %o[
// CHECK-NOT:  "scf.parallel"
// CHECK:      scf.reduce

// -----

// Blocks of two rows: the array keeps them all.

kernel.func @k(%a: memref<8x5xf32>, %o: memref<8x5xf32>) attributes {schedule = #poly.schedule<"x: S0 | i@4 i j | & x: S1 | i@4 i/2 j | ">} {
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

// CHECK:      [[T:%\w+]] = kernel.local : memref<8x5xf32>
// CHECK:      "scf.parallel"({{.*}}
// CHECK:      kernel.write {{.*}}, [[T]][
// CHECK:      kernel.read [[T]][
// CHECK-NOT:  "scf.parallel"
// CHECK:      scf.reduce

// -----

// Nests that run one after the other on one thread share the whole array, in blocks or not.

kernel.func @k(%a: memref<8x5xf32>, %o: memref<8x5xf32>) attributes {schedule = #poly.schedule<"serial: S0 | i@8 i j | ; serial: S1 | i@8 i j | ">} {
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

// CHECK:      kernel.local : memref<8x5xf32>
// CHECK-NOT:  "scf.parallel"
// CHECK:      kernel.return

// -----

// Where isl makes no loop over blocks, or one for each, threads would divide each nest alone.

kernel.func @k(%a: memref<8x5xf32>, %o: memref<8x5xf32>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"x: S0 | i@1 i j | & x: S1 | i@1 i j | ">} {
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

// CHECK:      'x: S0 | i@1 i j | ': nests joined by '&' need one loop over several blocks; give their tiles one size

// -----

kernel.func @k(%a: memref<8x5xf32>, %o: memref<8x5xf32>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"x: S0 | i@4 i/6+2 j | & x: S1 | i@4 i/6+2 j | ">} {
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

// CHECK:      'x: S0 | i@4 i/6+2 j | ': nests joined by '&' need one loop over several blocks; give their tiles one size

// -----

// Tiled blocks of four rows, in tiles of 3 and 1: the array has the rows of one block, and one loop runs over blocks.

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

// CHECK:      [[T:%\w+]] = kernel.local : memref<4x5xf32>
// CHECK:      "scf.parallel"({{.*}}
// CHECK-NEXT: ^bb0([[I:%\w+]]: index):
// CHECK:      scf.for [[J:%\w+]] = {{.*}}{
// CHECK:      kernel.write {{.*}}, [[T]][[[J]]] {strides = array<i64: 5>} : vector<3xf32>
// CHECK-NOT:  scf.for
// CHECK:      kernel.write {{.*}}, [[T]][{{.*}} : f32, memref<4x5xf32>
// CHECK:      scf.for [[R:%\w+]] = %c0 to %c4 step
// CHECK:      kernel.read [[T]][
// CHECK-NOT:  "scf.parallel"
// CHECK:      scf.reduce
