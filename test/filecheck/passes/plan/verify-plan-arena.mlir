// RUN: mlc-opt %s -p verify-plan --verify-diagnostics | filecheck %s

// The bytes of the arena are those of its buffers; the signature and the printer read them from here.

rt.program "net" {inputs = ["x"], outputs = ["y"], dims = [], arena = {bytes = 64 : i64, live = 64 : i64, at = {}}} do {
  %x = rt.input 0 : i64 : memref<5xf32>
  %y = rt.output 0 : i64 : memref<5xf32>
  %a = rt.buffer "65" {offset = 0 : i64} : memref<5xf32>
  rt.copy %x, %a : memref<5xf32>, memref<5xf32>
  rt.barrier
  rt.copy %a, %y : memref<5xf32>, memref<5xf32>
}

// CHECK: Illegal at the plan level: its arena is {bytes = 128 : i64, live = 128 : i64, at = {}}
