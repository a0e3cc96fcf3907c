// RUN: mlc-opt %s --verify-diagnostics --split-input-file | filecheck %s

// A kernel.generic whose initial value, write map or buffers are wrong, and kernels and computations without an end.

kernel.func @init_without_monoid(%a: memref<4xf32>, %o: memref<4xf32>) {
  kernel.generic ["i"] ins(%a : memref<4xf32>) outs(%o : memref<4xf32>) {bounds = ["4"], maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], init = 0.0 : f32} do {
  ^bb0(%x: f32):
    kernel.yield %x : f32
  }
  kernel.return
}

// CHECK:      kernel.generic: a monoid needs its initial value, and only a monoid

// -----

kernel.func @write_map(%a: memref<4xf32>, %o: memref<4xf32>) {
  kernel.generic ["i"] ins(%a : memref<4xf32>) outs(%o : memref<4xf32>) {bounds = ["4"], maps = [affine_map<(d0) -> (d0)>, affine_map<(d0, d1) -> (d1)>]} do {
  ^bb0(%x: f32):
    kernel.yield %x : f32
  }
  kernel.return
}

// CHECK:      kernel.generic: (d0, d1) -> (d1) is not a map of 1 iterators, 0 symbols and 1 results

// -----

kernel.func @tensors(%a: tensor<4xf32>, %o: memref<4xf32>) {
  kernel.generic ["i"] ins(%a : tensor<4xf32>) outs(%o : memref<4xf32>) {bounds = ["4"], maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} do {
  ^bb0(%x: f32):
    kernel.yield %x : f32
  }
  kernel.return
}

// CHECK:      tensor<4xf32> should be of base attribute memref

// -----

kernel.func @no_yield(%a: memref<4xf32>, %o: memref<4xf32>) {
  kernel.generic ["i"] ins(%a : memref<4xf32>) outs(%o : memref<4xf32>) {bounds = ["4"], maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} do {
  ^bb0(%x: f32):
  }
  kernel.return
}

// CHECK:      Operation kernel.generic contains empty block in single-block region that expects at least a terminator

// -----

kernel.func @no_return(%a: memref<4xf32>) {
}

// CHECK:      Operation kernel.func contains empty block in single-block region that expects at least a terminator
