// RUN: mlc-opt %s -p choose-schedule,verify-kernel,tile-kernels,lower-tiles | filecheck %s

// A kernel without statements has nothing to schedule.

kernel.func @k(%x: memref<4xf32>, %y: memref<0xf32>) {
  kernel.return
}

// CHECK:      kernel.func @k(%x: memref<4xf32>, %y: memref<0xf32>) {
// CHECK-NEXT: kernel.return
