// RUN: mlc-opt %s --for-target cuda -p choose-gpu-schedule --split-input-file | filecheck %s
// RUN: mlc-opt %s --for-target cuda -p 'choose-gpu-schedule{numerics=relaxed}' --split-input-file | filecheck %s --check-prefix RELAXED
// RUN: mlc-opt %s --for-target cuda -p 'choose-gpu-schedule{numerics=strict}' --split-input-file | filecheck %s --check-prefix STRICT
// RUN: mlc-opt %s --for-target cuda:sm_90 -p choose-gpu-schedule --split-input-file | filecheck %s --check-prefix WARPGROUPS

// Halves are factors of tensor cores: tiles of whole fragments, the warps that share them, 32 steps at a time.
// CHECK: kernel.func @halves{{.*}}schedule = #poly.schedule<"contraction: S0 | m/128p n/128vp | k/32 | warps=2x4 mma=m16n8k16">
// WARPGROUPS: kernel.func @halves{{.*}}schedule = #poly.schedule<"contraction: S0 | m/128p n/128vp | k/64 | warps=8x1">
// STRICT: kernel.func @halves{{.*}}schedule = #poly.schedule<"contraction: S0 | m/128p n/128vp | k">
kernel.func @halves(%a: memref<4000x70xf16>, %b: memref<70x4000xf16>, %c: memref<4000x4000xf32>) {
  poly.statement "S0" ins(%a, %b : memref<4000x70xf16>, memref<70x4000xf16>) outs(%c : memref<4000x4000xf32>) {domain = #poly.domain<"0 <= m < 4000 and 0 <= n < 4000 and 0 <= k < 70">, accesses = [#poly.access<"b0[m, k]">, #poly.access<"b1[k, n]">, #poly.access<"b2[m, n]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%x: f16, %y: f16):
    %u = arith.extf %x : f16 to f32
    %v = arith.extf %y : f16 to f32
    %z = arith.mulf %u, %v : f32
    poly.yield %z : f32
  }
  kernel.return
}

// -----

// A tile is no larger than the padded extents, and has fewer warps where it is small; bytes are exact in strict numerics, too.
// CHECK: kernel.func @bytes{{.*}}schedule = #poly.schedule<"contraction: S0 | m/16p n/16vp | k/32 | warps=1x2 mma=m16n8k32">
// STRICT: kernel.func @bytes{{.*}}mma=m16n8k32">
kernel.func @bytes(%a: memref<40x70xui8>, %b: memref<70x10xi8>, %c: memref<40x10xi32>) {
  poly.statement "S0" ins(%a, %b : memref<40x70xui8>, memref<70x10xi8>) outs(%c : memref<40x10xi32>) {domain = #poly.domain<"0 <= m < 40 and 0 <= n < 10 and 0 <= k < 70">, accesses = [#poly.access<"b0[m, k]">, #poly.access<"b1[k, n]">, #poly.access<"b2[m, n]">], monoid = "add", init = 0 : i32} do {
  ^bb0(%x: ui8, %y: i8):
    %w = builtin.unrealized_conversion_cast %x : ui8 to i8
    %u = arith.extui %w : i8 to i32
    %v = arith.extsi %y : i8 to i32
    %z = arith.muli %u, %v : i32
    poly.yield %z : i32
  }
  kernel.return
}

// -----

// Floats in relaxed numerics only; of a sum of fewer steps the passes choose.
// CHECK: kernel.func @floats{{.*}}schedule = #poly.schedule<"contraction: S0 | m/16p n/32vp | k">
// RELAXED: kernel.func @floats{{.*}}schedule = #poly.schedule<"contraction: S0 | m/16p n/32vp | k | warps=1x2">
kernel.func @floats(%a: memref<512x9xf32>, %b: memref<9x64xf32>, %c: memref<512x64xf32>) {
  poly.statement "S0" ins(%a, %b : memref<512x9xf32>, memref<9x64xf32>) outs(%c : memref<512x64xf32>) {domain = #poly.domain<"0 <= m < 512 and 0 <= n < 64 and 0 <= k < 9">, accesses = [#poly.access<"b0[m, k]">, #poly.access<"b1[k, n]">, #poly.access<"b2[m, n]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%x: f32, %y: f32):
    %z = arith.mulf %x, %y : f32
    poly.yield %z : f32
  }
  kernel.return
}
