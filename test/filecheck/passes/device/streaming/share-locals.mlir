// RUN: mlc-opt %s --for-target cuda -p share-locals,insert-block-barriers --split-input-file | filecheck %s

// The second loop uses the array of the first, after a barrier. One of another type stays, and so does a second one.
// CHECK-LABEL: kernel.func @k
// CHECK-NEXT:  %s = kernel.local : memref<32xf16>
// CHECK-NEXT:  %u = kernel.local : memref<32xf16>
// CHECK-NEXT:  %v = kernel.local : memref<16xf16>
// CHECK-NOT:   kernel.local
// CHECK:       "scf.parallel"
// CHECK:         kernel.write %{{.*}}, %s
// CHECK-NEXT:    kernel.barrier
// CHECK-NEXT:    kernel.read %s
// CHECK:       "scf.parallel"
// CHECK:         kernel.barrier
// CHECK-NEXT:    kernel.write %{{.*}}, %s
// CHECK:         kernel.write %{{.*}}, %u
// CHECK:         kernel.write %{{.*}}, %v
kernel.func @k(%x: memref<64x32xf16>, %y: memref<64x32xf16>) attributes {schedule = #poly.schedule<"contraction: S0 | i@1t j@4s i/64v | j/32v | warps=4x1 mma=m16n8k16">} {
  %s = kernel.local : memref<32xf16>
  %t = kernel.local : memref<32xf16>
  %u = kernel.local : memref<32xf16>
  %v = kernel.local : memref<16xf16>
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %8 = arith.constant 8 : index
  %16 = arith.constant 16 : index
  "scf.parallel"(%0, %8, %1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    %a = kernel.read %x[%i] {strides = array<i64: 1>} : memref<64x32xf16> -> vector<32xf16>
    kernel.write %a, %s[%0] {strides = array<i64: 1>} : vector<32xf16>, memref<32xf16>
    %b = kernel.read %s[%1] {strides = array<i64: 1>} : memref<32xf16> -> vector<16xf16>
    kernel.write %b, %y[%i] {strides = array<i64: 1>} : vector<16xf16>, memref<64x32xf16>
    scf.reduce
  }) : (index, index, index) -> ()
  "scf.parallel"(%8, %16, %1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    %a = kernel.read %x[%i] {strides = array<i64: 1>} : memref<64x32xf16> -> vector<32xf16>
    %c = kernel.read %x[%1] {strides = array<i64: 1>} : memref<64x32xf16> -> vector<16xf16>
    kernel.write %a, %t[%0] {strides = array<i64: 1>} : vector<32xf16>, memref<32xf16>
    kernel.write %a, %u[%0] {strides = array<i64: 1>} : vector<32xf16>, memref<32xf16>
    kernel.write %c, %v[%0] {strides = array<i64: 1>} : vector<16xf16>, memref<16xf16>
    %b = kernel.read %t[%1] {strides = array<i64: 1>} : memref<32xf16> -> vector<16xf16>
    %d = kernel.read %u[%1] {strides = array<i64: 1>} : memref<32xf16> -> vector<16xf16>
    %e = kernel.read %v[%1] {strides = array<i64: 1>} : memref<16xf16> -> vector<1xf16>
    kernel.write %b, %y[%i] {strides = array<i64: 1>} : vector<16xf16>, memref<64x32xf16>
    kernel.write %d, %y[%i] {strides = array<i64: 1>} : vector<16xf16>, memref<64x32xf16>
    kernel.write %e, %y[%i] {strides = array<i64: 1>} : vector<1xf16>, memref<64x32xf16>
    scf.reduce
  }) : (index, index, index) -> ()
  kernel.return
}
