// RUN: mlc-opt %s --verify-diagnostics --split-input-file | filecheck %s

// Asynchronous copies whose strides, elements or neighbours do not fit their buffers.

kernel.func @one_stride_of_the_target(%a: memref<8x16xf32>, %s: memref<8x24xf32>, %n: index) {
  kernel.async_copy %a[%n] to %s[%n] {shape = array<i64: 8, 16>, strides = array<i64: 16, 1>, target_strides = array<i64: 1>, width = 4 : i64} : memref<8x16xf32>, memref<8x24xf32>
  kernel.return
}

// CHECK: kernel.async_copy: one of target_strides for each of 2 axes

// -----

kernel.func @elements_of_two_types(%a: memref<8x16xf32>, %s: memref<8x24xi32>, %n: index) {
  kernel.async_copy %a[%n] to %s[%n] {shape = array<i64: 8, 16>, strides = array<i64: 16, 1>, target_strides = array<i64: 24, 1>, width = 4 : i64} : memref<8x16xf32>, memref<8x24xi32>
  kernel.return
}

// CHECK: kernel.async_copy: memref<8x16xf32> and memref<8x24xi32> have different elements

// -----

kernel.func @no_whole_neighbours(%a: memref<8x18xf32>, %s: memref<8x24xf32>, %n: index) {
  kernel.async_copy %a[%n] to %s[%n] {shape = array<i64: 8, 18>, strides = array<i64: 18, 1>, target_strides = array<i64: 24, 1>, width = 4 : i64} : memref<8x18xf32>, memref<8x24xf32>
  kernel.return
}

// CHECK: kernel.async_copy: no axis of (8, 18) has 4 neighbours in both buffers

// -----

kernel.func @gathered_to_one_axis(%a: memref<99xf32>, %i: vector<8x4xi32>, %s: memref<8x8xf32>, %n: index) {
  kernel.async_gather %a[%i] to %s[%n] {target_strides = array<i64: 8>, width = 1 : i64} : memref<99xf32>, vector<8x4xi32>, memref<8x8xf32>
  kernel.return
}

// CHECK: kernel.async_gather: one of target_strides for each of 2 axes

// -----

kernel.func @gathered_as_halves(%a: memref<99xf32>, %i: vector<8x4xi32>, %s: memref<8x8xf16>, %n: index) {
  kernel.async_gather %a[%i] to %s[%n] {target_strides = array<i64: 8, 1>, width = 1 : i64} : memref<99xf32>, vector<8x4xi32>, memref<8x8xf16>
  kernel.return
}

// CHECK: kernel.async_gather: memref<99xf32> and memref<8x8xf16> have different elements

// -----

kernel.func @gathered_by_neighbours(%a: memref<99xf16>, %i: vector<1x4xi32>, %s: memref<8x8xf16>, %n: index) {
  kernel.async_gather %a[%i] to %s[%n] {target_strides = array<i64: 8, 2>, width = 8 : i64} : memref<99xf16>, vector<1x4xi32>, memref<8x8xf16>
  kernel.return
}

// CHECK: kernel.async_gather: no axis of the target has 8 neighbours

// -----

kernel.func @subview_of_another_shape(%ring: memref<3x16x24xf32>, %n: i32) {
  %s = kernel.subview %ring[%n] : memref<3x16x24xf32> -> memref<16x16xf32>
  kernel.return
}

// CHECK: kernel.subview: memref<16x16xf32> is not one of those in memref<3x16x24xf32>
