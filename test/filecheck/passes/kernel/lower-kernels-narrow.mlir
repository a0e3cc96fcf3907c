// RUN: mlc-opt %s -p lower-kernels --verify-diagnostics --split-input-file | filecheck %s

// Narrow types lie in bytes: their codes are made and read by integer operations.

kernel.func @decode(%x: tensor<3xf8E4M3FN>) -> tensor<3xf32> {
  %0 = graph.map "f32(x0)"(%x) : (tensor<3xf8E4M3FN>) -> tensor<3xf32>
  kernel.return %0 : tensor<3xf32>
}

// CHECK:      kernel.func @decode(%0: memref<3xf8E4M3FN>, %1: memref<3xf32>) {
// CHECK-NEXT: poly.statement "S0" ins(%0 : memref<3xf8E4M3FN>) outs(%1 : memref<3xf32>) {domain = #poly.domain<"0 <= i0 < 3">, accesses = [#poly.access<"b0[i0]">, #poly.access<"b1[i0]">]} do {
// CHECK-NEXT: ^bb0(%2: f8E4M3FN):
// CHECK-NEXT: %3 = builtin.unrealized_conversion_cast %2 : f8E4M3FN to i8
// CHECK-NEXT: %4 = arith.extui %3 : i8 to i32
// CHECK-NEXT: %5 = arith.constant 127 : i32
// CHECK-NEXT: %6 = arith.andi %4, %5 : i32
// CHECK-NEXT: %7 = arith.constant 8 : i32
// CHECK-NEXT: %8 = arith.cmpi slt, %6, %7 : i32
// CHECK-NEXT: %9 = arith.sitofp %6 : i32 to f32
// CHECK-NEXT: %10 = arith.constant 0.001953125 : f32
// CHECK-NEXT: %11 = arith.mulf %9, %10 : f32
// CHECK-NEXT: %12 = arith.constant 20 : i32
// CHECK-NEXT: %13 = arith.shli %6, %12 : i32
// CHECK-NEXT: %14 = arith.constant 1006632960 : i32
// CHECK-NEXT: %15 = arith.addi %13, %14 : i32
// CHECK-NEXT: %16 = arith.bitcast %15 : i32 to f32
// CHECK-NEXT: %17 = arith.select %8, %11, %16 : f32
// CHECK-NEXT: %18 = arith.constant 127 : i32
// CHECK-NEXT: %19 = arith.cmpi eq, %6, %18 : i32
// CHECK-NEXT: %20 = arith.constant 0x7fc00000 : f32
// CHECK-NEXT: %21 = arith.select %19, %20, %17 : f32
// CHECK-NEXT: %22 = arith.bitcast %21 : f32 to i32
// CHECK-NEXT: %23 = arith.constant 128 : i32
// CHECK-NEXT: %24 = arith.andi %4, %23 : i32
// CHECK-NEXT: %25 = arith.constant 24 : i32
// CHECK-NEXT: %26 = arith.shli %24, %25 : i32
// CHECK-NEXT: %27 = arith.ori %22, %26 : i32
// CHECK-NEXT: %28 = arith.bitcast %27 : i32 to f32
// CHECK-NEXT: poly.yield %28 : f32
// CHECK-NEXT: }
// CHECK-NEXT: kernel.return

// -----

kernel.func @encode(%x: tensor<3xf32>) -> tensor<3xf8E5M2> {
  %0 = graph.map "f8e5m2(x0)"(%x) : (tensor<3xf32>) -> tensor<3xf8E5M2>
  kernel.return %0 : tensor<3xf8E5M2>
}

