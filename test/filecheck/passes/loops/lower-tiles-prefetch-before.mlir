// RUN: mlc-opt %s --for-target x86-64-v3 -p 'lower-kernels,choose-schedule,tile-kernels,lower-tiles' | filecheck %s
// RUN: mlc-opt %s --for-target x86-64-v3:issue_width=6 -p 'lower-kernels,choose-schedule,tile-kernels,lower-tiles' | filecheck %s --check-prefix WIDE

// A step of 6 rows × 2 vectors has 23 instructions for 6 cycles. A CPU that issues 4 a cycle has no slots for 5 more: the
// lines for 128 steps (6/128 of a step's weights each) are prefetched before their loop, which has only the steps.

kernel.func @large(%a: tensor<128x768xf32>, %b: tensor<48x768x16xf32>) -> tensor<128x768xf32> {
  %0 = graph.contract "mk,kn->mn"(%a, %b) {layouts = [#graph.layout<"ab">, #graph.layout<"Ba16b">, #graph.layout<"ab">]} : (tensor<128x768xf32>, tensor<48x768x16xf32>) -> tensor<128x768xf32>
  kernel.return %0 : tensor<128x768xf32>
}

// CHECK:      kernel.func @large({{.*}}, %[[B:[0-9]+]]: memref<48x768x16xf32>,
// CHECK-SAME: schedule = #poly.schedule<"contraction: S0 | n/16v m/6*20+4*2 | k/128s">
// CHECK:      %[[FIRST:[0-9]+]] = arith.floordivsi {{.*}}, %c4 : index
// CHECK:      %[[LAST:[0-9]+]] = arith.floordivsi {{.*}}, %c4 : index
// CHECK:      scf.for %{{[0-9]+}} = %[[FIRST]] to %[[LAST]] step %c16 {
// CHECK:      kernel.prefetch %[[B]][%{{.*}}] : memref<48x768x16xf32>
// CHECK-NEXT: }
// CHECK:      scf.for {{.*}} iter_args
// CHECK-NOT:  kernel.prefetch
// CHECK:      kernel.read

// WIDE:      kernel.func @large({{.*}}, %[[B:[0-9]+]]: memref<48x768x16xf32>,
// WIDE-NOT:  step %c16
// WIDE:      kernel.prefetch %[[B]][%{{.*}}] : memref<48x768x16xf32>
// WIDE:      kernel.read
