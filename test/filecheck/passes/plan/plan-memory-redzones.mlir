// RUN: mlc-opt %s -p 'plan-memory{redzones=true}' | filecheck %s

// Buffers that are never alive at the same time get disjoint bytes, with a redzone of 64 bytes after each.

rt.program "net" {inputs = ["x"], outputs = ["y"], dims = []} do {
  %x = rt.input 0 : i64 : memref<25xf32>
  %y = rt.output 0 : i64 : memref<25xf32>
  %a = rt.buffer "100" : memref<25xf32>
  %b = rt.buffer "100" : memref<25xf32>
  %c = rt.buffer "100" : memref<25xf32>
  rt.launch @k(%x, %a) {graph.node = ["/a"], writes = 1 : i64} : memref<25xf32>, memref<25xf32>
  rt.launch @k(%a, %b) {graph.node = ["/b"], writes = 1 : i64} : memref<25xf32>, memref<25xf32>
  rt.launch @k(%b, %c) {graph.node = ["/c"], writes = 1 : i64} : memref<25xf32>, memref<25xf32>
  rt.launch @k(%c, %y) {graph.node = ["/y"], writes = 1 : i64} : memref<25xf32>, memref<25xf32>
}

// CHECK:      %a = rt.buffer "164" {offset = 0 : i64} : memref<25xf32>
// CHECK-NEXT: %b = rt.buffer "164" {offset = 192 : i64} : memref<25xf32>
// CHECK-NEXT: %c = rt.buffer "164" {offset = 384 : i64} : memref<25xf32>
