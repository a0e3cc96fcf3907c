// RUN: mlc-opt %s --for-target cuda -p order-blocks | filecheck %s

// The last rows have the most blocks of keys, so they begin first.
// CHECK-LABEL: @causal
// CHECK:      %[[LAST:.*]] = arith.constant 15 : index
// CHECK-NEXT: %[[ROW:.*]] = arith.subi %[[LAST]], %i : index
// CHECK-NEXT: %[[ENDS:.*]] = arith.addi %[[ROW]], %1 : index
// CHECK:      kernel.write %{{.*}}, %q[%[[ROW]]]
kernel.func @causal(%q: memref<16xf32>) attributes {schedule = #poly.schedule<"rows: S0 | i@1t j@4s i/64v | j/32v">} {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %12 = arith.constant 12 : index
  %16 = arith.constant 16 : index
  "scf.parallel"(%0, %0, %16, %12, %1, %1) <{operandSegmentSizes = array<i32: 2, 2, 2, 0>}> ({
  ^bb0(%i: index, %b: index):
    %ends = arith.addi %i, %1 : index
    scf.for %j = %0 to %ends step %1 {
      %x = kernel.read %q[%j] {strides = array<i64>} : memref<16xf32> -> f32
      kernel.write %x, %q[%i] {strides = array<i64>} : f32, memref<16xf32>
    }
    scf.reduce
  }) : (index, index, index, index, index, index) -> ()
  kernel.return
}

// Blocks with as many iterations each keep their order.
// CHECK-LABEL: @equal
// CHECK-NOT: arith.subi
kernel.func @equal(%q: memref<16xf32>) attributes {schedule = #poly.schedule<"rows: S0 | i@1t j@4s i/64v | j/32v">} {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %16 = arith.constant 16 : index
  "scf.parallel"(%0, %16, %1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    %ends = arith.addi %i, %16 : index
    scf.for %j = %i to %ends step %1 {
      %x = kernel.read %q[%j] {strides = array<i64>} : memref<16xf32> -> f32
      kernel.write %x, %q[%i] {strides = array<i64>} : f32, memref<16xf32>
    }
    scf.reduce
  }) : (index, index, index) -> ()
  kernel.return
}
