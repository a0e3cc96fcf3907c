// RUN: mlc-opt %s -p choose-schedule --verify-diagnostics --split-input-file | filecheck %s

kernel.func @user(%a: memref<4xf32>, %o: memref<4xf32>) attributes {schedule = "elementwise: S0 | i/4v |"} {
  poly.statement "S0" ins(%a : memref<4xf32>) outs(%o : memref<4xf32>) {domain = "{ S0[i] : 0 <= i < 4 }", accesses = ["{ S0[i] -> b0[i] }", "{ S0[i] -> b1[i] }"]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      kernel.func @user({{.*}}schedule = "elementwise: S0 | i/4v |"

// -----

kernel.func @k(%a: memref<4xf32>, %o: memref<4xf32>) {
  poly.statement "S0" ins(%a : memref<4xf32>) outs(%o : memref<4xf32>) {domain = "{ S0[i] : i < 4 and i >= 0 }", accesses = ["{ S0[i] -> b0[i] }", "{ S0[i] -> b1[i] }"]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      domain { S0[i] : i < 4 and i >= 0 } is not a box 0 <= i < bound

// -----

kernel.func @k(%a: memref<4xf32>, %o: memref<4xf32>) {
  poly.statement "S0" ins(%a : memref<4xf32>) outs(%o : memref<4xf32>) {domain = "{ S0[i] : 0 <= i < 4 }", accesses = ["{ S0[i] -> b0[i] }", "S0[i] -> b1[i]"]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      S0[i] -> b1[i] is not an access { S[i] -> array[index] }
