// RUN: mlc-opt %s --verify-diagnostics --split-input-file | filecheck %s

// Products of fragments whose factors, tiles or strides have no instruction.

kernel.func @factors_of_two_types(%t: vector<16x8xf32>, %a: memref<16x16xf16>, %b: memref<16x8xbf16>) {
  %0 = kernel.mma %t, %a, %b {steps = 16 : i64, strides = array<i64: 1, 16, 8, 1>} : vector<16x8xf32>, memref<16x16xf16>, memref<16x8xbf16> -> vector<16x8xf32>
  kernel.return
}

// CHECK: kernel.mma: there is no product of f16 and bf16

// -----

kernel.func @floats_and_integers_of_8_bits(%t: vector<16x8xf32>, %a: memref<16x32xf8E4M3FN>, %b: memref<8x32xi8>) {
  %0 = kernel.mma %t, %a, %b {steps = 32 : i64, strides = array<i64: 1, 32, 1, 32>} : vector<16x8xf32>, memref<16x32xf8E4M3FN>, memref<8x32xi8> -> vector<16x8xf32>
  kernel.return
}

// CHECK: kernel.mma: there is no product of f8e4m3fn and i8

// -----

kernel.func @half_a_fragment(%t: vector<8x8xf32>, %a: memref<8x16xf16>, %b: memref<16x8xf16>) {
  %0 = kernel.mma %t, %a, %b {steps = 16 : i64, strides = array<i64: 1, 16, 8, 1>} : vector<8x8xf32>, memref<8x16xf16>, memref<16x8xf16> -> vector<8x8xf32>
  kernel.return
}

// CHECK: kernel.mma: vector<8x8xf32> is not made of fragments of 16 x 8, in steps of 16

// -----

kernel.func @too_few_steps(%t: vector<16x8xi32>, %a: memref<16x16xui8>, %b: memref<8x16xi8>) {
  %0 = kernel.mma %t, %a, %b {steps = 16 : i64, strides = array<i64: 1, 16, 1, 16>} : vector<16x8xi32>, memref<16x16xui8>, memref<8x16xi8> -> vector<16x8xi32>
  kernel.return
}

// CHECK: kernel.mma: vector<16x8xi32> is not made of fragments of 16 x 8, in steps of 32

// -----

kernel.func @sums_of_another_type(%t: vector<16x8xf32>, %a: memref<16x32xi8>, %b: memref<8x32xi8>) {
  %0 = kernel.mma %t, %a, %b {steps = 32 : i64, strides = array<i64: 1, 32, 1, 32>} : vector<16x8xf32>, memref<16x32xi8>, memref<8x32xi8> -> vector<16x8xf32>
  kernel.return
}

// CHECK: kernel.mma: products of i8 have sums of i32, four strides, and are split for f32 only

// -----

kernel.func @split_halves(%t: vector<16x8xf32>, %a: memref<16x16xf16>, %b: memref<16x8xf16>) {
  %0 = kernel.mma %t, %a, %b {steps = 16 : i64, strides = array<i64: 1, 16, 8, 1>, split} : vector<16x8xf32>, memref<16x16xf16>, memref<16x8xf16> -> vector<16x8xf32>
  kernel.return
}

// CHECK: kernel.mma: products of f16 have sums of f32, four strides, and are split for f32 only

// -----

kernel.func @warpgroups_of_bytes_across(%t: vector<64x64xi32>, %a: memref<64x32xi8>, %b: memref<32x64xi8>) {
  %0 = kernel.mma %t, %a, %b {steps = 32 : i64, strides = array<i64: 1, 32, 64, 1>, warpgroup = 64 : i64} : vector<64x64xi32>, memref<64x32xi8>, memref<32x64xi8> -> vector<64x64xi32>
  kernel.return
}

// CHECK: kernel.mma: warpgroups multiply no sums of two TF32, and factors of i8 that have neighbours along the sum only
