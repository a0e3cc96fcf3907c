// RUN: mlc-opt %s --parsing-diagnostics | filecheck %s

kernel.func @k() {
  %s = kernel.local {layout = #kernel.layout<"offset[1][2] of 4x4">} : memref<4x4xf16>
  kernel.return
}

// CHECK: [1] is not an element of 4x4, which the linear layout 'offset[1][2] of 4x4' names
