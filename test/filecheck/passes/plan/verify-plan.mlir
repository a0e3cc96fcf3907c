// RUN: mlc-opt %s -p verify-plan --verify-diagnostics --split-input-file | filecheck %s

rt.program "net" {inputs = ["x"], outputs = ["y"], dims = []} do {
  %x = rt.input 0 : i64 : memref<5xf32>
  %y = rt.output 0 : i64 : memref<5xf32>
  rt.launch @k(%x, %y) {graph.node = ["/relu"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
}
kernel.func @k(%a: memref<5xf32>, %o: memref<5xf32>) {
  kernel.return
}

// CHECK:      rt.launch @k(%x, %y) {graph.node = ["/relu"], writes = 1 : i64}

// -----

rt.program "net" {inputs = ["x"], outputs = ["y"], dims = []} do {
  %x = rt.input 0 : i64 : memref<5xf32>
  %y = rt.output 0 : i64 : memref<5xf32>
  rt.launch @k(%x, %y) {graph.node = ["/relu"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
}

// CHECK:      Illegal at the plan level: there is no kernel @k (node '/relu', operator 'rt.launch', stage 'verify-plan').

// -----

rt.program "net" {inputs = ["x"], outputs = ["y"], dims = []} do {
  %x = rt.input 0 : i64 : memref<5xf32>
  %y = rt.output 0 : i64 : memref<5xf32>
  rt.launch @k(%x, %y) {graph.node = ["/relu"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
}
kernel.func @k(%a: memref<6xf32>, %o: memref<6xf32>) {
  kernel.return
}

// CHECK:      Illegal at the plan level: its buffers do not match the parameters of kernel @k (node '/relu'

// -----

rt.program "net" {inputs = ["x"], outputs = ["y"], dims = []} do {
  %x = rt.input 0 : i64 : memref<5xf32>
  %y = rt.output 0 : i64 : memref<5xf32>
  rt.launch @k(%x, %y) {writes = 1 : i64} : memref<5xf32>, memref<5xf32>
}
kernel.func @k(%a: memref<5xf32>, %o: memref<5xf32>) {
  kernel.return
}

// CHECK:      Illegal at the plan level: it names no source nodes (operator 'rt.launch'

// -----

rt.program "net" {inputs = ["x"], outputs = ["y"], dims = []} do {
  %x = rt.input 0 : i64 : memref<5xf32>
  %y = rt.output 0 : i64 : memref<5xf32>
  %b = rt.buffer "20" : memref<5xf32>
}

// CHECK:      Illegal at the plan level: it has no offset in the arena (operator 'rt.buffer'

// -----

rt.program "net" {inputs = ["x"], outputs = ["y"], dims = []} do {
  %x = rt.input 0 : i64 : memref<5xf32>
  %y = rt.output 0 : i64 : memref<5xf32>
  %w = rt.weight "w" : memref<5xf32>
}

// CHECK:      Illegal at the plan level: it has no offset in the payload (operator 'rt.weight'

// -----

func.func @main() {
  func.return
}

// CHECK:      Illegal at the plan level: it is not allowed in builtin.module (operator 'func.func'
