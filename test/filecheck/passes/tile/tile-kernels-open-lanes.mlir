// RUN: mlc-opt %s --for-target cuda:sm_80 -p tile-kernels | filecheck %s

// On a GPU padded rows and the terms that lanes share may both have symbolic extents.
// CHECK-LABEL: kernel.func @open
// CHECK-SAME: schedule = #poly.schedule<"strips: S0 | i/32vp | j/64v">
// CHECK: poly.tile "T0"
kernel.func @open(%a: memref<?x?xf32, #graph.dims<["m", "n"]>>, %o: memref<?xf32, #graph.dims<["n"]>>) attributes {origin = #kernel.origin<line = 1>, schedule = #poly.schedule<"strips: S0 | i/32vp | j/64v">} {
  poly.statement "S0" ins(%a : memref<?x?xf32, #graph.dims<["m", "n"]>>) outs(%o : memref<?xf32, #graph.dims<["n"]>>) {domain = #poly.domain<"0 <= i < n and 0 <= j < m">, accesses = [#poly.access<"b0[j, i]">, #poly.access<"b1[i]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}
