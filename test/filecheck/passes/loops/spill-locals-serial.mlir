// RUN: mlc-opt %s -p tile-kernels,lower-tiles,spill-locals --split-input-file | filecheck %s

// A rule's schedule gives way to the plain one where a tile needs local arrays of symbolic extents, or of more bytes than
// the stack has. What its nests pass on is then scratch, which is one more result of the call.

func.func @main(%x: tensor<?x5xf32, #graph.dims<["n", "5"]>>) -> tensor<?x3xf32, #graph.dims<["n", "3"]>> {
  %y = kernel.call @symbolic(%x) : (tensor<?x5xf32, #graph.dims<["n", "5"]>>) -> tensor<?x3xf32, #graph.dims<["n", "3"]>>
  func.return %y : tensor<?x3xf32, #graph.dims<["n", "3"]>>
}

kernel.func @symbolic(%0: memref<?x5xf32, #graph.dims<["n", "5"]>>, %1: memref<?x3xf32, #graph.dims<["n", "3"]>>) attributes {schedule = #poly.schedule<"x: S0 S1 |  | i0 i1">} {
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

// CHECK:      kernel.call @symbolic({{.*}} -> (tensor<?x3xf32, #graph.dims<["n", "3"]>>, tensor<1x?xf32, #graph.dims<["1", "n"]>>)
// CHECK:      kernel.func @symbolic({{.*}}, %{{[0-9]+}}: memref<1x?xf32, #graph.dims<["1", "n"]>>) attributes {{.*}}plain = "a tile needs a symbolic extent of local array t0: (n,)"{{.*}}serial: S0 | i0 | i1; serial: S1 | i0 i1 | {{.*}}serial = {{.*}}scratch = #kernel.scratch<arrays = 1, rows = 1>
// CHECK-NOT:  kernel.local
// CHECK:      kernel.return

// -----

func.func @main(%x: tensor<200000x5xf32>) -> tensor<200000x3xf32> {
  %y = kernel.call @large(%x) : (tensor<200000x5xf32>) -> tensor<200000x3xf32>
  func.return %y : tensor<200000x3xf32>
}

kernel.func @large(%0: memref<200000x5xf32>, %1: memref<200000x3xf32>) attributes {schedule = #poly.schedule<"x: S0 S1 |  | i0 i1">} {
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

// CHECK:      kernel.call @large({{.*}} -> (tensor<200000x3xf32>, tensor<1x200000xf32>)
// CHECK:      kernel.func @large({{.*}}, %{{[0-9]+}}: memref<1x200000xf32>) attributes {{.*}}plain = "local arrays of 800000 bytes do not fit on the stack, of 655360"{{.*}}serial = {{.*}}scratch = #kernel.scratch<arrays = 1, rows = 1>
// CHECK-NOT:  kernel.local
// CHECK:      kernel.return

// -----

// What fits stays on the stack.

func.func @main(%x: tensor<20x5xf32>) -> tensor<20x3xf32> {
  %y = kernel.call @small(%x) : (tensor<20x5xf32>) -> tensor<20x3xf32>
  func.return %y : tensor<20x3xf32>
}

kernel.func @small(%0: memref<20x5xf32>, %1: memref<20x3xf32>) attributes {schedule = #poly.schedule<"serial: S0 | i0 | i1; serial: S1 | i0 i1 | ">} {
  %2 = kernel.local : memref<20xf32>
  poly.statement "S0" ins(%0 : memref<20x5xf32>) outs(%2 : memref<20xf32>) {domain = #poly.domain<"0 <= i0 < 20 and 0 <= i1 < 5">, accesses = [#poly.access<"b0[i0, i1]">, #poly.access<"t0[i0]">], monoid = "add", init = 0.000000e+00 : f32} do {
  ^bb0(%3: f32):
    poly.yield %3 : f32
  }
  poly.statement "S1" ins(%2 : memref<20xf32>) outs(%1 : memref<20x3xf32>) {domain = #poly.domain<"0 <= i0 < 20 and 0 <= i1 < 3">, accesses = [#poly.access<"t0[i0]">, #poly.access<"b1[i0, i1]">]} do {
  ^bb0(%4: f32):
    poly.yield %4 : f32
  }
  kernel.return
}

// CHECK:      kernel.call @small({{.*}} -> tensor<20x3xf32>
// CHECK:      kernel.local : memref<20xf32>