// CHECK:      kernel.func @encode(%0: memref<3xf32>, %1: memref<3xf8E5M2>) {
// CHECK-NEXT: poly.statement "S0" ins(%0 : memref<3xf32>) outs(%1 : memref<3xf8E5M2>) {domain = #poly.domain<"0 <= i0 < 3">, accesses = [#poly.access<"b0[i0]">, #poly.access<"b1[i0]">]} do {
// CHECK-NEXT: ^bb0(%2: f32):
// CHECK-NEXT: %3 = arith.bitcast %2 : f32 to i32
// CHECK-NEXT: %4 = arith.constant 2147483647 : i32
// CHECK-NEXT: %5 = arith.andi %3, %4 : i32
// CHECK-NEXT: %6 = arith.constant 1207959552 : i32
// CHECK-NEXT: %7 = arith.minsi %5, %6 : i32
// CHECK-NEXT: %8 = arith.constant 947912704 : i32
// CHECK-NEXT: %9 = arith.cmpi slt, %7, %8 : i32
// CHECK-NEXT: %10 = arith.bitcast %7 : i32 to f32
// CHECK-NEXT: %11 = arith.constant 1.280000e+02 : f32
// CHECK-NEXT: %12 = arith.addf %10, %11 : f32
// CHECK-NEXT: %13 = arith.bitcast %12 : f32 to i32
// CHECK-NEXT: %14 = arith.constant 1124073472 : i32
// CHECK-NEXT: %15 = arith.subi %13, %14 : i32
// CHECK-NEXT: %16 = arith.constant 1048575 : i32
// CHECK-NEXT: %17 = arith.addi %7, %16 : i32
// CHECK-NEXT: %18 = arith.constant 21 : i32
// CHECK-NEXT: %19 = arith.shrsi %7, %18 : i32
// CHECK-NEXT: %20 = arith.constant 1 : i32
// CHECK-NEXT: %21 = arith.andi %19, %20 : i32
// CHECK-NEXT: %22 = arith.addi %17, %21 : i32
// CHECK-NEXT: %23 = arith.constant 21 : i32
// CHECK-NEXT: %24 = arith.shrsi %22, %23 : i32
// CHECK-NEXT: %25 = arith.constant 448 : i32
// CHECK-NEXT: %26 = arith.subi %24, %25 : i32
// CHECK-NEXT: %27 = arith.select %9, %15, %26 : i32
// CHECK-NEXT: %28 = arith.constant 124 : i32
// CHECK-NEXT: %29 = arith.minsi %27, %28 : i32
// CHECK-NEXT: %30 = arith.bitcast %2 : f32 to i32
// CHECK-NEXT: %31 = arith.constant 24 : i32
// CHECK-NEXT: %32 = arith.shrsi %30, %31 : i32
// CHECK-NEXT: %33 = arith.constant 128 : i32
// CHECK-NEXT: %34 = arith.andi %32, %33 : i32
// CHECK-NEXT: %35 = arith.cmpf uno, %2, %2 : f32
// CHECK-NEXT: %36 = arith.constant 126 : i32
// CHECK-NEXT: %37 = arith.select %35, %36, %29 : i32
// CHECK-NEXT: %38 = arith.ori %37, %34 : i32
// CHECK-NEXT: %39 = arith.trunci %38 : i32 to i8
// CHECK-NEXT: %40 = builtin.unrealized_conversion_cast %39 : i8 to f8E5M2
// CHECK-NEXT: poly.yield %40 : f8E5M2
// CHECK-NEXT: }
// CHECK-NEXT: kernel.return

// -----

kernel.func @integers(%x: tensor<3xi4>) -> tensor<3xui2> {
  %0 = graph.map "ui2(x0)"(%x) : (tensor<3xi4>) -> tensor<3xui2>
  kernel.return %0 : tensor<3xui2>
}

// CHECK:      kernel.func @integers(%0: memref<3xi4>, %1: memref<3xui2>) {
// CHECK-NEXT: poly.statement "S0" ins(%0 : memref<3xi4>) outs(%1 : memref<3xui2>) {domain = #poly.domain<"0 <= i0 < 3">, accesses = [#poly.access<"b0[i0]">, #poly.access<"b1[i0]">]} do {
// CHECK-NEXT: ^bb0(%2: i4):
// CHECK-NEXT: %3 = builtin.unrealized_conversion_cast %2 : i4 to i8
// CHECK-NEXT: %4 = arith.extui %3 : i8 to i32
// CHECK-NEXT: %5 = arith.constant 15 : i32
// CHECK-NEXT: %6 = arith.andi %4, %5 : i32
// CHECK-NEXT: %7 = arith.constant 8 : i32
// CHECK-NEXT: %8 = arith.xori %6, %7 : i32
// CHECK-NEXT: %9 = arith.constant 8 : i32
// CHECK-NEXT: %10 = arith.subi %8, %9 : i32
// CHECK-NEXT: %11 = arith.constant 3 : i32
// CHECK-NEXT: %12 = arith.andi %10, %11 : i32
// CHECK-NEXT: %13 = arith.trunci %12 : i32 to i8
// CHECK-NEXT: %14 = builtin.unrealized_conversion_cast %13 : i8 to ui2
// CHECK-NEXT: poly.yield %14 : ui2
// CHECK-NEXT: }
// CHECK-NEXT: kernel.return

