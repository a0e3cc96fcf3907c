// RUN: mlc-opt %s | mlc-opt | filecheck %s
// RUN: mlc-opt %s --print-op-generic | filecheck %s --check-prefix GENERIC

// Guards of a program, views at an offset, a launch that writes two buffers, and the generic form.

rt.program "net" {inputs = ["x"], outputs = ["y", "z"], dims = ["n"], guards = ["-n+9", "n-2"]} do {
  %x = rt.input 0 : i64 : memref<?x5xf32, #graph.dims<["n", "5"]>>
  %y = rt.output 0 : i64 : memref<?xf32, #graph.dims<["n"]>>
  %z = rt.output 1 : i64 : memref<3xui8>
  %w = rt.weight "w" : memref<3xi1>
  %b = rt.buffer "4*n" : memref<?xf32, #graph.dims<["n"]>>
  %v = rt.view %x {offset = "4*n"} : memref<?x5xf32, #graph.dims<["n", "5"]>> -> memref<?xf32, #graph.dims<["n"]>>
  rt.launch @k(%v, %w, %b, %z) {writes = 2 : i64} : memref<?xf32, #graph.dims<["n"]>>, memref<3xi1>, memref<?xf32, #graph.dims<["n"]>>, memref<3xui8>
  rt.barrier {graph.node = ["/wait"]}
  rt.copy %b, %y {graph.node = ["/copy"]} : memref<?xf32, #graph.dims<["n"]>>, memref<?xf32, #graph.dims<["n"]>>
}

// CHECK:      rt.program "net" {inputs = ["x"], outputs = ["y", "z"], dims = ["n"], guards = ["-n+9", "n-2"]} do {
// CHECK-NEXT: %x = rt.input 0 : i64 : memref<?x5xf32, #graph.dims<["n", "5"]>>
// CHECK-NEXT: %y = rt.output 0 : i64 : memref<?xf32, #graph.dims<["n"]>>
// CHECK-NEXT: %z = rt.output 1 : i64 : memref<3xui8>
// CHECK-NEXT: %w = rt.weight "w" : memref<3xi1>
// CHECK-NEXT: %b = rt.buffer "4*n" : memref<?xf32, #graph.dims<["n"]>>
// CHECK-NEXT: %v = rt.view %x {offset = "4*n"} : memref<?x5xf32, #graph.dims<["n", "5"]>> -> memref<?xf32, #graph.dims<["n"]>>
// CHECK-NEXT: rt.launch @k(%v, %w, %b, %z) {writes = 2 : i64} : memref<?xf32, #graph.dims<["n"]>>, memref<3xi1>, memref<?xf32, #graph.dims<["n"]>>, memref<3xui8>
// CHECK-NEXT: rt.barrier {graph.node = ["/wait"]}
// CHECK-NEXT: rt.copy %b, %y {graph.node = ["/copy"]} : memref<?xf32, #graph.dims<["n"]>>, memref<?xf32, #graph.dims<["n"]>>

// GENERIC:      "rt.program"() <{sym_name = "net", inputs = ["x"], outputs = ["y", "z"], dims = ["n"], guards = ["-n+9", "n-2"]}> ({
// GENERIC-NEXT: %x = "rt.input"() <{index = 0 : i64}> : () -> memref<?x5xf32, #graph.dims<["n", "5"]>>
// GENERIC-NEXT: %y = "rt.output"() <{index = 0 : i64}> : () -> memref<?xf32, #graph.dims<["n"]>>
// GENERIC-NEXT: %z = "rt.output"() <{index = 1 : i64}> : () -> memref<3xui8>
// GENERIC-NEXT: %w = "rt.weight"() <{entry = "w"}> : () -> memref<3xi1>
// GENERIC-NEXT: %b = "rt.buffer"() <{bytes = "4*n"}> : () -> memref<?xf32, #graph.dims<["n"]>>
// GENERIC-NEXT: %v = "rt.view"(%x) <{offset = "4*n"}> : (memref<?x5xf32, #graph.dims<["n", "5"]>>) -> memref<?xf32, #graph.dims<["n"]>>
// GENERIC-NEXT: "rt.launch"(%v, %w, %b, %z) <{callee = @k, writes = 2 : i64}> : (memref<?xf32, #graph.dims<["n"]>>, memref<3xi1>, memref<?xf32, #graph.dims<["n"]>>, memref<3xui8>) -> ()
// GENERIC-NEXT: "rt.barrier"() {graph.node = ["/wait"]} : () -> ()
// GENERIC-NEXT: "rt.copy"(%b, %y) {graph.node = ["/copy"]} : (memref<?xf32, #graph.dims<["n"]>>, memref<?xf32, #graph.dims<["n"]>>) -> ()
