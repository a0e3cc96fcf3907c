// RUN: mlc-opt %s -p tile-kernels --verify-diagnostics --split-input-file | filecheck %s

kernel.func @k(%a: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %t: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %o: memref<6x?xf32, #graph.dims<["6", "batch"]>>) attributes {poly.params = {batch = "batch"}, schedule = "elementwise: S0 S1 | i/4*1+2*1 j/16v | "} {
  poly.statement "S0" ins(%a : memref<6x?xf32, #graph.dims<["6", "batch"]>>) outs(%t : memref<6x?xf32, #graph.dims<["6", "batch"]>>) {domain = "[batch] -> { S0[i, j] : 0 <= i < 6 and 0 <= j < batch }", accesses = ["[batch] -> { S0[i, j] -> b0[i, j] }", "[batch] -> { S0[i, j] -> b1[i, j] }"]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.statement "S1" ins(%t : memref<6x?xf32, #graph.dims<["6", "batch"]>>) outs(%o : memref<6x?xf32, #graph.dims<["6", "batch"]>>) {domain = "[batch] -> { S1[i, j] : 0 <= i < 6 and 0 <= j < batch }", accesses = ["[batch] -> { S1[i, j] -> b1[i, j] }", "[batch] -> { S1[i, j] -> b2[i, j] }"]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      poly.tile "T0" {statements = ["S0", "S1"], domain = "[batch] -> { T0[i, j] : 0 <= i < 1 and 0 <= j < ((batch)//16) }", expansion = "[batch] -> { T0[t_i, t_j] -> S0[i, j] : 0 <= i < 6 and 0 <= j < batch and 0 + 4*t_i <= i < 0 + 4*t_i + 4 and 0 <= t_i < 1 and 0 + 16*t_j <= j < 0 + 16*t_j + 16 and 0 <= t_j < ((batch)//16); T0[t_i, t_j] -> S1[i, j] : 0 <= i < 6 and 0 <= j < batch and 0 + 4*t_i <= i < 0 + 4*t_i + 4 and 0 <= t_i < 1 and 0 + 16*t_j <= j < 0 + 16*t_j + 16 and 0 <= t_j < ((batch)//16) }", iters = ["i", "j"], starts = ["0", "0"], sizes = array<i64: 4, 16>, lanes = ["", ""], inner = [], vector = "j"}
// CHECK-NEXT: poly.tile "T1" {statements = ["S0", "S1"], domain = "[batch] -> { T1[i, j] : 0 <= i < 1 and 0 <= j < (-1*((-1*batch)//16) + -1*((batch)//16)) }", expansion = "[batch] -> { T1[t_i, t_j] -> S0[i, j] : 0 <= i < 6 and 0 <= j < batch and 0 + 4*t_i <= i < 0 + 4*t_i + 4 and 0 <= t_i < 1 and 16*((batch)//16) + 16*t_j <= j < 16*((batch)//16) + 16*t_j + 16 and 0 <= t_j < (-1*((-1*batch)//16) + -1*((batch)//16)); T1[t_i, t_j] -> S1[i, j] : 0 <= i < 6 and 0 <= j < batch and 0 + 4*t_i <= i < 0 + 4*t_i + 4 and 0 <= t_i < 1 and 16*((batch)//16) + 16*t_j <= j < 16*((batch)//16) + 16*t_j + 16 and 0 <= t_j < (-1*((-1*batch)//16) + -1*((batch)//16)) }", iters = ["i", "j"], starts = ["0", "16*((batch)//(16))"], sizes = array<i64: 4, 16>, lanes = ["", "-16*((batch)//(16))+batch"], inner = [], vector = "j"}
// CHECK-NEXT: poly.tile "T2" {statements = ["S0", "S1"], domain = "[batch] -> { T2[i, j] : 0 <= i < 1 and 0 <= j < ((batch)//16) }", expansion = "[batch] -> { T2[t_i, t_j] -> S0[i, j] : 0 <= i < 6 and 0 <= j < batch and 4 + 2*t_i <= i < 4 + 2*t_i + 2 and 0 <= t_i < 1 and 0 + 16*t_j <= j < 0 + 16*t_j + 16 and 0 <= t_j < ((batch)//16); T2[t_i, t_j] -> S1[i, j] : 0 <= i < 6 and 0 <= j < batch and 4 + 2*t_i <= i < 4 + 2*t_i + 2 and 0 <= t_i < 1 and 0 + 16*t_j <= j < 0 + 16*t_j + 16 and 0 <= t_j < ((batch)//16) }", iters = ["i", "j"], starts = ["4", "0"], sizes = array<i64: 2, 16>, lanes = ["", ""], inner = [], vector = "j"}
// CHECK-NEXT: poly.tile "T3" {statements = ["S0", "S1"], domain = "[batch] -> { T3[i, j] : 0 <= i < 1 and 0 <= j < (-1*((-1*batch)//16) + -1*((batch)//16)) }", expansion = "[batch] -> { T3[t_i, t_j] -> S0[i, j] : 0 <= i < 6 and 0 <= j < batch and 4 + 2*t_i <= i < 4 + 2*t_i + 2 and 0 <= t_i < 1 and 16*((batch)//16) + 16*t_j <= j < 16*((batch)//16) + 16*t_j + 16 and 0 <= t_j < (-1*((-1*batch)//16) + -1*((batch)//16)); T3[t_i, t_j] -> S1[i, j] : 0 <= i < 6 and 0 <= j < batch and 4 + 2*t_i <= i < 4 + 2*t_i + 2 and 0 <= t_i < 1 and 16*((batch)//16) + 16*t_j <= j < 16*((batch)//16) + 16*t_j + 16 and 0 <= t_j < (-1*((-1*batch)//16) + -1*((batch)//16)) }", iters = ["i", "j"], starts = ["4", "16*((batch)//(16))"], sizes = array<i64: 2, 16>, lanes = ["", "-16*((batch)//(16))+batch"], inner = [], vector = "j"}

// -----

kernel.func @k(%a: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %t: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %o: memref<6x?xf32, #graph.dims<["6", "batch"]>>) attributes {poly.params = {batch = "batch"}, schedule = "rows: S0 S1 | i | j/8v"} {
  poly.statement "S0" ins(%a : memref<6x?xf32, #graph.dims<["6", "batch"]>>) outs(%t : memref<6x?xf32, #graph.dims<["6", "batch"]>>) {domain = "[batch] -> { S0[i, j] : 0 <= i < 6 and 0 <= j < batch }", accesses = ["[batch] -> { S0[i, j] -> b0[i, j] }", "[batch] -> { S0[i, j] -> b1[i, j] }"]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.statement "S1" ins(%t : memref<6x?xf32, #graph.dims<["6", "batch"]>>) outs(%o : memref<6x?xf32, #graph.dims<["6", "batch"]>>) {domain = "[batch] -> { S1[i, j] : 0 <= i < 6 and 0 <= j < batch }", accesses = ["[batch] -> { S1[i, j] -> b1[i, batch - j - 1] }", "[batch] -> { S1[i, j] -> b2[i, j] }"]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      kernel.func @k(%a: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %t: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %o: memref<6x?xf32, #graph.dims<["6", "batch"]>>) attributes {poly.params = {batch = "batch"}, schedule = "rows: S0 S1 | i | j/8v", schedule_tree = "{ domain: \22[batch] -> { T0[i] : 0 <= i <= 5 }\22, child: { schedule: \22[{ T0[i] -> [(i)] }]\22, permutable: 1, coincident: [ 1 ] } }"} {
// CHECK:      poly.tile "T0" {statements = ["S0", "S1"], domain = "[batch] -> { T0[i] : 0 <= i < 6 }", expansion = "[batch] -> { T0[t_i] -> S0[i, j] : 0 <= i < 6 and 0 <= j < batch and 0 + 1*t_i <= i < 0 + 1*t_i + 1 and 0 <= t_i < 6; T0[t_i] -> S1[i, j] : 0 <= i < 6 and 0 <= j < batch and 0 + 1*t_i <= i < 0 + 1*t_i + 1 and 0 <= t_i < 6 }", iters = ["i"], starts = ["0"], sizes = array<i64: 1>, lanes = [""], inner = ["j/8v"], vector = ""}

// -----

kernel.func @k(%a: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %t: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %o: memref<6x?xf32, #graph.dims<["6", "batch"]>>) attributes {poly.params = {batch = "batch"}, schedule = "serial: S0 | i j | ; serial: S1 | i j | "} {
  poly.statement "S0" ins(%a : memref<6x?xf32, #graph.dims<["6", "batch"]>>) outs(%t : memref<6x?xf32, #graph.dims<["6", "batch"]>>) {domain = "[batch] -> { S0[i, j] : 0 <= i < 6 and 0 <= j < batch }", accesses = ["[batch] -> { S0[i, j] -> b0[i, j] }", "[batch] -> { S0[i, j] -> b1[i, j] }"]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.statement "S1" ins(%t : memref<6x?xf32, #graph.dims<["6", "batch"]>>) outs(%o : memref<6x?xf32, #graph.dims<["6", "batch"]>>) {domain = "[batch] -> { S1[i, j] : 0 <= i < 6 and 0 <= j < batch }", accesses = ["[batch] -> { S1[i, j] -> b1[i, batch - j - 1] }", "[batch] -> { S1[i, j] -> b2[i, j] }"]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      kernel.func @k(%a: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %t: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %o: memref<6x?xf32, #graph.dims<["6", "batch"]>>) attributes {poly.params = {batch = "batch"}, schedule = "serial: S0 | i j | ; serial: S1 | i j | ", serial = "nests depend on each other", schedule_tree = "{ domain: \22[batch] -> { T0[i, j] : 0 <= i <= 5 and 0 <= j < batch; T1[i, j] : 0 <= i <= 5 and 0 <= j < batch }\22, child: { sequence: [ { filter: \22{ T0[i, j] }\22, child: { schedule: \22[{ T0[i, j] -> [(i)] }]\22, permutable: 1, coincident: [ 1 ], child: { schedule: \22[{ T0[i, j] -> [(j)] }]\22, permutable: 1, coincident: [ 1 ] } } }, { filter: \22{ T1[i, j] }\22, child: { schedule: \22[{ T1[i, j] -> [(i)] }]\22, permutable: 1, coincident: [ 1 ], child: { schedule: \22[{ T1[i, j] -> [(j)] }]\22, permutable: 1, coincident: [ 1 ] } } } ] } }"} {
// CHECK:      poly.tile "T0" {statements = ["S0"], domain = "[batch] -> { T0[i, j] : 0 <= i < 6 and 0 <= j < batch }", expansion = "[batch] -> { T0[t_i, t_j] -> S0[i, j] : 0 <= i < 6 and 0 <= j < batch and 0 + 1*t_i <= i < 0 + 1*t_i + 1 and 0 <= t_i < 6 and 0 + 1*t_j <= j < 0 + 1*t_j + 1 and 0 <= t_j < batch }", iters = ["i", "j"], starts = ["0", "0"], sizes = array<i64: 1, 1>, lanes = ["", ""], inner = [], vector = ""}
// CHECK-NEXT: poly.tile "T1" {statements = ["S1"], domain = "[batch] -> { T1[i, j] : 0 <= i < 6 and 0 <= j < batch }", expansion = "[batch] -> { T1[t_i, t_j] -> S1[i, j] : 0 <= i < 6 and 0 <= j < batch and 0 + 1*t_i <= i < 0 + 1*t_i + 1 and 0 <= t_i < 6 and 0 + 1*t_j <= j < 0 + 1*t_j + 1 and 0 <= t_j < batch }", iters = ["i", "j"], starts = ["0", "0"], sizes = array<i64: 1, 1>, lanes = ["", ""], inner = [], vector = ""}
