// RUN: mlc-opt %s -p insert-barriers --verify-diagnostics | filecheck %s

// Writes to different parts of a buffer need no barrier between them; a read of one of them does.

rt.program "net" {inputs = ["x"], outputs = ["y"], dims = []} do {
  %x = rt.input 0 : i64 : memref<5xf32>
  %y = rt.output 0 : i64 : memref<5xf32>
  %a = rt.buffer "40" {offset = 0 : i64} : memref<10xf32>
  %0 = rt.view %a : memref<10xf32> -> memref<5xf32>
  %1 = rt.view %a {offset = "20"} : memref<10xf32> -> memref<5xf32>
  rt.launch @k(%x, %0) {graph.node = ["/a"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
  rt.launch @k(%x, %1) {graph.node = ["/b"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
  rt.launch @k(%1, %y) {graph.node = ["/y"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
}

// CHECK:      rt.launch @k(%x, %0)
// CHECK-NEXT: rt.launch @k(%x, %1)
// CHECK-NEXT: rt.barrier
// CHECK-NEXT: rt.launch @k(%1, %y)
