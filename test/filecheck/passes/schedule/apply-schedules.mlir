// RUN: mlc-opt %s -p 'apply-schedules{text="# mine\n a: x: S0 | i/4 | "},choose-schedule' | filecheck %s

kernel.func @a(%x: memref<8xf32>, %y: memref<8xf32>) {
  poly.statement "S0" ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) {domain = "{ S0[i] : 0 <= i < 8 }", accesses = ["{ S0[i] -> b0[i] }", "{ S0[i] -> b1[i] }"]} do {
  ^bb0(%0: f32):
    poly.yield %0 : f32
  }
  kernel.return
}
// CHECK: kernel.func @a({{.*}}) attributes {schedule = "x: S0 | i/4 |", schedule_line = 2 : i64}
