// RUN: mlc-opt %s -p tile-kernels --verify-diagnostics --split-input-file | filecheck %s

// Tiles of what is left of the lanes, of sizes while they fit, of one point and of none.

kernel.func @rest_of_the_lanes(%a: memref<5xf32>, %o: memref<5xf32>) attributes {schedule = "x: S0 | i/4v | "} {
  poly.statement "S0" ins(%a : memref<5xf32>) outs(%o : memref<5xf32>) {domain = "{ S0[i] : 0 <= i < 5 }", accesses = ["{ S0[i] -> b0[i] }", "{ S0[i] -> b1[i] }"]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      kernel.func @rest_of_the_lanes({{.*}}sequence: [ { filter: \22{ T0[i] }\22, {{.*}} { filter: \22{ T1[i] }\22,
// CHECK:      poly.tile "T0" {statements = ["S0"], domain = "{ T0[i] : 0 <= i < 1 }", expansion = "{ T0[t_i] -> S0[i] : 0 <= i < 5 and 0 + 4*t_i <= i < 0 + 4*t_i + 4 and 0 <= t_i < 1 }", iters = ["i"], starts = ["0"], sizes = array<i64: 4>, lanes = [""], inner = [], vector = "i"}
// CHECK-NEXT: poly.tile "T1" {statements = ["S0"], domain = "{ T1[i] : 0 <= i < 1 }", expansion = "{ T1[t_i] -> S0[i] : 0 <= i < 5 and 4 + 1*t_i <= i < 4 + 1*t_i + 1 and 0 <= t_i < 1 }", iters = ["i"], starts = ["4"], sizes = array<i64: 1>, lanes = [""], inner = [], vector = "i"}
// CHECK-NEXT: kernel.return

// -----

kernel.func @sizes_that_repeat(%a: memref<9xf32>, %o: memref<9xf32>) attributes {schedule = "x: S0 | i/4+2+1 | "} {
  poly.statement "S0" ins(%a : memref<9xf32>) outs(%o : memref<9xf32>) {domain = "{ S0[i] : 0 <= i < 9 }", accesses = ["{ S0[i] -> b0[i] }", "{ S0[i] -> b1[i] }"]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      poly.tile "T0" {statements = ["S0"], domain = "{ T0[i] : 0 <= i < 2 }", {{.*}}, starts = ["0"], sizes = array<i64: 4>, lanes = [""], inner = [], vector = ""}
// CHECK-NEXT: poly.tile "T1" {statements = ["S0"], domain = "{ T1[i] : 0 <= i < 1 }", {{.*}}, starts = ["8"], sizes = array<i64: 1>, lanes = [""], inner = [], vector = ""}
// CHECK-NEXT: kernel.return

// -----

kernel.func @no_iterators(%a: memref<f32>, %o: memref<f32>) attributes {schedule = "x: S0 |  | "} {
  poly.statement "S0" ins(%a : memref<f32>) outs(%o : memref<f32>) {domain = "{ S0[] }", accesses = ["{ S0[] -> b0[] }", "{ S0[] -> b1[] }"]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      kernel.func @no_iterators({{.*}}schedule_tree = "{ domain: \22{ T0[] }\22 }"} {
// CHECK:      poly.tile "T0" {statements = ["S0"], domain = "{ T0[] }", expansion = "{ T0[] -> S0[] }", iters = [], starts = [], sizes = array<i64>, lanes = [], inner = [], vector = ""}
// CHECK-NEXT: kernel.return

// -----

kernel.func @of_nothing(%a: memref<0xf32>, %o: memref<0xf32>) attributes {schedule = "x: S0 | i/4v | "} {
  poly.statement "S0" ins(%a : memref<0xf32>) outs(%o : memref<0xf32>) {domain = "{ S0[i] : 0 <= i < 0 }", accesses = ["{ S0[i] -> b0[i] }", "{ S0[i] -> b1[i] }"]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      poly.tile "T0" {statements = ["S0"], domain = "{ T0[i] : 0 <= i < 0 }", {{.*}}, starts = ["0"], sizes = array<i64: 1>, lanes = [""], inner = [], vector = "i"}
// CHECK-NEXT: kernel.return
