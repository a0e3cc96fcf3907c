// RUN: mlc-opt %s -p 'apply-tuned{text="e57df27925a237c1e5bb309981df6cbd: contraction: S0 | m/3+1 n/16v | k\n0: elementwise: S0 | i |"},apply-schedules{text="own: mine: S0 | m n | k"},lower-kernels,choose-schedule' | filecheck %s
// RUN: mlc-opt %s -p 'apply-tuned{text="e57df27925a237c1e5bb309981df6cbd: contraction: S0 | m/3 n/16v | k"},lower-kernels,choose-schedule,tile-kernels' --verify-diagnostics | filecheck %s --check-prefix STALE

// Kernels with a digest of the text get its schedule, whatever their name; one that the user gives comes before it.

func.func @main() {
  func.return
}
kernel.func @k(%x: tensor<4x5xf32>, %w: tensor<5x16xf32>) -> tensor<4x16xf32> {
  %0 = graph.contract "mk,kn->mn"(%x, %w) {graph.node = ["/a"]} : (tensor<4x5xf32>, tensor<5x16xf32>) -> tensor<4x16xf32>
  kernel.return %0 : tensor<4x16xf32>
}
kernel.func @own(%x: tensor<4x5xf32>, %w: tensor<5x16xf32>) -> tensor<4x16xf32> {
  %0 = graph.contract "mk,kn->mn"(%x, %w) {graph.node = ["/b"]} : (tensor<4x5xf32>, tensor<5x16xf32>) -> tensor<4x16xf32>
  kernel.return %0 : tensor<4x16xf32>
}
kernel.func @other(%x: tensor<4x6xf32>, %w: tensor<6x16xf32>) -> tensor<4x16xf32> {
  %0 = graph.contract "mk,kn->mn"(%x, %w) : (tensor<4x6xf32>, tensor<6x16xf32>) -> tensor<4x16xf32>
  kernel.return %0 : tensor<4x16xf32>
}

// CHECK:      kernel.func @k({{.*}}) attributes {origin = #kernel.origin<tuned, digest = {{.*}}schedule = #poly.schedule<"contraction: S0 | m/3+1 n/16v | k">
// CHECK:      kernel.func @own({{.*}}) attributes {origin = #kernel.origin<line = 1{{.*}}schedule = #poly.schedule<"mine: S0 | m n | k">
// CHECK:      kernel.func @other(
// CHECK-NOT:  tuned

// STALE:      A tuned schedule: schedule item m/3 does not cover an extent of 4 (stage 'schedule'). Delete the tuned schedules ('mlc cache clear --tuned'), or ignore them (--no-tuned).
