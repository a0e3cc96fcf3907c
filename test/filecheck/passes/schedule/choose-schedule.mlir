// RUN: mlc-opt %s --for-target x86-64-v3 -p 'lower-kernels,choose-schedule' --verify-diagnostics --split-input-file | filecheck %s

kernel.func @contraction(%x: tensor<?x5xf32, #graph.dims<["batch", "5"]>>, %w: tensor<5x7xf32>, %b: tensor<7xf32>) -> tensor<?x7xf32, #graph.dims<["batch", "7"]>> {
  %0 = graph.contract "mk,kn->mn"(%x, %w) : (tensor<?x5xf32, #graph.dims<["batch", "5"]>>, tensor<5x7xf32>) -> tensor<?x7xf32, #graph.dims<["batch", "7"]>>
  %1 = graph.map "max(x0 + x1, 0)"(%0, %b) : (tensor<?x7xf32, #graph.dims<["batch", "7"]>>, tensor<7xf32>) -> tensor<?x7xf32, #graph.dims<["batch", "7"]>>
  kernel.return %1 : tensor<?x7xf32, #graph.dims<["batch", "7"]>>
}

// CHECK:      kernel.func @contraction{{.*}}schedule = #poly.schedule<"contraction: S0 S1 |

// -----

kernel.func @window(%x: tensor<1x2x9x11x16xf32>) -> tensor<1x2x4x5x16xf32> {
  %0 = graph.compute "x0[i0, i1, 2*i2 + r0, 2*i3 + r1, i4]"(%x) {shape = ["1", "2", "4", "5", "16"], reduce = ["2", "3"], monoid = "max"} : (tensor<1x2x9x11x16xf32>) -> tensor<1x2x4x5x16xf32>
  kernel.return %0 : tensor<1x2x4x5x16xf32>
}

// CHECK:      kernel.func @window{{.*}}schedule = #poly.schedule<"window: S0 |

// -----

kernel.func @long_sum(%x: tensor<8x4x30x30x16xf32>) -> tensor<4x16xf32> {
  %0 = graph.reduce "add"(%x) {axes = array<i64: 0, 2, 3>, keepdims = false} : (tensor<8x4x30x30x16xf32>) -> tensor<4x16xf32>
  kernel.return %0 : tensor<4x16xf32>
}

// CHECK:      kernel.func @long_sum{{.*}}schedule = #poly.schedule<"window: S0 | {{[^|"]*}} | i0 i2/4s i3">

// -----

kernel.func @long_maximum(%x: tensor<8x4x30x30x16xf32>) -> tensor<4x16xf32> {
  %0 = graph.reduce "max"(%x) {axes = array<i64: 0, 2, 3>, keepdims = false} : (tensor<8x4x30x30x16xf32>) -> tensor<4x16xf32>
  kernel.return %0 : tensor<4x16xf32>
}

// CHECK:      kernel.func @long_maximum{{.*}}schedule = #poly.schedule<"window: S0 | {{[^|"]*}} | i0 i2 i3">

// -----

kernel.func @rows(%x: tensor<3x?x7xf32, #graph.dims<["3", "batch", "7"]>>) -> tensor<3x?x7xf32, #graph.dims<["3", "batch", "7"]>> {
  %0 = graph.reduce "max"(%x) {axes = array<i64: 2>, keepdims = true} : (tensor<3x?x7xf32, #graph.dims<["3", "batch", "7"]>>) -> tensor<3x?x1xf32, #graph.dims<["3", "batch", "1"]>>
  %1 = graph.map "exp(x0 - x1)"(%x, %0) : (tensor<3x?x7xf32, #graph.dims<["3", "batch", "7"]>>, tensor<3x?x1xf32, #graph.dims<["3", "batch", "1"]>>) -> tensor<3x?x7xf32, #graph.dims<["3", "batch", "7"]>>
  %2 = graph.reduce "add"(%1) {axes = array<i64: 2>, keepdims = true} : (tensor<3x?x7xf32, #graph.dims<["3", "batch", "7"]>>) -> tensor<3x?x1xf32, #graph.dims<["3", "batch", "1"]>>
  %3 = graph.map "x0 / x1"(%1, %2) : (tensor<3x?x7xf32, #graph.dims<["3", "batch", "7"]>>, tensor<3x?x1xf32, #graph.dims<["3", "batch", "1"]>>) -> tensor<3x?x7xf32, #graph.dims<["3", "batch", "7"]>>
  kernel.return %3 : tensor<3x?x7xf32, #graph.dims<["3", "batch", "7"]>>
}

// CHECK:      kernel.func @rows{{.*}}schedule = #poly.schedule<"rows: S0 S1 S2 S3 | i0 i1 | i2/7v">

// -----

kernel.func @elementwise(%x: tensor<3x35xf32>) -> tensor<3x35xf32> {
  %0 = graph.map "exp(x0)"(%x) : (tensor<3x35xf32>) -> tensor<3x35xf32>
  kernel.return %0 : tensor<3x35xf32>
}

// CHECK:      kernel.func @elementwise{{.*}}schedule = #poly.schedule<"elementwise: S0 | i0 i1/

// -----

kernel.func @fallback(%x: tensor<3x?xf32, #graph.dims<["3", "batch"]>>) -> tensor<3x?xf32, #graph.dims<["3", "2*batch+2"]>> {
  %0 = graph.pad(%x) {low = ["0", "1"], high = ["0", "2"], interior = array<i64: 0, 1>, value = "1.5"} : (tensor<3x?xf32, #graph.dims<["3", "batch"]>>) -> tensor<3x?xf32, #graph.dims<["3", "2*batch+2"]>>
  kernel.return %0 : tensor<3x?xf32, #graph.dims<["3", "2*batch+2"]>>
}

// CHECK:      kernel.func @fallback{{.*}}schedule = #poly.schedule<"fallback: S0 S1 | i0 | i1">

// -----

kernel.func @serial(%x: tensor<3x5xf32>) -> tensor<3x3xf32> {
  %0 = graph.reduce "add"(%x) {axes = array<i64: 1>, keepdims = false} : (tensor<3x5xf32>) -> tensor<3xf32>
  %1 = graph.compute "x0[i1] + x0[i0] * x0[i1]"(%0) {shape = ["3", "3"], reduce = []} : (tensor<3xf32>) -> tensor<3x3xf32>
  kernel.return %1 : tensor<3x3xf32>
}

// CHECK:      kernel.func @serial{{.*}}schedule = #poly.schedule<"serial: S0 

// -----

kernel.func @into_the_middle_of_a_pad(%x: tensor<?x5xf32, #graph.dims<["batch", "5"]>>, %w: tensor<5x7xf32>, %b: tensor<7xf32>) -> tensor<?x7xf32, #graph.dims<["batch+1", "7"]>> {
  %0 = graph.contract "mk,kn->mn"(%x, %w) : (tensor<?x5xf32, #graph.dims<["batch", "5"]>>, tensor<5x7xf32>) -> tensor<?x7xf32, #graph.dims<["batch", "7"]>>
  %1 = graph.map "max(x0 + x1, 0)"(%0, %b) : (tensor<?x7xf32, #graph.dims<["batch", "7"]>>, tensor<7xf32>) -> tensor<?x7xf32, #graph.dims<["batch", "7"]>>
  %2 = graph.pad(%1) {low = ["1", "0"], high = ["0", "0"], interior = array<i64: 0, 0>, value = "0"} : (tensor<?x7xf32, #graph.dims<["batch", "7"]>>) -> tensor<?x7xf32, #graph.dims<["batch+1", "7"]>>
  kernel.return %2 : tensor<?x7xf32, #graph.dims<["batch+1", "7"]>>
}

// CHECK:      kernel.func @into_the_middle_of_a_pad{{.*}}schedule = #poly.schedule<"contraction: S0 S1 | n/7v m/14p | k; elementwise: S2 | i1/7v | ">

// -----

kernel.func @two_ends_in_one_nest(%x: tensor<3x5xf32>) -> tensor<3x9xf32> {
  %0 = graph.pad(%x) {low = ["0", "2"], high = ["0", "2"], interior = array<i64: 0, 0>, value = "0"} : (tensor<3x5xf32>) -> tensor<3x9xf32>
  kernel.return %0 : tensor<3x9xf32>
}

// CHECK:      kernel.func @two_ends_in_one_nest{{.*}}schedule = #poly.schedule<"elementwise: S0 | {{[^;]*}}; elementwise: S1 S2 | {{[^;]*}}">

// -----

// A product that reads nothing twice reads as much of a row at a time as registers hold; where that is contiguous along
// the sum, the lanes are along the sum. A short row is one iteration.

kernel.func @one_row(%x: tensor<8x64xf32>, %y: tensor<8x64x512xf32>) -> tensor<8x512xf32> {
  %0 = graph.contract "bk,bkn->bn"(%x, %y) : (tensor<8x64xf32>, tensor<8x64x512xf32>) -> tensor<8x512xf32>
  kernel.return %0 : tensor<8x512xf32>
}

// CHECK:      kernel.func @one_row{{.*}}schedule = #poly.schedule<"contraction: S0 | b n/64v | k">

kernel.func @dot_products(%x: tensor<8x64xf32>, %y: tensor<8x512x64xf32>) -> tensor<8x512xf32> {
  %0 = graph.contract "bk,bnk->bn"(%x, %y) : (tensor<8x64xf32>, tensor<8x512x64xf32>) -> tensor<8x512xf32>
  kernel.return %0 : tensor<8x512xf32>
}

// CHECK:      kernel.func @dot_products{{.*}}schedule = #poly.schedule<"rows: S0 | b n | k/32v">

// What lanes are for is what differs from term to term: the greatest element of each row, which stands beside it, does not.

kernel.func @place_of_extreme(%x: tensor<9x64xf32>, %y: tensor<9xf32>) -> tensor<9xi64> {
  %0 = graph.compute "where(x0[i0, r0] == x1[i0], r0, 63)"(%x, %y) {shape = ["9"], reduce = ["64"], monoid = "min"} : (tensor<9x64xf32>, tensor<9xf32>) -> tensor<9xi64>
  kernel.return %0 : tensor<9xi64>
}

// CHECK:      kernel.func @place_of_extreme{{.*}}schedule = #poly.schedule<"rows: S0 | i0 | r0/32v">

kernel.func @short_rows(%x: tensor<9x31xf32>) -> tensor<9xf32> {
  %0 = graph.reduce "max"(%x) {axes = array<i64: 1>, keepdims = false} : (tensor<9x31xf32>) -> tensor<9xf32>
  kernel.return %0 : tensor<9xf32>
}

// CHECK:      kernel.func @short_rows{{.*}}schedule = #poly.schedule<"rows: S0 | i0/8v | i1/8v">

kernel.func @few_short_rows(%x: tensor<7x31xf32>) -> tensor<7xf32> {
  %0 = graph.reduce "max"(%x) {axes = array<i64: 1>, keepdims = false} : (tensor<7x31xf32>) -> tensor<7xf32>
  kernel.return %0 : tensor<7xf32>
}

// CHECK:      kernel.func @few_short_rows{{.*}}schedule = #poly.schedule<"rows: S0 | i0 | i1/31v">

kernel.func @sum_with_an_epilogue(%x: tensor<40x12xf32>, %y: tensor<12xf32>, %z: tensor<40xf32>) -> tensor<40xf32> {
  %0 = graph.contract "mk,k->m"(%x, %y) : (tensor<40x12xf32>, tensor<12xf32>) -> tensor<40xf32>
  %1 = graph.map "tanh(x0) - x1"(%0, %z) : (tensor<40xf32>, tensor<40xf32>) -> tensor<40xf32>
  kernel.return %1 : tensor<40xf32>
}

// CHECK:      kernel.func @sum_with_an_epilogue{{.*}}schedule = #poly.schedule<"rows: S0 S1 | m/8v | k/12v">

// -----

// Rows stand outside where the right operand stays in the L2 cache while the result does not.

kernel.func @long_result(%x: tensor<2x1024x64xf32>, %y: tensor<2x64x1024xf32>) -> tensor<2x1024x1024xf32> {
  %0 = graph.contract "bmk,bkn->bmn"(%x, %y) : (tensor<2x1024x64xf32>, tensor<2x64x1024xf32>) -> tensor<2x1024x1024xf32>
  kernel.return %0 : tensor<2x1024x1024xf32>
}

// CHECK:      kernel.func @long_result{{.*}}schedule = #poly.schedule<"contraction: S0 | b m/{{.*}} n/16v | k">

kernel.func @short_result(%x: tensor<2x128x64xf32>, %y: tensor<2x64x128xf32>) -> tensor<2x128x128xf32> {
  %0 = graph.contract "bmk,bkn->bmn"(%x, %y) : (tensor<2x128x64xf32>, tensor<2x64x128xf32>) -> tensor<2x128x128xf32>
  kernel.return %0 : tensor<2x128x128xf32>
}

// CHECK:      kernel.func @short_result{{.*}}schedule = #poly.schedule<"contraction: S0 | b n/16v m/{{.*}} | k">
