// RUN: mlc-opt %s | mlc-opt | filecheck %s
// RUN: mlc-opt %s --print-op-generic | mlc-opt | filecheck %s

kernel.func @k(%a: memref<?x8xf32, #graph.dims<["batch", "8"]>>, %o: memref<?xf32, #graph.dims<["batch"]>>) attributes {schedule = #poly.schedule<"rows: S0 | i | j">} {
  poly.statement "S0" ins(%a : memref<?x8xf32, #graph.dims<["batch", "8"]>>) outs(%o : memref<?xf32, #graph.dims<["batch"]>>) {domain = #poly.domain<"0 <= i < batch and 0 <= j < 8">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%x: f32):
    %i = kernel.index "i"
    poly.yield %x : f32
  }
  poly.tile "T0" {statements = ["S0"], iters = ["i"], starts = ["0"], sizes = array<i64: 1>, valid = ["1"], vector = ""}
  kernel.return
}

// CHECK:      kernel.func @k(%a: memref<?x8xf32, #graph.dims<["batch", "8"]>>, %o: memref<?xf32, #graph.dims<["batch"]>>) attributes {schedule = #poly.schedule<"rows: S0 | i | j">} {
// CHECK-NEXT: poly.statement "S0" ins(%a : memref<?x8xf32, #graph.dims<["batch", "8"]>>) outs(%o : memref<?xf32, #graph.dims<["batch"]>>) {domain = #poly.domain<"0 <= i < batch and 0 <= j < 8">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i]">], monoid = "add", init = 0.000000e+00 : f32} do {
// CHECK:      %i = kernel.index "i"
// CHECK-NEXT: poly.yield %x : f32
// CHECK:      poly.tile "T0" {statements = ["S0"], iters = ["i"], starts = ["0"], sizes = array<i64: 1>, valid = ["1"], vector = ""}
// CHECK-NEXT: kernel.return
