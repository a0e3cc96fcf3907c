// RUN: mlc-opt %s -p tile-kernels --verify-diagnostics --split-input-file | filecheck %s

// Tiles of what is left of the lanes, of sizes while they fit, of one point and of none.

kernel.func @rest_of_the_lanes(%a: memref<5xf32>, %o: memref<5xf32>) attributes {schedule = #poly.schedule<"x: S0 | i/4v | ">} {
  poly.statement "S0" ins(%a : memref<5xf32>) outs(%o : memref<5xf32>) {domain = #poly.domain<"0 <= i < 5">, accesses = [#poly.access<"b0[i]">, #poly.access<"b1[i]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      kernel.func @rest_of_the_lanes({{.*}}sequence: [ { filter: \22{ T0[i] }\22, {{.*}} { filter: \22{ T1[i] }\22,
// CHECK:      poly.tile "T0" {statements = ["S0"], iters = ["i"], starts = ["0"], sizes = array<i64: 4>, valid = ["4"], vector = "i"}
// CHECK-NEXT: poly.tile "T1" {statements = ["S0"], iters = ["i"], starts = ["4"], sizes = array<i64: 1>, valid = ["1"], vector = "i"}
// CHECK-NEXT: kernel.return

// -----

kernel.func @sizes_that_repeat(%a: memref<9xf32>, %o: memref<9xf32>) attributes {schedule = #poly.schedule<"x: S0 | i/4+2+1 | ">} {
  poly.statement "S0" ins(%a : memref<9xf32>) outs(%o : memref<9xf32>) {domain = #poly.domain<"0 <= i < 9">, accesses = [#poly.access<"b0[i]">, #poly.access<"b1[i]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      poly.tile "T0" {statements = ["S0"], {{.*}}, starts = ["0"], sizes = array<i64: 4>, valid = ["4"], vector = ""}
// CHECK-NEXT: poly.tile "T1" {statements = ["S0"], {{.*}}, starts = ["8"], sizes = array<i64: 1>, valid = ["1"], vector = ""}
// CHECK-NEXT: kernel.return

// -----

kernel.func @no_iterators(%a: memref<f32>, %o: memref<f32>) attributes {schedule = #poly.schedule<"x: S0 |  | ">} {
  poly.statement "S0" ins(%a : memref<f32>) outs(%o : memref<f32>) {domain = #poly.domain<"">, accesses = [#poly.access<"b0[]">, #poly.access<"b1[]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      kernel.func @no_iterators({{.*}}schedule_tree = "{ domain: \22{ T0[] }\22 }"} {
// CHECK:      poly.tile "T0" {statements = ["S0"], iters = [], starts = [], sizes = array<i64>, valid = [], vector = ""}
// CHECK-NEXT: kernel.return

// -----

kernel.func @of_nothing(%a: memref<0xf32>, %o: memref<0xf32>) attributes {schedule = #poly.schedule<"x: S0 | i/4v | ">} {
  poly.statement "S0" ins(%a : memref<0xf32>) outs(%o : memref<0xf32>) {domain = #poly.domain<"0 <= i < 0">, accesses = [#poly.access<"b0[i]">, #poly.access<"b1[i]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      poly.tile "T0" {statements = ["S0"], {{.*}}, starts = ["0"], sizes = array<i64: 1>, valid = ["1"], vector = "i"}
// CHECK-NEXT: kernel.return
