// RUN: mlc-opt %s -p insert-barriers --verify-diagnostics --split-input-file | filecheck %s

rt.program "net" {inputs = ["x"], outputs = ["y"], dims = []} do {
  %x = rt.input 0 : i64 : memref<5xf32>
  %y = rt.output 0 : i64 : memref<5xf32>
  %a = rt.buffer "20" {offset = 0 : i64} : memref<5xf32>
  %b = rt.buffer "20" {offset = 64 : i64} : memref<5xf32>
  rt.launch @k(%x, %a) {graph.node = ["/a"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
  rt.launch @k(%x, %b) {graph.node = ["/b"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
  rt.launch @k(%a, %y) {graph.node = ["/y"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
}

// CHECK:      rt.launch @k(%x, %a) {graph.node = ["/a"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
// CHECK-NEXT: rt.launch @k(%x, %b) {graph.node = ["/b"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
// CHECK-NEXT: rt.barrier
// CHECK-NEXT: rt.launch @k(%a, %y) {graph.node = ["/y"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>

// -----

rt.program "net" {inputs = ["x"], outputs = ["y"], dims = []} do {
  %x = rt.input 0 : i64 : memref<5xf32>
  %y = rt.output 0 : i64 : memref<5xf32>
  %a = rt.buffer "20" {offset = 0 : i64} : memref<5xf32>
  %b = rt.buffer "20" {offset = 0 : i64} : memref<5xf32>
  %c = rt.buffer "20" {offset = 64 : i64} : memref<5xf32>
  rt.launch @k(%x, %a) {graph.node = ["/a"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
  rt.launch @k(%x, %c) {graph.node = ["/c"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
  rt.launch @k(%x, %b) {graph.node = ["/b"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
  rt.launch @k(%b, %y) {graph.node = ["/y"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
}

// CHECK:      rt.launch @k(%x, %a) {graph.node = ["/a"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
// CHECK-NEXT: rt.launch @k(%x, %c) {graph.node = ["/c"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
// CHECK-NEXT: rt.barrier
// CHECK-NEXT: rt.launch @k(%x, %b) {graph.node = ["/b"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
// CHECK-NEXT: rt.barrier
// CHECK-NEXT: rt.launch @k(%b, %y) {graph.node = ["/y"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>

// -----

rt.program "net" {inputs = ["x"], outputs = ["y"], dims = []} do {
  %x = rt.input 0 : i64 : memref<5xf32>
  %y = rt.output 0 : i64 : memref<5xf32>
  %a = rt.buffer "20" {offset = 0 : i64} : memref<5xf32>
  rt.launch @k(%x, %a) {graph.node = ["/a"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
  %v = rt.view %a : memref<5xf32> -> memref<5xf32>
  rt.copy %v, %y : memref<5xf32>, memref<5xf32>
}

// CHECK:      rt.launch @k(%x, %a) {graph.node = ["/a"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
// CHECK:      rt.barrier
// CHECK-NEXT: rt.copy %v, %y : memref<5xf32>, memref<5xf32>

// -----

rt.program "net" {inputs = ["x"], outputs = ["y"], dims = []} do {
  %x = rt.input 0 : i64 : memref<5xf32>
  %y = rt.output 0 : i64 : memref<5xf32>
  %a = rt.buffer "4*batch" {after = []} : memref<5xf32>
  %b = rt.buffer "4*batch" {after = [0 : i64]} : memref<5xf32>
  rt.launch @k(%x, %a) {graph.node = ["/a"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
  rt.launch @k(%x, %b) {graph.node = ["/b"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
  rt.launch @k(%b, %y) {graph.node = ["/y"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
}

// CHECK:      rt.launch @k(%x, %a) {graph.node = ["/a"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
// CHECK-NEXT: rt.barrier
// CHECK-NEXT: rt.launch @k(%x, %b) {graph.node = ["/b"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
// CHECK-NEXT: rt.barrier
// CHECK-NEXT: rt.launch @k(%b, %y) {graph.node = ["/y"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
