// RUN: mlc-opt %s -p 'lower-kernels,choose-schedule,tile-kernels,lower-tiles' --split-input-file | filecheck %s

// Each step of a tile of 14 rows asks for 14/128 of a step's weights of the next 32 columns; tiles of rows go on where the
// one before ended.

kernel.func @large(%a: tensor<128x768xf32>, %b: tensor<24x768x32xf32>) -> tensor<128x768xf32> {
  %0 = graph.contract "mk,kn->mn"(%a, %b) {layouts = [#graph.layout<"ab">, #graph.layout<"Ba32b">, #graph.layout<"ab">]} : (tensor<128x768xf32>, tensor<24x768x32xf32>) -> tensor<128x768xf32>
  kernel.return %0 : tensor<128x768xf32>
}

// CHECK:      kernel.func @large({{.*}}, %[[B:[0-9]+]]: memref<24x768x32xf32>,
// CHECK-SAME: schedule = #poly.schedule<"contraction: S0 | n/32v m/14*7+10*3 | k/128s">
// CHECK:      arith.muli {{.*}}, %c7 : index
// CHECK:      arith.floordivsi {{.*}}, %c2 : index
// CHECK:      kernel.prefetch %[[B]][%{{.*}}] : memref<24x768x32xf32>
// CHECK:      kernel.read

// -----

// A step divides by powers of two alone: 14/197 of a step's weights are 4657/65536.

kernel.func @uneven_rows(%a: tensor<197x768xf32>, %b: tensor<24x768x32xf32>) -> tensor<197x768xf32> {
  %0 = graph.contract "mk,kn->mn"(%a, %b) {layouts = [#graph.layout<"ab">, #graph.layout<"Ba32b">, #graph.layout<"ab">]} : (tensor<197x768xf32>, tensor<24x768x32xf32>) -> tensor<197x768xf32>
  kernel.return %0 : tensor<197x768xf32>
}

// CHECK:      kernel.func @uneven_rows({{.*}}, %[[B:[0-9]+]]: memref<24x768x32xf32>,
// CHECK-NOT:  arith.floordivsi {{.*}}, %c197 : index
// CHECK:      arith.muli {{.*}}, %c4657 : index
// CHECK:      arith.floordivsi {{.*}}, %c2048 : index
// CHECK:      kernel.prefetch %[[B]][%{{.*}}] : memref<24x768x32xf32>

// -----

// Weights that the cache holds are not prefetched.

kernel.func @small(%a: tensor<56x128xf32>, %b: tensor<4x128x32xf32>) -> tensor<56x128xf32> {
  %0 = graph.contract "mk,kn->mn"(%a, %b) {layouts = [#graph.layout<"ab">, #graph.layout<"Ba32b">, #graph.layout<"ab">]} : (tensor<56x128xf32>, tensor<4x128x32xf32>) -> tensor<56x128xf32>
  kernel.return %0 : tensor<56x128xf32>
}

// CHECK:     kernel.func @small(
// CHECK-NOT: kernel.prefetch

// -----

// One tile of rows reads all weights once anyway.

kernel.func @few_rows(%a: tensor<14x768xf32>, %b: tensor<24x768x32xf32>) -> tensor<14x768xf32> {
  %0 = graph.contract "mk,kn->mn"(%a, %b) {layouts = [#graph.layout<"ab">, #graph.layout<"Ba32b">, #graph.layout<"ab">]} : (tensor<14x768xf32>, tensor<24x768x32xf32>) -> tensor<14x768xf32>
  kernel.return %0 : tensor<14x768xf32>
}

// CHECK:     kernel.func @few_rows(
// CHECK-NOT: kernel.prefetch

// -----

// Where the number of rows is symbolic, the divisions by it are before the loops.

kernel.func @any_rows(%a: tensor<?x768xf32, #graph.dims<["rows", "768"]>>, %b: tensor<24x768x32xf32>) -> tensor<?x768xf32, #graph.dims<["rows", "768"]>> {
  %0 = graph.contract "mk,kn->mn"(%a, %b) {layouts = [#graph.layout<"ab">, #graph.layout<"Ba32b">, #graph.layout<"ab">]} : (tensor<?x768xf32, #graph.dims<["rows", "768"]>>, tensor<24x768x32xf32>) -> tensor<?x768xf32, #graph.dims<["rows", "768"]>>
  kernel.return %0 : tensor<?x768xf32, #graph.dims<["rows", "768"]>>
}

// CHECK:      kernel.func @any_rows({{.*}}, %[[B:[0-9]+]]: memref<24x768x32xf32>,
// CHECK-SAME: schedule = #poly.schedule<"contraction: S0 | n/32v m/8p | k/128s">
// CHECK:      %[[ROWS:[0-9]+]] = kernel.symbol "rows"
// CHECK:      arith.floordivsi %{{[0-9a-z]+}}, %[[ROWS]] :
// CHECK:      arith.floordivsi %{{[0-9a-z]+}}, %[[ROWS]] :
// CHECK:      iter_args
// CHECK:      iter_args
// CHECK-NOT:  arith.floordivsi %{{[0-9a-z]+}}, %[[ROWS]] :
// CHECK:      kernel.prefetch %[[B]][%{{.*}}] : memref<24x768x32xf32>
