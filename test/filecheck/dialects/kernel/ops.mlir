// RUN: mlc-opt %s | mlc-opt | filecheck %s
// RUN: mlc-opt %s --print-op-generic | mlc-opt | filecheck %s

kernel.func @generic(%a: memref<?x8xf32, #graph.dims<["batch", "8"]>>, %ids: memref<4xi64>, %o: memref<?xf32, #graph.dims<["batch"]>>) attributes {work = #kernel.work<flops = "16*batch">} {
  %t = kernel.local : memref<?x8xf32, #graph.dims<["batch", "8"]>>
  poly.statement "S0" ins(%a : memref<?x8xf32, #graph.dims<["batch", "8"]>>) outs(%t : memref<?x8xf32, #graph.dims<["batch", "8"]>>) {domain = #poly.domain<"0 <= i < batch and 0 <= j < 8">, accesses = [#poly.access<"b0[batch - i - 1, j]">, #poly.access<"t0[i, j]">]} do {
  ^bb0(%x: f32):
    %j = kernel.index "j"
    %n = kernel.symbol "2*batch"
    %m = memref.load %ids[%j] : memref<4xi64>
    poly.yield %x : f32
  }
  poly.statement "S1" ins(%t : memref<?x8xf32, #graph.dims<["batch", "8"]>>) outs(%o : memref<?xf32, #graph.dims<["batch"]>>) {domain = #poly.domain<"0 <= i < batch and 0 <= j < 8">, accesses = [#poly.access<"t0[i, j]">, #poly.access<"b2[i]">], monoid = "max", init = 0xFF800000 : f32} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

kernel.func @tensors(%a: tensor<3x8xf32>) -> tensor<3x8xf32> {
  kernel.return %a : tensor<3x8xf32>
}

func.func @main(%a: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %y = kernel.call @tensors(%a) {graph.node = ["/copy"]} : (tensor<3x8xf32>) -> tensor<3x8xf32>
  func.return %y : tensor<3x8xf32>
}

kernel.func @tiles(%a: memref<3x5xf32>, %n: index, %at: vector<1x5xi64>) {
  %step = kernel.step : vector<1x5xi64>
  %whole = kernel.read %a[%n] {strides = array<i64: 5, 1>} : memref<3x5xf32> -> vector<3x5xf32>
  %part = kernel.read %a[%n] strides(%n) lanes(%n) {strides = array<i64: -9223372036854775808, 1>} : memref<3x5xf32> -> vector<3x5xf32>
  %less = kernel.lanewise "arith.cmpf"(%whole, %part) {of = {predicate = 4 : i64}} : (vector<3x5xf32>, vector<3x5xf32>) -> vector<3x5xi1>
  %some = kernel.gather %a[%at] lanes(%n) : memref<3x5xf32>, vector<1x5xi64> -> vector<1x5xf32>
  %one = kernel.gather %a[%at] : memref<3x5xf32>, vector<1x5xi64> -> vector<1x5xf32>
  kernel.write %whole, %a[%n] {strides = array<i64: 5, 1>} : vector<3x5xf32>, memref<3x5xf32>
  kernel.write %part, %a[%n] strides(%n) lanes(%n) {strides = array<i64: -9223372036854775808, 1>} : vector<3x5xf32>, memref<3x5xf32>
  kernel.return
}

// CHECK:      kernel.func @generic(%a: memref<?x8xf32, #graph.dims<["batch", "8"]>>, %ids: memref<4xi64>, %o: memref<?xf32, #graph.dims<["batch"]>>) attributes {work = #kernel.work<flops = "16*batch">} {
// CHECK-NEXT: %t = kernel.local : memref<?x8xf32, #graph.dims<["batch", "8"]>>
// CHECK-NEXT: poly.statement "S0" ins(%a : memref<?x8xf32, #graph.dims<["batch", "8"]>>) outs(%t : memref<?x8xf32, #graph.dims<["batch", "8"]>>) {domain = #poly.domain<"0 <= i < batch and 0 <= j < 8">, accesses = [#poly.access<"b0[batch - i - 1, j]">, #poly.access<"t0[i, j]">]} do {
// CHECK:      %j = kernel.index "j"
// CHECK-NEXT: %n = kernel.symbol "2*batch"
// CHECK-NEXT: %m = memref.load %ids[%j] : memref<4xi64>
// CHECK-NEXT: poly.yield %x : f32
// CHECK:      poly.statement "S1" ins(%t : memref<?x8xf32, #graph.dims<["batch", "8"]>>) outs(%o : memref<?xf32, #graph.dims<["batch"]>>) {domain = #poly.domain<"0 <= i < batch and 0 <= j < 8">, accesses = [#poly.access<"t0[i, j]">, #poly.access<"b2[i]">], monoid = "max", init = 0xff800000 : f32} do {
// CHECK:      poly.yield %x_1 : f32
// CHECK:      kernel.return
// CHECK:      kernel.func @tensors(%a: tensor<3x8xf32>) -> tensor<3x8xf32> {
// CHECK-NEXT: kernel.return %a : tensor<3x8xf32>
// CHECK:      %y = kernel.call @tensors(%a) {graph.node = ["/copy"]} : (tensor<3x8xf32>) -> tensor<3x8xf32>
// CHECK:      kernel.func @tiles(%a: memref<3x5xf32>, %n: index, %at: vector<1x5xi64>) {
// CHECK-NEXT: %step = kernel.step : vector<1x5xi64>
// CHECK-NEXT: %whole = kernel.read %a[%n] {strides = array<i64: 5, 1>} : memref<3x5xf32> -> vector<3x5xf32>
// CHECK-NEXT: %part = kernel.read %a[%n] strides(%n) lanes(%n) {strides = array<i64: -9223372036854775808, 1>} : memref<3x5xf32> -> vector<3x5xf32>
// CHECK-NEXT: %less = kernel.lanewise "arith.cmpf"(%whole, %part) {of = {predicate = 4 : i64}} : (vector<3x5xf32>, vector<3x5xf32>) -> vector<3x5xi1>
// CHECK-NEXT: %some = kernel.gather %a[%at] lanes(%n) : memref<3x5xf32>, vector<1x5xi64> -> vector<1x5xf32>
// CHECK-NEXT: %one = kernel.gather %a[%at] : memref<3x5xf32>, vector<1x5xi64> -> vector<1x5xf32>
// CHECK-NEXT: kernel.write %whole, %a[%n] {strides = array<i64: 5, 1>} : vector<3x5xf32>, memref<3x5xf32>
// CHECK-NEXT: kernel.write %part, %a[%n] strides(%n) lanes(%n) {strides = array<i64: -9223372036854775808, 1>} : vector<3x5xf32>, memref<3x5xf32>
// CHECK-NEXT: kernel.return
