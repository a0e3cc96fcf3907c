// RUN: mlc-opt %s -p 'tile-kernels,lower-tiles' | filecheck %s

// What is left of 128*B rows is a tile of 4 or two of 1: isl makes an if with an else of them, the IR two ifs.

kernel.func @rest(%0: memref<?x4xf32, #graph.dims<["128*B", "4"]>>, %1: memref<?x4xf32, #graph.dims<["128*B", "4"]>>) attributes {schedule = #poly.schedule<"x: S0 | m/6+4+1 n/4v | ">} {
  poly.statement "S0" ins(%0 : memref<?x4xf32, #graph.dims<["128*B", "4"]>>) outs(%1 : memref<?x4xf32, #graph.dims<["128*B", "4"]>>) {domain = #poly.domain<"0 <= m < 128*B and 0 <= n < 4">, accesses = [#poly.access<"b0[m, n]">, #poly.access<"b1[m, n]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      kernel.func @rest(
// CHECK:      kernel.write {{.*}} : vector<6x4xf32>
// CHECK:      kernel.write {{.*}} : vector<4x4xf32>
// CHECK:      kernel.write {{.*}} : vector<4xf32>
