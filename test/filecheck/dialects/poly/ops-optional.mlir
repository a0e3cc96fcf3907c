// RUN: mlc-opt %s | mlc-opt | filecheck %s
// RUN: mlc-opt %s --print-op-generic | filecheck %s --check-prefix GENERIC

// A statement that reads nothing, a tile with partial lanes and blocks of a sum, and the generic form.

kernel.func @k(%o: memref<3x5xi64>) attributes {schedule_tree = "{ domain: \22{ T0[i, j] }\22 }", serial = "why"} {
  poly.statement "S0" outs(%o : memref<3x5xi64>) {domain = #poly.domain<"0 <= i < 3 and 0 <= j < 5">, accesses = [#poly.access<"b0[i, j]">]} do {
    %c = arith.constant 2 : i64
    poly.yield %c : i64
  }
  poly.tile "T0" {statements = ["S0", "S1"], iters = ["i", "j"], starts = ["2", "4*n"], sizes = array<i64: 1, 4>, valid = ["1", "n-4"], vector = "j"}
  kernel.return
}

// CHECK:      kernel.func @k(%o: memref<3x5xi64>) attributes {schedule_tree = "{ domain: \22{ T0[i, j] }\22 }", serial = "why"} {
// CHECK-NEXT: poly.statement "S0" outs(%o : memref<3x5xi64>) {domain = #poly.domain<"0 <= i < 3 and 0 <= j < 5">, accesses = [#poly.access<"b0[i, j]">]} do {
// CHECK-NEXT: %c = arith.constant 2 : i64
// CHECK-NEXT: poly.yield %c : i64
// CHECK-NEXT: }
// CHECK-NEXT: poly.tile "T0" {statements = ["S0", "S1"], iters = ["i", "j"], starts = ["2", "4*n"], sizes = array<i64: 1, 4>, valid = ["1", "n-4"], vector = "j"}
// CHECK-NEXT: kernel.return

// GENERIC:      "poly.statement"(%o) <{id = "S0", domain = #poly.domain<"0 <= i < 3 and 0 <= j < 5">, accesses = [#poly.access<"b0[i, j]">], operandSegmentSizes = array<i32: 0, 1>}> ({
// GENERIC-NEXT: %c = "arith.constant"() <{value = 2 : i64}> : () -> i64
// GENERIC-NEXT: "poly.yield"(%c) : (i64) -> ()
// GENERIC-NEXT: }) : (memref<3x5xi64>) -> ()
// GENERIC-NEXT: "poly.tile"() <{id = "T0", statements = ["S0", "S1"], iters = ["i", "j"], starts = ["2", "4*n"], sizes = array<i64: 1, 4>, valid = ["1", "n-4"], vector = "j"}> : () -> ()
