// RUN: mlc-opt %s -p tile-kernels,lower-tiles --verify-diagnostics --split-input-file | filecheck %s

// Lanes beyond the end of a row are the identity of what is combined; a sum in blocks keeps a second accumulator.

kernel.func @max_of_symbolic_rows(%0: memref<3x?xf32, #graph.dims<["3", "n"]>>, %1: memref<3xf32>) attributes {schedule = #poly.schedule<"rows: S0 | i0 | i1/8v">} {
  poly.statement "S0" ins(%0 : memref<3x?xf32, #graph.dims<["3", "n"]>>) outs(%1 : memref<3xf32>) {domain = #poly.domain<"0 <= i0 < 3 and 0 <= i1 < n">, accesses = [#poly.access<"b0[i0, i1]">, #poly.access<"b1[i0]">], monoid = "max", init = 0xFF800000 : f32} do {
  ^bb0(%2: f32):
    poly.yield %2 : f32
  }
  kernel.return
}

// CHECK:      kernel.func @max_of_symbolic_rows({{.*}} attributes {schedule = #poly.schedule<"rows: S0 | i0 | i1/8v">} {
// CHECK:      [[LOWEST:%\w+]] = arith.constant 0xff800000 : f32
// CHECK:      [[N:%\w+]] = kernel.symbol "n"
// CHECK:      [[WHOLE:%\w+]] = arith.floordivsi [[N]],
// CHECK-NEXT: [[USED:%\w+]] = arith.muli [[WHOLE]], %c-8 : index
// CHECK-NEXT: [[LEFT:%\w+]] = arith.addi [[USED]], [[N]] : index
// CHECK:      [[A:%\w+]] = vector.reduction <maximumf>, {{.*}} : vector<8xf32> into f32
// CHECK:      scf.for {{.*}} to [[N]] step {{.*}}-> (vector<8xf32>) {
// CHECK:      [[X:%\w+]] = kernel.read %0[{{.*}}] lanes([[LEFT]]) {strides = array<i64: 1>} : {{.*}} -> vector<8xf32>
// CHECK:      [[IN:%\w+]] = kernel.lanewise "arith.cmpi"({{.*}}) {of = {predicate = 2 : i64}} : {{.*}} -> vector<8xi1>
// CHECK-NEXT: [[REST:%\w+]] = vector.broadcast [[LOWEST]] : f32 to vector<8xf32>
// CHECK-NEXT: kernel.lanewise "arith.select"([[IN]], [[X]], [[REST]])
// CHECK:      [[B:%\w+]] = vector.reduction <maximumf>, {{.*}} : vector<8xf32> into f32
// CHECK-NEXT: arith.maximumf [[B]], [[A]] : f32
// -----

kernel.func @blocks_of_a_sum(%0: memref<6x5xf32>, %1: memref<6xf32>) attributes {schedule = #poly.schedule<"x: S0 | i/2 | j/2s">} {
  poly.statement "S0" ins(%0 : memref<6x5xf32>) outs(%1 : memref<6xf32>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < 5">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      kernel.func @blocks_of_a_sum(
// CHECK:      [[TOTAL:%\w+]] = vector.broadcast {{.*}}: f32 to vector<2xf32>
// CHECK-NEXT: [[SUM:%\w+]] = scf.for [[J:%\w+]] = {{.*}} iter_args([[ACC:%\w+]] = [[TOTAL]]) -> (vector<2xf32>) {
// CHECK:      [[ZERO:%\w+]] = vector.broadcast {{.*}}: f32 to vector<2xf32>
// CHECK-NEXT: [[NEXT:%\w+]] = arith.addi [[J]], %c2 : index
// CHECK-NEXT: [[STOP:%\w+]] = arith.minsi [[NEXT]], %c5 : index
// CHECK:      [[PART:%\w+]] = scf.for {{.*}} = [[J]] to [[STOP]] step {{.*}} iter_args({{.*}} = [[ZERO]]) -> (vector<2xf32>) {
// CHECK:      kernel.read %0[{{.*}}] {strides = array<i64: 5>} : memref<6x5xf32> -> vector<2xf32>
// CHECK:      arith.addf [[ACC]], [[PART]] : vector<2xf32>
// CHECK:      kernel.write [[SUM]], %1[{{.*}}] {strides = array<i64: 1>} : vector<2xf32>, memref<6xf32>

// -----

// A small window is unrolled, and what its points share is read once.

kernel.func @window(%0: memref<6x9xf32>, %1: memref<4xf32>, %2: memref<6x8xf32>) attributes {schedule = #poly.schedule<"window: S0 | i j/8v | k">} {
  poly.statement "S0" ins(%0, %1 : memref<6x9xf32>, memref<4xf32>) outs(%2 : memref<6x8xf32>) {domain = #poly.domain<"0 <= i < 6 and 0 <= j < 8 and 0 <= k < 2">, accesses = [#poly.access<"b0[i, j + k]">, #poly.access<"b1[0]">, #poly.access<"b2[i, j]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    poly.yield %z : f32
  }
  kernel.return
}

// CHECK:      kernel.func @window(
// CHECK:      [[ZERO:%\w+]] = vector.broadcast {{.*}}: f32 to vector<8xf32>
// CHECK:      kernel.read %0[{{.*}}] {strides = array<i64: 1>} : memref<6x9xf32> -> vector<8xf32>
// CHECK:      kernel.read %1[{{.*}}] {strides = array<i64>} : memref<4xf32> -> f32
// CHECK:      [[ONE:%\w+]] = arith.addf [[ZERO]], {{.*}}: vector<8xf32>
// CHECK-NOT:  kernel.read %1
// CHECK:      kernel.read %0[{{.*}}] {strides = array<i64: 1>} : memref<6x9xf32> -> vector<8xf32>
// CHECK:      [[TWO:%\w+]] = arith.addf [[ONE]], {{.*}}: vector<8xf32>
// CHECK-NOT:  scf.for
// CHECK:      kernel.write [[TWO]]

// -----

// A long sum is made in chunks of 32 vectors, each added to a total in f64.

kernel.func @long_sum(%0: memref<100000xf32>, %1: memref<1xf32>) attributes {schedule = #poly.schedule<"rows: S0 | i | j/8v">} {
  poly.statement "S0" ins(%0 : memref<100000xf32>) outs(%1 : memref<1xf32>) {domain = #poly.domain<"0 <= i < 1 and 0 <= j < 100000">, accesses = [#poly.access<"b0[j]">, #poly.access<"b1[i]">], monoid = "add", init = 0.0 : f32} do {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  kernel.return
}

// CHECK:      kernel.func @long_sum(
// CHECK:      [[TOTAL:%\w+]] = scf.for [[J:%\w+]] = {{.*}} step %c256 iter_args([[ACC:%\w+]] = {{.*}}) -> (vector<8xf64>) {
// CHECK:      [[STOP:%\w+]] = arith.minsi {{.*}}, %c100000 : index
// CHECK:      [[PART:%\w+]] = scf.for {{.*}} = [[J]] to [[STOP]] step {{.*}} -> (vector<8xf32>) {
// CHECK:      [[WIDE:%\w+]] = arith.extf [[PART]] : vector<8xf32> to vector<8xf64>
// CHECK-NEXT: arith.addf [[ACC]], [[WIDE]] : vector<8xf64>
// CHECK:      arith.truncf [[TOTAL]] : vector<8xf64> to vector<8xf32>
