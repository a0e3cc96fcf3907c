// RUN: mlc-opt %s --verify-diagnostics --split-input-file | filecheck %s

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
