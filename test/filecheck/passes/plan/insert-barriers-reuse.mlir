// RUN: mlc-opt %s -p insert-barriers --verify-diagnostics --split-input-file | filecheck %s

// What is still read is not overwritten before a barrier; copies to other parts need none, unless the parts are symbolic.

rt.program "net" {inputs = ["x"], outputs = ["y"], dims = ["n"]} do {
  %x = rt.input 0 : i64 : memref<5xf32>
  %y = rt.output 0 : i64 : memref<10xf32>
  %a = rt.buffer "20" {offset = 0 : i64} : memref<5xf32>
  %b = rt.buffer "20" {offset = 64 : i64} : memref<5xf32>
  rt.launch @k(%x, %a) {graph.node = ["/a"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
  rt.launch @k(%a, %b) {graph.node = ["/b"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
  rt.launch @k(%x, %a) {graph.node = ["/read_before"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
  %0 = rt.view %y : memref<10xf32> -> memref<5xf32>
  %1 = rt.view %y {offset = "20"} : memref<10xf32> -> memref<5xf32>
  rt.copy %b, %0 : memref<5xf32>, memref<5xf32>
  rt.copy %b, %1 : memref<5xf32>, memref<5xf32>
}

// CHECK:      rt.program "net" {inputs = ["x"], outputs = ["y"], dims = ["n"]} do {
// CHECK-NEXT: %x = rt.input 0 : i64 : memref<5xf32>
// CHECK-NEXT: %y = rt.output 0 : i64 : memref<10xf32>
// CHECK-NEXT: %a = rt.buffer "20" {offset = 0 : i64} : memref<5xf32>
// CHECK-NEXT: %b = rt.buffer "20" {offset = 64 : i64} : memref<5xf32>
// CHECK-NEXT: rt.launch @k(%x, %a) {graph.node = ["/a"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
// CHECK-NEXT: rt.barrier
// CHECK-NEXT: rt.launch @k(%a, %b) {graph.node = ["/b"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
// CHECK-NEXT: rt.barrier
// CHECK-NEXT: rt.launch @k(%x, %a) {graph.node = ["/read_before"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
// CHECK-NEXT: %0 = rt.view %y : memref<10xf32> -> memref<5xf32>
// CHECK-NEXT: %1 = rt.view %y {offset = "20"} : memref<10xf32> -> memref<5xf32>
// CHECK-NEXT: rt.copy %b, %0 : memref<5xf32>, memref<5xf32>
// CHECK-NEXT: rt.copy %b, %1 : memref<5xf32>, memref<5xf32>

// -----

rt.program "net" {inputs = ["x"], outputs = ["y"], dims = ["n"]} do {
  %x = rt.input 0 : i64 : memref<5xf32>
  %y = rt.output 0 : i64 : memref<?xf32, #graph.dims<["n+5"]>>
  %0 = rt.view %y : memref<?xf32, #graph.dims<["n+5"]>> -> memref<?xf32, #graph.dims<["n"]>>
  %1 = rt.view %y {offset = "4*n"} : memref<?xf32, #graph.dims<["n+5"]>> -> memref<5xf32>
  rt.launch @k(%x, %0) {graph.node = ["/a"], writes = 1 : i64} : memref<5xf32>, memref<?xf32, #graph.dims<["n"]>>
  rt.launch @k(%x, %1) {graph.node = ["/b"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
}

// CHECK:      rt.program "net" {inputs = ["x"], outputs = ["y"], dims = ["n"]} do {
// CHECK-NEXT: %x = rt.input 0 : i64 : memref<5xf32>
// CHECK-NEXT: %y = rt.output 0 : i64 : memref<?xf32, #graph.dims<["n+5"]>>
// CHECK-NEXT: %0 = rt.view %y : memref<?xf32, #graph.dims<["n+5"]>> -> memref<?xf32, #graph.dims<["n"]>>
// CHECK-NEXT: %1 = rt.view %y {offset = "4*n"} : memref<?xf32, #graph.dims<["n+5"]>> -> memref<5xf32>
// CHECK-NEXT: rt.launch @k(%x, %0) {graph.node = ["/a"], writes = 1 : i64} : memref<5xf32>, memref<?xf32, #graph.dims<["n"]>>
// CHECK-NEXT: rt.barrier
// CHECK-NEXT: rt.launch @k(%x, %1) {graph.node = ["/b"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
