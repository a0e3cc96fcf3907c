// RUN: mlc-opt %s -p 'apply-schedules{text="# mine\n a: x: S0 | i/4 | "},choose-schedule' | filecheck %s

kernel.func @a(%x: memref<8xf32>, %y: memref<8xf32>) {
  poly.statement "S0" ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) {domain = #poly.domain<"0 <= i < 8">, accesses = [#poly.access<"b0[i]">, #poly.access<"b1[i]">]} do {
  ^bb0(%0: f32):
    poly.yield %0 : f32
  }
  kernel.return
}
// CHECK: kernel.func @a({{.*}}) attributes {origin = #kernel.origin<line = 2>, schedule = #poly.schedule<"x: S0 | i/4 | ">}
