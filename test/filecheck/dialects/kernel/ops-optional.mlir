// RUN: mlc-opt %s | mlc-opt | filecheck %s
// RUN: mlc-opt %s --print-op-generic | filecheck %s --check-prefix GENERIC

// Computations without operands or iterators, several results of a kernel, tiles of one element; and the generic form.

kernel.func @generic(%o: memref<2x3xf32>, %s: memref<i64>) {
  poly.statement "S0" outs(%o : memref<2x3xf32>) {domain = #poly.domain<"0 <= i < 2 and 0 <= j < 3">, accesses = [#poly.access<"b0[i, j]">]} do {
    %c = arith.constant 1.5 : f32
    poly.yield %c : f32
  }
  poly.statement "S1" ins(%s : memref<i64>) outs(%s : memref<i64>) {domain = #poly.domain<"">, accesses = [#poly.access<"b1[]">, #poly.access<"b1[]">]} do {
  ^bb0(%x: i64):
    poly.yield %x : i64
  }
  kernel.return
}

kernel.func @two(%x: tensor<2x3xf32>, %y: tensor<ui8>) -> (tensor<ui8>, tensor<2x3xf32>) {
  kernel.return %y, %x : tensor<ui8>, tensor<2x3xf32>
}

func.func @main(%x: tensor<2x3xf32>, %y: tensor<ui8>) -> (tensor<ui8>, tensor<2x3xf32>) {
  %a, %b = kernel.call @two(%x, %y) : (tensor<2x3xf32>, tensor<ui8>) -> (tensor<ui8>, tensor<2x3xf32>)
  func.return %a, %b : tensor<ui8>, tensor<2x3xf32>
}

kernel.func @tiles(%a: memref<3xi64>, %n: index, %at: i64) {
  %one = kernel.read %a[%n] {strides = array<i64>} : memref<3xi64> -> i64
  %y = kernel.gather %a[%at] : memref<3xi64>, i64 -> i64
  %pairs = kernel.gather %a[%at] {lane_offsets = array<i64: 0, 0, 1, 1>} : memref<3xi64>, i64 -> vector<4xi64>
  %t = kernel.read %a[%n] strides(%n, %n) {strides = array<i64: -9223372036854775808, -9223372036854775808>} : memref<3xi64> -> vector<2x3xi64>
  %l = kernel.lanewise "arith.select"(%t, %t) {of = {}} : (vector<2x3xi64>, vector<2x3xi64>) -> vector<2x3xi64>
  %odd = kernel.read %a[%n] {strides = array<i64: 0, 2>, odd} : memref<3xi64> -> vector<2x1xi64>
  %slid = kernel.slide %t, %odd : vector<2x3xi64>, vector<2x1xi64> -> vector<2x3xi64>
  kernel.write %y, %a[%n] {strides = array<i64>} : i64, memref<3xi64>
  kernel.write %l, %a[%n] lanes(%n) {strides = array<i64: 3, 1>} : vector<2x3xi64>, memref<3xi64>
  kernel.return
}

// CHECK:      poly.statement "S0" outs(%o : memref<2x3xf32>) {domain = #poly.domain<"0 <= i < 2 and 0 <= j < 3">, accesses = [#poly.access<"b0[i, j]">]} do {
// CHECK-NEXT: %c = arith.constant 1.500000e+00 : f32
// CHECK:      poly.statement "S1" ins(%s : memref<i64>) outs(%s : memref<i64>) {domain = #poly.domain<"">, accesses = [#poly.access<"b1[]">, #poly.access<"b1[]">]} do {
// CHECK:      kernel.func @two(%x: tensor<2x3xf32>, %y: tensor<ui8>) -> (tensor<ui8>, tensor<2x3xf32>) {
// CHECK-NEXT: kernel.return %y, %x : tensor<ui8>, tensor<2x3xf32>
// CHECK:      %a, %b = kernel.call @two(%x, %y) : (tensor<2x3xf32>, tensor<ui8>) -> (tensor<ui8>, tensor<2x3xf32>)
// CHECK:      %one = kernel.read %a[%n] {strides = array<i64>} : memref<3xi64> -> i64
// CHECK-NEXT: %y = kernel.gather %a[%at] : memref<3xi64>, i64 -> i64
// CHECK-NEXT: %pairs = kernel.gather %a[%at] {lane_offsets = array<i64: 0, 0, 1, 1>} : memref<3xi64>, i64 -> vector<4xi64>
// CHECK-NEXT: %t = kernel.read %a[%n] strides(%n, %n) {strides = array<i64: -9223372036854775808, -9223372036854775808>} : memref<3xi64> -> vector<2x3xi64>
// CHECK-NEXT: %l = kernel.lanewise "arith.select"(%t, %t) {of = {}} : (vector<2x3xi64>, vector<2x3xi64>) -> vector<2x3xi64>
// CHECK-NEXT: %odd = kernel.read %a[%n] {strides = array<i64: 0, 2>, odd} : memref<3xi64> -> vector<2x1xi64>
// CHECK-NEXT: %slid = kernel.slide %t, %odd : vector<2x3xi64>, vector<2x1xi64> -> vector<2x3xi64>
// CHECK-NEXT: kernel.write %y, %a[%n] {strides = array<i64>} : i64, memref<3xi64>
// CHECK-NEXT: kernel.write %l, %a[%n] lanes(%n) {strides = array<i64: 3, 1>} : vector<2x3xi64>, memref<3xi64>

// GENERIC:      "kernel.func"() <{sym_name = "generic", function_type = (memref<2x3xf32>, memref<i64>) -> ()}> ({
// GENERIC:      "poly.statement"(%o) <{id = "S0", domain = #poly.domain<"0 <= i < 2 and 0 <= j < 3">, accesses = [#poly.access<"b0[i, j]">], operandSegmentSizes = array<i32: 0, 1>}> ({
// GENERIC:      %a, %b = "kernel.call"(%x, %y) <{callee = @two}> : (tensor<2x3xf32>, tensor<ui8>) -> (tensor<ui8>, tensor<2x3xf32>)
// GENERIC:      %t = "kernel.read"(%a, %n, %n, %n) <{strides = array<i64: -9223372036854775808, -9223372036854775808>, operandSegmentSizes = array<i32: 1, 1, 2, 0, 0>}> : (memref<3xi64>, index, index, index) -> vector<2x3xi64>
// GENERIC-NEXT: %l = "kernel.lanewise"(%t, %t) <{op = "arith.select", of = {}}> : (vector<2x3xi64>, vector<2x3xi64>) -> vector<2x3xi64>
// GENERIC:      "kernel.write"(%l, %a, %n, %n) <{strides = array<i64: 3, 1>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0>}> : (vector<2x3xi64>, memref<3xi64>, index, index) -> ()
