// RUN: mlc-opt %s --for-target x86-64-v3 -p 'lower-kernels,choose-schedule' --split-input-file | filecheck %s

// 1500 rows of 384 are 2.2 MiB: each of 96 panels would read them from L3 again. Blocks of rows stay in L2, and the
// panels are read nine times.

kernel.func @long(%a: tensor<1500x384xf32>, %b: tensor<96x384x16xf32>) -> tensor<1500x1536xf32> {
  %0 = graph.contract "mk,kn->mn"(%a, %b) {layouts = [#graph.layout<"ab">, #graph.layout<"Ba16b">, #graph.layout<"ab">]} : (tensor<1500x384xf32>, tensor<96x384x16xf32>) -> tensor<1500x1536xf32>
  kernel.return %0 : tensor<1500x1536xf32>
}

// CHECK:      kernel.func @long(
// CHECK-SAME: schedule = #poly.schedule<"contraction: S0 | m@9t n/16v m/6*27+5*1 | k/128s">

// -----

// 393 KiB of rows fit.

kernel.func @short(%a: tensor<128x768xf32>, %b: tensor<192x768x16xf32>) -> tensor<128x3072xf32> {
  %0 = graph.contract "mk,kn->mn"(%a, %b) {layouts = [#graph.layout<"ab">, #graph.layout<"Ba16b">, #graph.layout<"ab">]} : (tensor<128x768xf32>, tensor<192x768x16xf32>) -> tensor<128x3072xf32>
  kernel.return %0 : tensor<128x3072xf32>
}

// CHECK:      kernel.func @short(
// CHECK-SAME: schedule = #poly.schedule<"contraction: S0 | n/16v m/6*20+4*2 | k/128s">

// -----

// Few panels: nine reads of them would be more than those of the rows.

kernel.func @narrow(%a: tensor<128x3072xf32>, %b: tensor<48x3072x16xf32>) -> tensor<128x768xf32> {
  %0 = graph.contract "mk,kn->mn"(%a, %b) {layouts = [#graph.layout<"ab">, #graph.layout<"Ba16b">, #graph.layout<"ab">]} : (tensor<128x3072xf32>, tensor<48x3072x16xf32>) -> tensor<128x768xf32>
  kernel.return %0 : tensor<128x768xf32>
}

// CHECK:      kernel.func @narrow(
// CHECK-SAME: schedule = #poly.schedule<"contraction: S0 | n/16v m/6*20+4*2 | k/128s">

// -----

// 591 KiB exceed L2, but the panels read three times would be a sixth of the rows read for each of 192 panels.

kernel.func @vit(%a: tensor<197x768xf32>, %b: tensor<192x768x16xf32>) -> tensor<197x3072xf32> {
  %0 = graph.contract "mk,kn->mn"(%a, %b) {layouts = [#graph.layout<"ab">, #graph.layout<"Ba16b">, #graph.layout<"ab">]} : (tensor<197x768xf32>, tensor<192x768x16xf32>) -> tensor<197x3072xf32>
  kernel.return %0 : tensor<197x3072xf32>
}

// CHECK:      kernel.func @vit(
// CHECK-SAME: schedule = #poly.schedule<"contraction: S0 | n/16v m/6*32+5*1 | k/128s">
