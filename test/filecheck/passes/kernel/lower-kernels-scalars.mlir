// RUN: mlc-opt %s -p lower-kernels --verify-diagnostics --split-input-file | filecheck %s

// Scalar functions of unsigned and signed integers, casts, and the values of iterators and of symbolic sizes.

kernel.func @unsigned(%x: tensor<3xui8>, %y: tensor<3xui8>) -> tensor<3xui8> {
  %0 = graph.map "where(x0 < x1, x0 // x1, x0 >> 2)"(%x, %y) : (tensor<3xui8>, tensor<3xui8>) -> tensor<3xui8>
  kernel.return %0 : tensor<3xui8>
}

// CHECK:      kernel.func @unsigned(%0: memref<3xui8>, %1: memref<3xui8>, %2: memref<3xui8>) {
// CHECK-NEXT: poly.statement "S0" ins(%0, %1 : memref<3xui8>, memref<3xui8>) outs(%2 : memref<3xui8>) {domain = #poly.domain<"0 <= i0 < 3">, accesses = [#poly.access<"b0[i0]">, #poly.access<"b1[i0]">, #poly.access<"b2[i0]">]} do {
// CHECK-NEXT: ^bb0(%3: ui8, %4: ui8):
// CHECK-NEXT: %5 = builtin.unrealized_conversion_cast %3 : ui8 to i8
// CHECK-NEXT: %6 = builtin.unrealized_conversion_cast %4 : ui8 to i8
// CHECK-NEXT: %7 = arith.cmpi ult, %5, %6 : i8
// CHECK-NEXT: %8 = builtin.unrealized_conversion_cast %3 : ui8 to i8
// CHECK-NEXT: %9 = builtin.unrealized_conversion_cast %4 : ui8 to i8
// CHECK-NEXT: %10 = arith.divui %8, %9 : i8
// CHECK-NEXT: %11 = builtin.unrealized_conversion_cast %3 : ui8 to i8
// CHECK-NEXT: %12 = arith.constant 2 : i8
// CHECK-NEXT: %13 = arith.shrui %11, %12 : i8
// CHECK-NEXT: %14 = arith.select %7, %10, %13 : i8
// CHECK-NEXT: %15 = builtin.unrealized_conversion_cast %14 : i8 to ui8
// CHECK-NEXT: poly.yield %15 : ui8
// CHECK-NEXT: }
// CHECK-NEXT: kernel.return

// -----

kernel.func @casts(%x: tensor<3xf32>, %n: tensor<3xi32>) -> tensor<3xi1> {
  %0 = graph.map "(i64(x0) + i64(x1)) != 7"(%x, %n) : (tensor<3xf32>, tensor<3xi32>) -> tensor<3xi1>
  kernel.return %0 : tensor<3xi1>
}

// CHECK:      kernel.func @casts(%0: memref<3xf32>, %1: memref<3xi32>, %2: memref<3xi1>) {
// CHECK-NEXT: poly.statement "S0" ins(%0, %1 : memref<3xf32>, memref<3xi32>) outs(%2 : memref<3xi1>) {domain = #poly.domain<"0 <= i0 < 3">, accesses = [#poly.access<"b0[i0]">, #poly.access<"b1[i0]">, #poly.access<"b2[i0]">]} do {
// CHECK-NEXT: ^bb0(%3: f32, %4: i32):
// CHECK-NEXT: %5 = arith.fptosi %3 : f32 to i64
// CHECK-NEXT: %6 = arith.extsi %4 : i32 to i64
// CHECK-NEXT: %7 = arith.addi %5, %6 : i64
// CHECK-NEXT: %8 = arith.constant 7 : i64
// CHECK-NEXT: %9 = arith.cmpi ne, %7, %8 : i64
// CHECK-NEXT: poly.yield %9 : i1
// CHECK-NEXT: }
// CHECK-NEXT: kernel.return

// -----

kernel.func @iterators_and_sizes(%x: tensor<?x2xf32, #graph.dims<["n", "2"]>>) -> tensor<?x2xf32, #graph.dims<["n", "2"]>> {
  %0 = graph.compute "x0[n - 1 - i0, i1] * f32(i0 + n * 2)"(%x) {shape = ["n", "2"], reduce = []} : (tensor<?x2xf32, #graph.dims<["n", "2"]>>) -> tensor<?x2xf32, #graph.dims<["n", "2"]>>
  kernel.return %0 : tensor<?x2xf32, #graph.dims<["n", "2"]>>
}

// CHECK:      kernel.func @iterators_and_sizes(%0: memref<?x2xf32, #graph.dims<["n", "2"]>>, %1: memref<?x2xf32, #graph.dims<["n", "2"]>>) {
// CHECK-NEXT: poly.statement "S0" ins(%0 : memref<?x2xf32, #graph.dims<["n", "2"]>>) outs(%1 : memref<?x2xf32, #graph.dims<["n", "2"]>>) {domain = #poly.domain<"0 <= i0 < n and 0 <= i1 < 2">, accesses = [#poly.access<"b0[-i0 + n - 1, i1]">, #poly.access<"b1[i0, i1]">]} do {
// CHECK-NEXT: ^bb0(%2: f32):
// CHECK-NEXT: %3 = kernel.index "i0"
// CHECK-NEXT: %4 = arith.index_cast %3 : index to i64
// CHECK-NEXT: %5 = kernel.symbol "n"
// CHECK-NEXT: %6 = arith.index_cast %5 : index to i64
// CHECK-NEXT: %7 = arith.constant 2 : i64
// CHECK-NEXT: %8 = arith.muli %6, %7 : i64
// CHECK-NEXT: %9 = arith.addi %4, %8 : i64
// CHECK-NEXT: %10 = arith.sitofp %9 : i64 to f32
// CHECK-NEXT: %11 = arith.mulf %2, %10 : f32
// CHECK-NEXT: poly.yield %11 : f32
// CHECK-NEXT: }
// CHECK-NEXT: kernel.return

// -----

// What a power of two divides is shifted; of the rest the low bits stay. Every other divisor divides.

kernel.func @divisions(%x: tensor<3xi64>, %y: tensor<3xui8>) -> tensor<3xi64> {
  %0 = graph.map "x0 // 8 + x0 % 16 + i64(x1 // 4) + x0 // 1 + x0 // 6"(%x, %y) : (tensor<3xi64>, tensor<3xui8>) -> tensor<3xi64>
  kernel.return %0 : tensor<3xi64>
}

// CHECK:      kernel.func @divisions
// CHECK:      arith.constant 3 : i64
// CHECK-NEXT: arith.shrsi %3, {{%\d+}} : i64
// CHECK:      arith.constant 15 : i64
// CHECK-NEXT: arith.andi %3, {{%\d+}} : i64
// CHECK:      arith.constant 2 : i8
// CHECK-NEXT: arith.shrui
// CHECK:      arith.constant 1 : i64
// CHECK-NEXT: arith.addi {{%\d+}}, %3 : i64
// CHECK:      arith.constant 6 : i64
// CHECK-NEXT: arith.floordivsi %3, {{%\d+}} : i64
