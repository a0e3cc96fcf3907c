// RUN: mlc-opt %s -p plan-memory --verify-diagnostics | filecheck %s

// Offsets are multiples of 64, large buffers first, also where a copy through a view reads; what no step touches is gone.

rt.program "net" {inputs = ["x"], outputs = ["y"], dims = []} do {
  %x = rt.input 0 : i64 : memref<5xf32>
  %y = rt.output 0 : i64 : memref<5xf32>
  %a = rt.buffer "20" : memref<5xf32>
  %v = rt.view %a {offset = "8"} : memref<5xf32> -> memref<3xf32>
  %b = rt.buffer "65" : memref<5xf32>
  %c = rt.buffer "12" : memref<3xf32>
  %unused = rt.buffer "640" : memref<5xf32>
  %part = rt.view %unused {offset = "8"} : memref<5xf32> -> memref<3xf32>
  %w = rt.weight "w" : memref<17xf32>
  %z = rt.weight "z" : memref<0xf32>
  %u = rt.weight "u" : memref<3xi8>
  rt.launch @k(%x, %a, %b) {graph.node = ["/a"], writes = 2 : i64} : memref<5xf32>, memref<5xf32>, memref<5xf32>
  rt.copy %v, %c : memref<3xf32>, memref<3xf32>
  rt.launch @k(%c, %y) {graph.node = ["/y"], writes = 1 : i64} : memref<3xf32>, memref<5xf32>
}

// CHECK:      rt.program "net" {inputs = ["x"], outputs = ["y"], dims = [], arena = {bytes = 192 : i64, live = 192 : i64, at = {}}} do {
// CHECK-NEXT: %x = rt.input 0 : i64 : memref<5xf32>
// CHECK-NEXT: %y = rt.output 0 : i64 : memref<5xf32>
// CHECK-NEXT: %a = rt.buffer "20" {offset = 128 : i64} : memref<5xf32>
// CHECK-NEXT: %v = rt.view %a {offset = "8"} : memref<5xf32> -> memref<3xf32>
// CHECK-NEXT: %b = rt.buffer "65" {offset = 0 : i64} : memref<5xf32>
// CHECK-NEXT: %c = rt.buffer "12" {offset = 0 : i64} : memref<3xf32>
// CHECK-NEXT: %w = rt.weight "w" {offset = 0 : i64} : memref<17xf32>
// CHECK-NEXT: %z = rt.weight "z" {offset = 128 : i64} : memref<0xf32>
// CHECK-NEXT: %u = rt.weight "u" {offset = 128 : i64} : memref<3xi8>
// CHECK-NEXT: rt.launch @k(%x, %a, %b) {graph.node = ["/a"], writes = 2 : i64} : memref<5xf32>, memref<5xf32>, memref<5xf32>
// CHECK-NEXT: rt.copy %v, %c : memref<3xf32>, memref<3xf32>
// CHECK-NEXT: rt.launch @k(%c, %y) {graph.node = ["/y"], writes = 1 : i64} : memref<3xf32>, memref<5xf32>
