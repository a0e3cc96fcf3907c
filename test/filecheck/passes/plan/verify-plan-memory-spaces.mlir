// RUN: mlc-opt %s --for-target cuda -p verify-plan --verify-diagnostics --split-input-file | filecheck %s
// RUN: mlc-opt %s -p verify-plan --verify-diagnostics --split-input-file | filecheck %s --check-prefix=CPU

rt.program "net" {inputs = ["x"], outputs = ["y"], dims = []} do {
  %x = rt.input 0 : i64 : memref<5xf32>
  %y = rt.output 0 : i64 : memref<5xf32>
  %h = rt.buffer "20" {offset = 0 : i64} : memref<5xf32, "host">
  rt.launch @k(%h, %y) {graph.node = ["/relu"], writes = 1 : i64} : memref<5xf32, "host">, memref<5xf32>
}
kernel.func @k(%a: memref<5xf32, "host">, %o: memref<5xf32>) {
  kernel.return
}

// CHECK: Illegal at the plan level: buffer 0 is in the host's memory: it needs an rt.copy of it (node '/relu', operator 'rt.launch'
// CPU: Illegal at the plan level: buffer 0 is in the host's memory

// -----

rt.program "net" {inputs = ["x"], outputs = ["y"], dims = [], strings = [""]} do {
  %x = rt.input 0 : i64 : memref<2xi64>
  %y = rt.output 0 : i64 : memref<2xi64>
  rt.routine "string.upper"(%x, %y) {graph.node = ["/upper"]} : memref<2xi64>, memref<2xi64>
}

// CHECK: Illegal at the plan level: buffer 0 is in the device's memory: it needs an rt.copy of it (node '/upper', operator 'rt.routine'
// CPU: rt.routine "string.upper"(%x, %y)
