// RUN: mlc-opt %s -p verify-device{phase=staged} --verify-diagnostics --split-input-file | filecheck %s --check-prefix STAGED
// RUN: mlc-opt %s -p verify-device{phase=asynchronous} --verify-diagnostics --split-input-file | filecheck %s --check-prefix ASYNC
// RUN: mlc-opt %s -p verify-device{phase=distributed} --verify-diagnostics --split-input-file | filecheck %s --check-prefix SPREAD
// RUN: mlc-opt %s -p verify-device --verify-diagnostics --split-input-file | filecheck %s --check-prefix LAUNCHED

// Products of tensor cores are in each phase.

kernel.func @k(%v: vector<64x64xf32>, %a: memref<64x16xf16>, %b: memref<16x64xf16>) attributes {launch = #kernel.launch<computing = 128, launched = 128, grid = "4", shared = 0>} {
  %d = kernel.mma %v, %a, %b {steps = 16, strides = array<i64: 1, 16, 64, 1>} : vector<64x64xf32>, memref<64x16xf16>, memref<16x64xf16> -> vector<64x64xf32>
  kernel.return
}

// STAGED:     kernel.mma
// ASYNC:      kernel.mma
// SPREAD:     kernel.mma
// LAUNCHED:   kernel.mma

// -----

kernel.func @k() {
  kernel.barrier
  kernel.return
}

// STAGED:     Illegal at the device level: it is not allowed in kernel.func (operator 'kernel.barrier', stage 'verify-device')
// ASYNC:      kernel.barrier
// SPREAD:     kernel.barrier
// LAUNCHED:   Illegal at the device level: the geometry of its launch is not known (operator 'kernel.func'

// -----

kernel.func @k(%a: memref<32xf32>, %n: index) {
  %v = kernel.read %a[%n] {strides = array<i64: 1>} : memref<32xf32> -> vector<32xf32>
  kernel.return
}

// STAGED:     kernel.read
// ASYNC:      kernel.read
// SPREAD:     Illegal at the device level: the distribution of its result over threads is not known (operator 'kernel.read'
// LAUNCHED:   Illegal at the device level: the geometry of its launch is not known (operator 'kernel.func'

// -----

kernel.func @k(%a: memref<32xf32>, %n: index) {
  %v = kernel.read %a[%n] {strides = array<i64: 1>, distribution = #kernel.layout<"register lane[1][2][4][8][16] warp of 32">} : memref<32xf32> -> vector<32xf32>
  kernel.return
}

// STAGED:     Illegal at the device level: it has a distribution before distribute-values (operator 'kernel.read'
// ASYNC:      Illegal at the device level: it has a distribution before distribute-values (operator 'kernel.read'
// SPREAD:     kernel.read
// LAUNCHED:   Illegal at the device level: the geometry of its launch is not known (operator 'kernel.func'
