// RUN: mlc-opt %s -p tile-kernels --verify-diagnostics --split-input-file | filecheck %s

kernel.func @k(%a: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %t: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %o: memref<6x?xf32, #graph.dims<["6", "batch"]>>) attributes {schedule = #poly.schedule<"elementwise: S0 S1 | i/4*1+2*1 j/16v | ">} {
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

// CHECK:      poly.tile "T0" {statements = ["S0", "S1"], iters = ["i", "j"], starts = ["0", "0"], sizes = array<i64: 4, 16>, valid = ["4", "16"], vector = "j"}
// CHECK-NEXT: poly.tile "T1" {statements = ["S0", "S1"], iters = ["i", "j"], starts = ["0", "16*((batch)//(16))"], sizes = array<i64: 4, 16>, valid = ["4", "-16*((batch)//(16))+batch"], vector = "j"}
// CHECK-NEXT: poly.tile "T2" {statements = ["S0", "S1"], iters = ["i", "j"], starts = ["4", "0"], sizes = array<i64: 2, 16>, valid = ["2", "16"], vector = "j"}
// CHECK-NEXT: poly.tile "T3" {statements = ["S0", "S1"], iters = ["i", "j"], starts = ["4", "16*((batch)//(16))"], sizes = array<i64: 2, 16>, valid = ["2", "-16*((batch)//(16))+batch"], vector = "j"}

// -----

kernel.func @k(%a: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %t: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %o: memref<6x?xf32, #graph.dims<["6", "batch"]>>) attributes {schedule = #poly.schedule<"rows: S0 S1 | i | j/8v">} {
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

// CHECK:      kernel.func @k(%a: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %t: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %o: memref<6x?xf32, #graph.dims<["6", "batch"]>>) attributes {schedule = #poly.schedule<"rows: S0 S1 | i | j/8v">, schedule_tree = "{ domain: \22[batch] -> { T0[i] : 0 <= i <= 5 }\22, child: { schedule: \22[{ T0[i] -> [(i)] }]\22, permutable: 1, coincident: [ 1 ] } }"} {
// CHECK:      poly.tile "T0" {statements = ["S0", "S1"], iters = ["i"], starts = ["0"], sizes = array<i64: 1>, valid = ["1"], vector = ""}

// -----

kernel.func @k(%a: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %t: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %o: memref<6x?xf32, #graph.dims<["6", "batch"]>>) attributes {schedule = #poly.schedule<"serial: S0 | i j | ; serial: S1 | i j | ">} {
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

// CHECK:      kernel.func @k(%a: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %t: memref<6x?xf32, #graph.dims<["6", "batch"]>>, %o: memref<6x?xf32, #graph.dims<["6", "batch"]>>) attributes {schedule = #poly.schedule<"serial: S0 | i j | ; serial: S1 | i j | ">, schedule_tree = "{ domain: \22[batch] -> { T0[i, j] : 0 <= i <= 5 and 0 <= j < batch; T1[i, j] : 0 <= i <= 5 and 0 <= j < batch }\22, child: { sequence: [ { filter: \22{ T0[i, j] }\22, child: { schedule: \22[{ T0[i, j] -> [(i)] }]\22, permutable: 1, coincident: [ 1 ], child: { schedule: \22[{ T0[i, j] -> [(j)] }]\22, permutable: 1, coincident: [ 1 ] } } }, { filter: \22{ T1[i, j] }\22, child: { schedule: \22[{ T1[i, j] -> [(i)] }]\22, permutable: 1, coincident: [ 1 ], child: { schedule: \22[{ T1[i, j] -> [(j)] }]\22, permutable: 1, coincident: [ 1 ] } } } ] } }", serial = "nests depend on each other"} {
// CHECK:      poly.tile "T0" {statements = ["S0"], iters = ["i", "j"], starts = ["0", "0"], sizes = array<i64: 1, 1>, valid = ["1", "1"], vector = ""}
// CHECK-NEXT: poly.tile "T1" {statements = ["S1"], iters = ["i", "j"], starts = ["0", "0"], sizes = array<i64: 1, 1>, valid = ["1", "1"], vector = ""}
