// RUN: mlc-opt %s --for-target cuda -p hoist-copies | filecheck %s

// What each block of the stream copies alike is copied once, eight elements at a time; what depends on the block stays.
// CHECK: kernel.async_copy %q[%{{.*}}] to %s[
// CHECK-NEXT: kernel.async_group
// CHECK-NEXT: kernel.async_wait {groups = 0 : i64}
// CHECK: scf.for
// CHECK: kernel.read %k[
// CHECK: kernel.write %{{.*}}, %t[
kernel.func @k(%q: memref<64x16xf16>, %k: memref<128x16xf16>) attributes {schedule = #poly.schedule<"rows: S0 | i@1t j@4s i/64v | j/32v | warps=4x1 mma=m16n8k16">} {
  %s = kernel.local : memref<64x16xf16>
  %t = kernel.local : memref<32x16xf16>
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %4 = arith.constant 4 : index
  %512 = arith.constant 512 : index
  scf.for %j = %0 to %4 step %1 {
    %x = kernel.read %q[%0] {strides = array<i64: 16, 1>} : memref<64x16xf16> -> vector<64x16xf16>
    kernel.write %x, %s[%0] {strides = array<i64: 16, 1>} : vector<64x16xf16>, memref<64x16xf16>
    %at = arith.muli %j, %512 : index
    %y = kernel.read %k[%at] {strides = array<i64: 16, 1>} : memref<128x16xf16> -> vector<32x16xf16>
    kernel.write %y, %t[%0] {strides = array<i64: 16, 1>} : vector<32x16xf16>, memref<32x16xf16>
  }
  kernel.return
}
