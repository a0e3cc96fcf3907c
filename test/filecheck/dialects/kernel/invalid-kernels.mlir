// RUN: mlc-opt %s --verify-diagnostics --split-input-file | filecheck %s

// Kernels without their one block, and returns and yields of other values than are declared.

kernel.func @no_body(%x: memref<4xf32>)

// CHECK:      Region 'body' at position 0 expected a single block, but got 0 blocks

// -----

"kernel.func"() <{sym_name = "k", function_type = (memref<4xf32>) -> ()}> ({
^bb0(%a: memref<4xf32>):
  kernel.return
^bb1(%b: memref<4xf32>):
  kernel.return
}) : () -> ()

// CHECK:      Region 'body' at position 0 expected a single block, but got 2 blocks

// -----

kernel.func @k(%x: tensor<4xf32>) -> tensor<5xf32> {
  kernel.return %x : tensor<4xf32>
}

// CHECK:      kernel.func @k: it must end in a kernel.return of (tensor<5xf32>)

// -----

kernel.func @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  kernel.return
}

// CHECK:      kernel.func @k: it must end in a kernel.return of (tensor<4xf32>)

// -----

kernel.func @k(%a: memref<4xf32>, %n: index) {
  %0 = kernel.read %a[%n] {strides = array<i64: 1>} : memref<4xf32> -> vector<4xf64>
  kernel.return
}

// CHECK:      kernel.read: a tile of f64 in a buffer of f32

// -----

kernel.func @k(%a: memref<4xf32>, %n: index, %v: i32) {
  kernel.write %v, %a[%n] {strides = array<i64>} : i32, memref<4xf32>
  kernel.return
}

// CHECK:      kernel.write: a tile of i32 in a buffer of f32

// -----

kernel.func @k(%a: memref<4xui8>, %n: i64) {
  %0 = kernel.gather %a[%n] : memref<4xui8>, i64 -> i16
  kernel.return
}

// CHECK:      kernel.gather: a tile of i16 in a buffer of ui8

// -----

kernel.func @no_return(%a: memref<4xf32>) {
}

// CHECK:      Operation kernel.func contains empty block in single-block region that expects at least a terminator
