// RUN: mlc-opt %s -p overlap-collectives --split-input-file | filecheck %s

// A start goes up to what writes its operand, a wait down to what reads the result; starts are in the order of their operands.

rt.program "net" {inputs = ["x"], outputs = ["y"], dims = []} do {
  %x = rt.input 0 : i64 : memref<5xf32>
  %y = rt.output 0 : i64 : memref<5xf32>
  %a = rt.buffer "20" : memref<5xf32>
  %b = rt.buffer "20" : memref<5xf32>
  %c = rt.buffer "20" : memref<5xf32>
  %d = rt.buffer "20" : memref<5xf32>
  rt.launch @k(%x, %a) {graph.node = ["/a"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
  rt.launch @k(%x, %b) {graph.node = ["/b"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
  rt.start "comm.all_reduce" 1 : i64 to %d : memref<5xf32> of %b : memref<5xf32> {how = {fn = "add"}}
  rt.wait 1 : i64 to %d : memref<5xf32> of %b : memref<5xf32>
  rt.start "comm.all_reduce" 0 : i64 to %c : memref<5xf32> of %a : memref<5xf32> {how = {fn = "add"}}
  rt.wait 0 : i64 to %c : memref<5xf32> of %a : memref<5xf32>
  rt.launch @k(%x, %y) {graph.node = ["/other"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
  rt.launch @k(%c, %y) {graph.node = ["/reads"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
  rt.launch @k(%x, %b) {graph.node = ["/overwrites"], writes = 1 : i64} : memref<5xf32>, memref<5xf32>
}

// CHECK:      rt.launch @k(%x, %a) {graph.node = ["/a"]
// CHECK-NEXT: rt.start "comm.all_reduce" 0 : i64 to %c : memref<5xf32> of %a : memref<5xf32> {how = {fn = "add"}}
// CHECK-NEXT: rt.launch @k(%x, %b) {graph.node = ["/b"]
// CHECK-NEXT: rt.start "comm.all_reduce" 1 : i64 to %d : memref<5xf32> of %b : memref<5xf32> {how = {fn = "add"}}
// CHECK-NEXT: rt.launch @k(%x, %y) {graph.node = ["/other"]
// CHECK-NEXT: rt.wait 0 : i64 to %c : memref<5xf32> of %a : memref<5xf32>
// CHECK-NEXT: rt.launch @k(%c, %y) {graph.node = ["/reads"]
// CHECK-NEXT: rt.wait 1 : i64 to %d : memref<5xf32> of %b : memref<5xf32>
// CHECK-NEXT: rt.launch @k(%x, %b) {graph.node = ["/overwrites"]

// -----

// A view of the result, and a loop that reads it, count; a rank has no operand.

rt.program "net" {inputs = ["x"], outputs = ["y"], dims = []} do {
  %x = rt.input 0 : i64 : memref<5xf32>
  %y = rt.output 0 : i64 : memref<i64>
  %a = rt.buffer "20" : memref<5xf32>
  rt.start "comm.broadcast" 0 : i64 to %a : memref<5xf32> of %x : memref<5xf32> {how = {root = 0 : i64}}
  rt.wait 0 : i64 to %a : memref<5xf32> of %x : memref<5xf32>
  rt.start "comm.rank" 1 : i64 to %y : memref<i64> {how = {}}
  rt.wait 1 : i64 to %y : memref<i64>
  %v = rt.view %a : memref<5xf32> -> memref<1x5xf32>
  rt.loop "step0" to "2" () () () -> () {
    rt.launch @k(%v) {graph.node = ["/in"], writes = 0 : i64} : memref<1x5xf32>
  }
}

// CHECK:      %v = rt.view
// CHECK-NEXT: rt.start "comm.broadcast" 0
// CHECK-NEXT: rt.start "comm.rank" 1 : i64 to %y : memref<i64> {how = {}}
// CHECK-NEXT: rt.wait 0 : i64 to %a
// CHECK-NEXT: rt.loop
// CHECK-NEXT: rt.launch
// CHECK-NEXT: }
// CHECK-NEXT: rt.wait 1 : i64 to %y : memref<i64>
