// RUN: mlc-opt %s | filecheck %s
// RUN: mlc-opt %s | mlc-opt | filecheck %s

// What passes know about a kernel is typed: each record prints the fields that are not the default, in one order.

// CHECK: kernel.func @k(%a: memref<?x8xf32, #graph.dims<["n", "8"]>>, %b: memref<8xf32>, %s: memref<4x8xf32>) attributes {
// CHECK-SAME: origin = #kernel.origin<line = 3, digest = "63b3">, work = #kernel.work<flops = "16*n", bytes = 3904>,
// CHECK-SAME: parts = 2 : i64, in_place = [array<i64: 0, 1>], schedule = #poly.schedule<"x: S0 | i | ">, serial = "why",
// CHECK-SAME: scratch = #kernel.scratch<arrays = 1, rows = 4>,
// CHECK-SAME: launch = #kernel.launch<computing = 256, launched = 384, grid = "max(1, 3*n)", resident = 2, cluster = [2, 1], shared = 99000, dynamic = 98304, aligned = [0, 1]>, graph.node = ["/a"]} {
kernel.func @k(%a: memref<?x8xf32, #graph.dims<["n", "8"]>>, %b: memref<8xf32>, %s: memref<4x8xf32>) attributes {
    launch = #kernel.launch<launched = 384, computing = 256, cluster = [2, 1], grid = "max(1, 3*n)", resident = 2,
                            shared = 99000, dynamic = 98304, aligned = [0, 1]>,
    scratch = #kernel.scratch<arrays = 1, rows = 4>, parts = 2, serial = "why", in_place = [array<i64: 0, 1>],
    graph.node = ["/a"], schedule = #poly.schedule<"x: S0 | i | ">, work = #kernel.work<flops = "16*n", bytes = 3904>,
    origin = #kernel.origin<line = 3, digest = "63b3">} {
  kernel.return
}

// CHECK: kernel.func @loops
// CHECK: {kernel.loop = #kernel.loop<staged = 32>}
// CHECK: {kernel.loop = #kernel.loop<unroll>}
kernel.func @loops(%n: index, %one: index) {
  scf.for %i = %n to %n step %one {
  } {kernel.loop = #kernel.loop<staged = 32>}
  scf.for %i = %n to %n step %one {
  } {kernel.loop = #kernel.loop<unroll>}
  kernel.return
}