// -----

// The same bits as another element of as many; of integers that differ in sign it is nothing.

kernel.func @bits(%x: tensor<3xf32>) -> tensor<3xui32> {
  %0 = graph.map "as_ui32(x0)"(%x) : (tensor<3xf32>) -> tensor<3xui32>
  kernel.return %0 : tensor<3xui32>
}

// CHECK:      kernel.func @bits(%0: memref<3xf32>, %1: memref<3xui32>) {
// CHECK-NEXT: poly.statement "S0" ins(%0 : memref<3xf32>) outs(%1 : memref<3xui32>) {domain = #poly.domain<"0 <= i0 < 3">, accesses = [#poly.access<"b0[i0]">, #poly.access<"b1[i0]">]} do {
// CHECK-NEXT: ^bb0(%2: f32):
// CHECK-NEXT: %3 = arith.bitcast %2 : f32 to i32
// CHECK-NEXT: %4 = builtin.unrealized_conversion_cast %3 : i32 to ui32
// CHECK-NEXT: poly.yield %4 : ui32
// CHECK-NEXT: }
// CHECK-NEXT: kernel.return

// -----

// What nothing is computed in is moved as it is.

kernel.func @move(%c: tensor<3xi1>, %x: tensor<3xf4E2M1FN>, %y: tensor<3xf4E2M1FN>) -> tensor<3xf4E2M1FN> {
  %0 = graph.map "where(x0, x1, x2)"(%c, %x, %y) : (tensor<3xi1>, tensor<3xf4E2M1FN>, tensor<3xf4E2M1FN>) -> tensor<3xf4E2M1FN>
  kernel.return %0 : tensor<3xf4E2M1FN>
}

// CHECK:      kernel.func @move(%0: memref<3xi1>, %1: memref<3xf4E2M1FN>, %2: memref<3xf4E2M1FN>, %3: memref<3xf4E2M1FN>) {
// CHECK-NEXT: poly.statement "S0" ins(%0, %1, %2 : memref<3xi1>, memref<3xf4E2M1FN>, memref<3xf4E2M1FN>) outs(%3 : memref<3xf4E2M1FN>) {domain = #poly.domain<"0 <= i0 < 3">, accesses = [#poly.access<"b0[i0]">, #poly.access<"b1[i0]">, #poly.access<"b2[i0]">, #poly.access<"b3[i0]">]} do {
// CHECK-NEXT: ^bb0(%4: i1, %5: f4E2M1FN, %6: f4E2M1FN):
// CHECK-NEXT: %7 = builtin.unrealized_conversion_cast %5 : f4E2M1FN to i8
// CHECK-NEXT: %8 = builtin.unrealized_conversion_cast %6 : f4E2M1FN to i8
// CHECK-NEXT: %9 = arith.select %4, %7, %8 : i8
// CHECK-NEXT: %10 = builtin.unrealized_conversion_cast %9 : i8 to f4E2M1FN
// CHECK-NEXT: poly.yield %10 : f4E2M1FN
// CHECK-NEXT: }
// CHECK-NEXT: kernel.return

// -----

kernel.func @sum(%x: tensor<3xf8E4M3FN>) -> tensor<f8E4M3FN> {
  %0 = graph.reduce "add"(%x) {axes = array<i64: 0>, keepdims = false, graph.node = ["/node"]} : (tensor<3xf8E4M3FN>) -> tensor<f8E4M3FN>
  kernel.return %0 : tensor<f8E4M3FN>
}

// CHECK:      no function computes in f8e4m3fn (node '/node', operator 'graph.reduce', stage 'lower-kernels'). Cast the operand, as in exp(f32(x0)).
