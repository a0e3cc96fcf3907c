// RUN: mlc-opt %s -p choose-schedule --parsing-diagnostics --split-input-file | filecheck %s

kernel.func @user(%a: memref<4xf32>, %o: memref<4xf32>) attributes {schedule = #poly.schedule<"elementwise: S0 | i/4v |">} {
  poly.statement "S0" ins(%a : memref<4xf32>) outs(%o : memref<4xf32>) {domain = #poly.domain<"0 <= i < 4">, accesses = [#poly.access<"b0[i]">, #poly.access<"b1[i]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      kernel.func @user({{.*}}schedule = #poly.schedule<"elementwise: S0 | i/4v | ">

// -----

kernel.func @k(%a: memref<4xf32>, %o: memref<4xf32>) {
  poly.statement "S0" ins(%a : memref<4xf32>) outs(%o : memref<4xf32>) {domain = #poly.domain<"i < 4 and i >= 0">, accesses = [#poly.access<"b0[i]">, #poly.access<"b1[i]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      domain 'i < 4 and i >= 0' is not a box '0 <= i < bound and …'

// -----

kernel.func @k(%a: memref<4xf32>, %o: memref<4xf32>) {
  poly.statement "S0" ins(%a : memref<4xf32>) outs(%o : memref<4xf32>) {domain = #poly.domain<"0 <= i < 4">, accesses = [#poly.access<"b0[i]">, #poly.access<"S0[i] -> b1[i]">]} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      'S0[i] -> b1[i]' is not an access 'array[index, …]'
