// RUN: mlc-opt %s -p plan-memory --verify-diagnostics --split-input-file | filecheck %s

rt.program "net" {inputs = ["x"], outputs = ["y"], dims = []} do {
  %x = rt.input 0 : i64 : memref<5xf32>
  %y = rt.output 0 : i64 : memref<5xf32>
  %w = rt.weight "w" : memref<5xf32>
  %v = rt.weight "v" : memref<20xf32>
  %again = rt.weight "w" : memref<5xf32>
  %a = rt.buffer "100" : memref<5xf32>
  %b = rt.buffer "300" : memref<5xf32>
  %c = rt.buffer "200" : memref<5xf32>
  rt.launch @k(%x, %a) {graph.node = ["/a"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
  rt.launch @k(%a, %b) {graph.node = ["/b"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
  rt.launch @k(%b, %c) {graph.node = ["/c"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
  rt.launch @k(%c, %y) {graph.node = ["/y"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
}

// CHECK:      %w = rt.weight "w" {offset = 0 : i64} : memref<5xf32>
// CHECK-NEXT: %v = rt.weight "v" {offset = 64 : i64} : memref<20xf32>
// CHECK-NEXT: %again = rt.weight "w" {offset = 0 : i64} : memref<5xf32>
// CHECK-NEXT: %a = rt.buffer "100" {offset = 320 : i64} : memref<5xf32>
// CHECK-NEXT: %b = rt.buffer "300" {offset = 0 : i64} : memref<5xf32>
// CHECK-NEXT: %c = rt.buffer "200" {offset = 320 : i64} : memref<5xf32>

// -----

rt.program "net" {inputs = ["x"], outputs = ["y"], dims = []} do {
  %x = rt.input 0 : i64 : memref<5xf32>
  %y = rt.output 0 : i64 : memref<5xf32>
  %a = rt.buffer "20*batch" : memref<5xf32>
  %b = rt.buffer "4*batch*seq" : memref<5xf32>
  %c = rt.buffer "20*batch" : memref<5xf32>
  rt.launch @k(%x, %a) {graph.node = ["/a"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
  rt.launch @k(%a, %b) {graph.node = ["/b"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
  rt.launch @k(%b, %c) {graph.node = ["/c"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
  rt.launch @k(%c, %y) {graph.node = ["/y"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
}

// CHECK:      %a = rt.buffer "20*batch" {after = [1 : i64]} : memref<5xf32>
// CHECK-NEXT: %b = rt.buffer "4*batch*seq" {after = []} : memref<5xf32>
// CHECK-NEXT: %c = rt.buffer "20*batch" {after = [1 : i64]} : memref<5xf32>
