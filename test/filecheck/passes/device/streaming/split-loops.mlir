// RUN: mlc-opt %s --for-target cuda -p split-loops | filecheck %s

// Below the diagonal the loop has no selection: rows of block i are 32·i and up, keys of block j are 64·j to 64·j + 63.
// CHECK-LABEL: @causal
// CHECK:      %x = vector.broadcast %zero
// CHECK-NEXT: arith.constant 0 : index
// CHECK-NEXT: %[[ONE:.*]] = arith.constant 1 : index
// CHECK-NEXT: %[[REST:.*]] = arith.addi %row, %[[ONE]] : index
// CHECK-NEXT: %[[KEYS:.*]] = arith.constant 64 : index
// CHECK-NEXT: %[[LAST:.*]] = arith.floordivsi %[[REST]], %[[KEYS]] : index
// CHECK-NEXT: %[[MOST:.*]] = arith.minsi %ends, %[[LAST]] : index
// CHECK-NEXT: %[[FULL:.*]] = arith.maxsi %{{.*}}, %[[MOST]] : index
// CHECK-NEXT: %[[WHOLE:.*]] = scf.for %{{.*}} = %{{.*}} to %[[FULL]] step %1 iter_args(%[[A:.*]] = %x)
// CHECK-NEXT:   arith.addf %[[A]], %[[A]]
// CHECK-NEXT:   scf.yield
// CHECK:      scf.for %{{.*}} = %[[FULL]] to %ends step %1 iter_args(%{{.*}} = %[[WHOLE]])
// CHECK:        kernel.lanewise "arith.select"
// CHECK-NOT:  scf.for
kernel.func @causal(%q: memref<512xf32>) attributes {schedule = #poly.schedule<"rows: S0 | i@1t j@4s i/64v | j/32v">} {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %16 = arith.constant 16 : index
  %32 = arith.constant 32 : index
  %64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  "scf.parallel"(%0, %16, %1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    %row = arith.muli %i, %32 : index
    %ends = arith.addi %i, %1 : index
    %x = vector.broadcast %zero : f32 to vector<32x64xf32>
    %y = scf.for %j = %0 to %ends step %1 iter_args(%a = %x) -> (vector<32x64xf32>) {
      %key = arith.muli %j, %64 : index
      %c = arith.index_cast %key : index to i64
      %cs = vector.broadcast %c : i64 to vector<32x64xi64>
      %column = kernel.step : vector<1x64xi64>
      %columns = vector.broadcast %column : vector<1x64xi64> to vector<32x64xi64>
      %less = arith.addi %cs, %columns : vector<32x64xi64>
      %r = arith.index_cast %row : index to i64
      %rs = vector.broadcast %r : i64 to vector<32x64xi64>
      %line = kernel.step : vector<32x1xi64>
      %lines = vector.broadcast %line : vector<32x1xi64> to vector<32x64xi64>
      %more = arith.addi %rs, %lines : vector<32x64xi64>
      %in = kernel.lanewise "arith.cmpi"(%less, %more) {of = {predicate = 3 : i64}} : (vector<32x64xi64>, vector<32x64xi64>) -> vector<32x64xi1>
      %v = arith.addf %a, %a : vector<32x64xf32>
      %s = kernel.lanewise "arith.select"(%in, %v, %x) {of = {}} : (vector<32x64xi1>, vector<32x64xf32>, vector<32x64xf32>) -> vector<32x64xf32>
      scf.yield %s : vector<32x64xf32>
    }
    kernel.write %y, %q[%0] {strides = array<i64: 0, 1>} : vector<32x64xf32>, memref<512xf32>
    scf.reduce
  }) : (index, index, index) -> ()
  kernel.return
}

// A condition that does not depend on the block of keys splits nothing.
// CHECK-LABEL: @other
// CHECK:      scf.for
// CHECK:        kernel.lanewise "arith.select"
// CHECK-NOT:  scf.for
kernel.func @other(%q: memref<512xf32>) attributes {schedule = #poly.schedule<"rows: S0 | i@1t j@4s i/64v | j/32v">} {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  "scf.parallel"(%0, %16, %1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    %x = vector.broadcast %zero : f32 to vector<64xf32>
    %y = scf.for %j = %0 to %16 step %1 iter_args(%a = %x) -> (vector<64xf32>) {
      %r = arith.index_cast %i : index to i64
      %rs = vector.broadcast %r : i64 to vector<64xi64>
      %column = kernel.step : vector<64xi64>
      %in = kernel.lanewise "arith.cmpi"(%column, %rs) {of = {predicate = 3 : i64}} : (vector<64xi64>, vector<64xi64>) -> vector<64xi1>
      %v = arith.addf %a, %a : vector<64xf32>
      %s = kernel.lanewise "arith.select"(%in, %v, %x) {of = {}} : (vector<64xi1>, vector<64xf32>, vector<64xf32>) -> vector<64xf32>
      scf.yield %s : vector<64xf32>
    }
    kernel.write %y, %q[%0] {strides = array<i64: 1>} : vector<64xf32>, memref<512xf32>
    scf.reduce
  }) : (index, index, index) -> ()
  kernel.return
}

// A block that has all its points reads them without a limit; %n is their number.
// CHECK-LABEL: @ends
// CHECK:      scf.for
// CHECK:        kernel.read %q[%{{.*}}] {strides = array<i64: 1>} : memref<?xf32, {{.*}}> -> vector<64xf32>
// CHECK-NOT:    kernel.lanewise "arith.select"
// CHECK:      scf.for
// CHECK:        kernel.read %q[%{{.*}}] valid(%{{.*}}) {strides = array<i64: 1>, valid_axes = array<i64: 0>}
// CHECK:        kernel.lanewise "arith.select"
kernel.func @ends(%q: memref<?xf32, #graph.dims<["n"]>>, %r: memref<64xf32>) attributes {schedule = #poly.schedule<"rows: S0 | i@1t j@64ps i | j/64v">} {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %n = kernel.symbol "n"
  "scf.parallel"(%0, %1, %1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    %x = vector.broadcast %zero : f32 to vector<64xf32>
    %more = arith.addi %n, %64 : index
    %ends = arith.floordivsi %more, %64 : index
    %y = scf.for %j = %0 to %ends step %1 iter_args(%a = %x) -> (vector<64xf32>) {
      %first = arith.muli %j, %64 : index
      %left = arith.subi %n, %first : index
      %v = kernel.read %q[%first] valid(%left) {strides = array<i64: 1>, valid_axes = array<i64: 0>} : memref<?xf32, #graph.dims<["n"]>> -> vector<64xf32>
      %lane = kernel.step : vector<64xi64>
      %l = arith.index_cast %left : index to i64
      %ls = vector.broadcast %l : i64 to vector<64xi64>
      %in = kernel.lanewise "arith.cmpi"(%lane, %ls) {of = {predicate = 2 : i64}} : (vector<64xi64>, vector<64xi64>) -> vector<64xi1>
      %each = vector.broadcast %in : vector<64xi1> to vector<64xi1>
      %s = kernel.lanewise "arith.select"(%each, %v, %x) {of = {}} : (vector<64xi1>, vector<64xf32>, vector<64xf32>) -> vector<64xf32>
      %t = arith.addf %a, %s : vector<64xf32>
      scf.yield %t : vector<64xf32>
    }
    kernel.write %y, %r[%0] {strides = array<i64: 1>} : vector<64xf32>, memref<64xf32>
    scf.reduce
  }) : (index, index, index) -> ()
  kernel.return
}
