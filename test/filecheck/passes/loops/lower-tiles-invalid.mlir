// RUN: mlc-opt %s -p tile-kernels,lower-tiles --verify-diagnostics --split-input-file | filecheck %s

// A local array of a tile must have constant extents, and fit on the stack; the error names the user's line, if any.

kernel.func @k(%0: memref<?x5xf32, #graph.dims<["n", "5"]>>, %1: memref<?x3xf32, #graph.dims<["n", "3"]>>) attributes {origin = #kernel.origin<line = 4>, schedule = #poly.schedule<"x: S0 S1 |  | i0 i1">} {
  %2 = kernel.local : memref<?xf32, #graph.dims<["n"]>>
  poly.statement "S0" ins(%0 : memref<?x5xf32, #graph.dims<["n", "5"]>>) outs(%2 : memref<?xf32, #graph.dims<["n"]>>) {domain = #poly.domain<"0 <= i0 < n and 0 <= i1 < 5">, accesses = [#poly.access<"b0[i0, i1]">, #poly.access<"t0[i0]">], monoid = "add", init = 0.000000e+00 : f32} do {
  ^bb0(%3: f32):
    poly.yield %3 : f32
  }
  poly.statement "S1" ins(%2 : memref<?xf32, #graph.dims<["n"]>>) outs(%1 : memref<?x3xf32, #graph.dims<["n", "3"]>>) {domain = #poly.domain<"0 <= i0 < n and 0 <= i1 < 3">, accesses = [#poly.access<"t0[i0]">, #poly.access<"b1[i0, i1]">]} do {
  ^bb0(%4: f32):
    poly.yield %4 : f32
  }
  kernel.return
}

// CHECK:      Line 4 of the schedules: kernel 'k': a tile needs a symbolic extent of local array t0: (n,) (stage 'schedule').

// -----

kernel.func @k(%0: memref<200000x5xf32>, %1: memref<200000x3xf32>) attributes {origin = #kernel.origin<line = 5>, schedule = #poly.schedule<"x: S0 S1 |  | i0 i1">} {
  %2 = kernel.local : memref<200000xf32>
  poly.statement "S0" ins(%0 : memref<200000x5xf32>) outs(%2 : memref<200000xf32>) {domain = #poly.domain<"0 <= i0 < 200000 and 0 <= i1 < 5">, accesses = [#poly.access<"b0[i0, i1]">, #poly.access<"t0[i0]">], monoid = "add", init = 0.000000e+00 : f32} do {
  ^bb0(%3: f32):
    poly.yield %3 : f32
  }
  poly.statement "S1" ins(%2 : memref<200000xf32>) outs(%1 : memref<200000x3xf32>) {domain = #poly.domain<"0 <= i0 < 200000 and 0 <= i1 < 3">, accesses = [#poly.access<"t0[i0]">, #poly.access<"b1[i0, i1]">]} do {
  ^bb0(%4: f32):
    poly.yield %4 : f32
  }
  kernel.return
}

// CHECK:      Line 5 of the schedules: kernel 'k': local arrays of 800000 bytes do not fit on the stack, of 655360 (stage 'schedule').
