// RUN: mlc-opt %s -p verify-loops --verify-diagnostics --split-input-file | filecheck %s

kernel.func @k(%a: memref<4xf32>) {
  %n = arith.constant 4 : index
  scf.for %i = %n to %n step %n {
    %v = kernel.read %a[%i] {strides = array<i64>} : memref<4xf32> -> f32
    kernel.write %v, %a[%i] {strides = array<i64>} : f32, memref<4xf32>
  }
  kernel.return
}

// CHECK:      kernel.write %v, %a[%i]

// -----

kernel.func @k(%a: memref<4xf32>) {
  %n = arith.constant 4 : index
  scf.for %i = %n to %n step %n {
    kernel.write %v, %a[%i] {strides = array<i64>} : f32, memref<4xf32>
    %v = kernel.read %a[%i] {strides = array<i64>} : memref<4xf32> -> f32
  }
  kernel.return
}

// CHECK:      Illegal at the loops level: operand 0 is not defined before it (operator 'kernel.write'

// -----

kernel.func @k(%a: memref<4xf32>) {
  %n = arith.constant 4 : index
  scf.for %i = %n to %n step %n {
    %v = memref.load %a[%i] : memref<4xf32>
  }
  kernel.return
}

// CHECK:      Illegal at the loops level: it is not allowed in scf.for (operator 'memref.load'

// -----

kernel.func @k(%n: index) {
  scf.for %i = %n to %n step %n {
  } {unroll}
  kernel.return
}

// CHECK:      Illegal at the loops level: it has an attribute 'unroll', which nobody declares (operator 'scf.for'

// -----

kernel.func @k(%v: vector<64x64xf32>, %a: memref<64x16xf16>, %b: memref<16x64xf16>) {
  %d = kernel.mma %v, %a, %b {steps = 16, strides = array<i64: 1, 16, 64, 1>} : vector<64x64xf32>, memref<64x16xf16>, memref<16x64xf16> -> vector<64x64xf32>
  kernel.return
}

// CHECK:      Illegal at the loops level: it is not allowed in kernel.func (operator 'kernel.mma'

// -----

kernel.func @k() {
  kernel.barrier
  kernel.return
}

// CHECK:      Illegal at the loops level: it is not allowed in kernel.func (operator 'kernel.barrier'
