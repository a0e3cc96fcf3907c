// RUN: mlc-opt %s --verify-diagnostics --split-input-file | filecheck %s

kernel.func @k(%a: memref<4x8xf32>, %o: memref<4xf32>) {
  kernel.generic ["i", "j"] ins(%a : memref<4x8xf32>) outs(%o : memref<4xf32>) {bounds = ["4"], maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%x: f32):
    kernel.yield %x : f32
  }
  kernel.return
}

// CHECK:      kernel.generic: 1 bounds for 2 iterators

// -----

kernel.func @k(%a: memref<4x8xf32>, %o: memref<4xf32>) {
  kernel.generic ["i", "j"] ins(%a : memref<4x8xf32>) outs(%o : memref<4xf32>) {bounds = ["4", "8"], maps = [affine_map<(d0, d1) -> (d0, d1)>], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%x: f32):
    kernel.yield %x : f32
  }
  kernel.return
}

// CHECK:      kernel.generic: it needs a map for each operand, a block argument for each read

// -----

kernel.func @k(%a: memref<4x8xf32>, %o: memref<4xf32>) {
  kernel.generic ["i", "j"] ins(%a : memref<4x8xf32>) outs(%o : memref<4xf32>) {bounds = ["4", "8"], maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%x: f32, %acc: f32):
    kernel.yield %x : f32
  }
  kernel.return
}

// CHECK:      kernel.generic: it needs a map for each operand, a block argument for each read

// -----

kernel.func @k(%a: memref<4x8xf32>, %o: memref<4xf32>) {
  kernel.generic ["i", "j"] ins(%a : memref<4x8xf32>) outs(%o : memref<4xf32>) {bounds = ["4", "8"], maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], monoid = "add"} do {
  ^bb0(%x: f32):
    kernel.yield %x : f32
  }
  kernel.return
}

// CHECK:      kernel.generic: a monoid needs its initial value, and only a monoid

// -----

kernel.func @k(%a: memref<4x8xf32>, %o: memref<4xf32>) {
  kernel.generic ["i", "j"] ins(%a : memref<4x8xf32>) outs(%o : memref<4xf32>) {bounds = ["4", "8"], maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%x: f32):
    kernel.yield %x : f32
  }
  kernel.return
}

// CHECK:      kernel.generic: (d0, d1) -> (d0) is not a map of 2 iterators, 0 symbols and 2 results

// -----

kernel.func @k(%a: memref<4x8xf32>, %o: memref<4xf32>) {
  kernel.generic ["i", "j"] ins(%a : memref<4x8xf32>) outs(%o : memref<4xf32>) {bounds = ["4", "8"], maps = [affine_map<(d0, d1)[s0] -> (d0 + s0, d1)>, affine_map<(d0, d1) -> (d0)>], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%x: f32):
    kernel.yield %x : f32
  }
  kernel.return
}

// CHECK:      kernel.generic: (d0, d1)[s0] -> ((d0 + s0), d1) is not a map of 2 iterators, 0 symbols and 2 results

// -----

"kernel.func"() <{sym_name = "k", function_type = (memref<4xf32>) -> ()}> ({
^bb0(%a: memref<5xf32>):
  kernel.return
}) : () -> ()

// CHECK:      kernel.func @k: block arguments differ from the function type

// -----

kernel.func @k(%a: memref<3x5xf32>, %n: index) {
  %0 = kernel.read %a[%n] {strides = array<i64: 1>} : memref<3x5xf32> -> vector<3x5xf32>
  kernel.return
}

// CHECK:      kernel.read: 1 strides for a tile of rank 2

// -----

kernel.func @k(%a: memref<3x5xf32>, %n: index, %v: vector<3x5xf32>) {
  kernel.write %v, %a[%n] {strides = array<i64: -9223372036854775808, 1>} : vector<3x5xf32>, memref<3x5xf32>
  kernel.return
}

// CHECK:      kernel.write: one operand in strides(…) for each stride known at run time only
