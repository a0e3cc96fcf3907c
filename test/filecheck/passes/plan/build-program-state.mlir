// RUN: mlc-opt %s -p build-program,plan-memory,insert-barriers --verify-diagnostics --split-input-file | filecheck %s

// State is no input, and its new value no output. What begins with other values than zeros comes first in memory.

func.func @main(%m: tensor<20xf32> {graph.name = "m", graph.state = ""}, %w: tensor<20xf32> {graph.name = "w", graph.state = "w"}, %x: tensor<20xf32> {graph.name = "x"}) -> (tensor<20xf32> {graph.alias = 0 : i64}, tensor<20xf32> {graph.alias = 1 : i64}, tensor<f32> {graph.name = "loss"}) {
  %0, %1, %2 = kernel.call @k(%m, %w, %x) {graph.node = ["a"]} : (tensor<20xf32>, tensor<20xf32>, tensor<20xf32>) -> (tensor<20xf32>, tensor<20xf32>, tensor<f32>)
  func.return %0, %1, %2 : tensor<20xf32>, tensor<20xf32>, tensor<f32>
}
kernel.func @k(%0: memref<20xf32>, %1: memref<20xf32>, %2: memref<20xf32>, %3: memref<20xf32>, %4: memref<20xf32>, %5: memref<f32>) attributes {in_place = [array<i64: 0, 3>, array<i64: 1, 4>]} {
  kernel.return
}

// CHECK:      rt.program "main" {inputs = ["x"], outputs = ["loss"]
// CHECK-NEXT: %0 = rt.state "m" {offset = 128 : i64} : memref<20xf32>
// CHECK-NEXT: %1 = rt.state "w" {entry = "w", offset = 0 : i64} : memref<20xf32>
// CHECK-NEXT: %2 = rt.input 0 : i64 : memref<20xf32>
// CHECK-NEXT: %3 = rt.update %0 : memref<20xf32> -> memref<20xf32>
// CHECK-NEXT: %4 = rt.update %1 : memref<20xf32> -> memref<20xf32>
// CHECK-NEXT: %5 = rt.output 0 : i64 : memref<f32>
// CHECK-NEXT: rt.launch @k(%0, %1, %2, %3, %4, %5)
