// RUN: mlc-opt %s --for-target cuda -p 'assign-memory-spaces,plan-memory,insert-barriers,verify-plan' --split-input-file | filecheck %s

// The host finds the indices in a copy of the mask. Their number and they go to the device, where a kernel reads them.
// CHECK-LABEL: rt.program "sizes"
// CHECK:      %w = rt.buffer "64" {offset = 0 : i64} : memref<?xi64, #graph.dims<["size0"]>>
// CHECK-NEXT: %0 = rt.buffer "8" {offset = {{[0-9]+}} : i64} : memref<8xi1, "host">
// CHECK-NEXT: rt.copy %m, %0 : memref<8xi1>, memref<8xi1, "host">
// CHECK-NEXT: %1 = rt.buffer "64" {offset = {{[0-9]+}} : i64} : memref<?xi64, #graph.dims<["size0"]>, "host">
// CHECK-NEXT: %2 = rt.buffer "8" {offset = {{[0-9]+}} : i64} : memref<i64, "host">
// CHECK-NEXT: rt.barrier
// CHECK-NEXT: rt.nonzero "size0" %0, %1, %2
// CHECK-NEXT: rt.barrier
// CHECK-NEXT: rt.copy %2, %n : memref<i64, "host">, memref<i64>
// CHECK-NEXT: rt.copy %1, %w : memref<?xi64, #graph.dims<["size0"]>, "host">, memref<?xi64, #graph.dims<["size0"]>>
// CHECK-NEXT: rt.barrier
// CHECK-NEXT: rt.launch @k(%w, %y)
rt.program "sizes" {inputs = ["m"], outputs = ["y", "size0"], dims = [], sizes = ["size0"], bounds = ["8"]} do {
  %m = rt.input 0 : i64 : memref<8xi1>
  %y = rt.output 0 : i64 {bound = ["8"]} : memref<?xf32, #graph.dims<["size0"]>>
  %n = rt.output 1 : i64 : memref<i64>
  %w = rt.buffer "64" : memref<?xi64, #graph.dims<["size0"]>>
  rt.nonzero "size0" %m, %w, %n {graph.node = ["/where"]} : memref<8xi1>, memref<?xi64, #graph.dims<["size0"]>>, memref<i64>
  rt.launch @k(%w, %y) {graph.node = ["/k"], writes = 1 : i64} : memref<?xi64, #graph.dims<["size0"]>>, memref<?xf32, #graph.dims<["size0"]>>
}
kernel.func @k(%a: memref<?xi64, #graph.dims<["size0"]>>, %o: memref<?xf32, #graph.dims<["size0"]>>) {
  kernel.return
}

// -----

// What one routine makes for another stays on the host, and its buffer on the device is gone.
// CHECK-LABEL: rt.program "strings"
// CHECK-SAME: arena = {bytes = 0 : i64
// CHECK:      rt.copy %x, [[X:%[0-9]+]] :
// CHECK:      rt.routine "string.intern"([[X]], [[A:%[0-9]+]])
// CHECK-NOT:  rt.copy
// CHECK:      rt.routine "string.upper"([[A]], [[B:%[0-9]+]])
// CHECK-NOT:  rt.copy
// CHECK:      rt.routine "string.extern"([[B]], [[C:%[0-9]+]])
// CHECK:      rt.copy [[C]], %y
rt.program "strings" {inputs = ["x"], outputs = ["y"], dims = [], strings = [""]} do {
  %x = rt.input 0 : i64 : memref<2x!graph.string>
  %y = rt.output 0 : i64 : memref<2x!graph.string>
  %a = rt.buffer "16" : memref<2xi64>
  rt.routine "string.intern"(%x, %a) {graph.node = ["x"]} : memref<2x!graph.string>, memref<2xi64>
  %b = rt.buffer "16" : memref<2xi64>
  rt.routine "string.upper"(%a, %b) {graph.node = ["/upper"]} : memref<2xi64>, memref<2xi64>
  rt.routine "string.extern"(%b, %y) {graph.node = ["y"]} : memref<2xi64>, memref<2x!graph.string>
}

// -----

// A kernel writes the buffer after the first copy, so that the host copies it again; also in each iteration of a loop.
// CHECK-LABEL: rt.program "again"
// CHECK:      rt.copy %c, [[FIRST:%[0-9]+]] :
// CHECK:      rt.loop_condition "step0" next "0" while [[FIRST]]
// CHECK:      rt.loop "step0"
// CHECK:        rt.launch @k(%c)
// CHECK:        rt.copy %c, [[NEXT:%[0-9]+]] :
// CHECK:        rt.loop_condition "step0" next "step0+1" while [[NEXT]]
// CHECK:      rt.copy %c, %y : memref<i1>, memref<i1>
rt.program "again" {inputs = ["x"], outputs = ["y"], dims = []} do {
  %x = rt.input 0 : i64 : memref<i1>
  %y = rt.output 0 : i64 : memref<i1>
  %c = rt.buffer "1" : memref<i1>
  rt.copy %x, %c : memref<i1>, memref<i1>
  rt.loop_condition "step0" next "0" while %c : memref<i1> {most = "50"}
  rt.loop "step0"() () () -> () attributes {graph.node = ["/loop"]} {
    rt.launch @k(%c) {graph.node = ["/k"], writes = 1 : i64} : memref<i1>
    rt.loop_condition "step0" next "step0+1" while %c : memref<i1> {most = "50"}
  }
  rt.copy %c, %y : memref<i1>, memref<i1>
}
kernel.func @k(%a: memref<i1>) {
  kernel.return
}
