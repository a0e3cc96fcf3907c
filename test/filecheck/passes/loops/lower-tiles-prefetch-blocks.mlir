// RUN: mlc-opt %s -p 'lower-kernels,choose-schedule,tile-kernels,lower-tiles' --split-input-file | filecheck %s

// Threads divide all columns f: a thread goes from group to group, and prefetches the next one (64 KiB on), not for the
// next columns, which are another's.

kernel.func @columns(%x: tensor<1x144x16x16xf32>, %w: tensor<576x4x1x16x16xf32>) -> tensor<1x576x16x16xf32> attributes {schedule = #poly.schedule<"contraction: S0 | f@8 g f/2*8 fi/16v y0/8*2 | c ci">} {
  %0 = graph.conv(%x, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 36 : i64, layouts = [#graph.layout<"aBc16b">, #graph.layout<"ABc16b16a">, #graph.layout<"aBc16b">]} : (tensor<1x144x16x16xf32>, tensor<576x4x1x16x16xf32>) -> tensor<1x576x16x16xf32>
  kernel.return %0 : tensor<1x576x16x16xf32>
}

// CHECK:      kernel.func @columns(%{{[0-9]+}}: {{.*}}, %[[W:[0-9]+]]: memref<576x4x1x16x16xf32>,
// CHECK:      arith.constant 16384 : index
// CHECK:      arith.constant 2048 : index
// CHECK:      arith.constant 17408 : index
// CHECK:      kernel.prefetch %[[W]][%{{.*}}] : memref<576x4x1x16x16xf32>

// -----

// Threads divide blocks of 196 rows: weights pass once in a block, so each of its tiles prefetches 14/196 of them,
// which is 4681/65536.

kernel.func @rows(%x: tensor<1x128x784x16xf32>, %w: tensor<128x8x1x16x16xf32>) -> tensor<1x128x784x16xf32> attributes {schedule = #poly.schedule<"contraction: S0 | y0@4 g f/2*4 fi/16v y0/14*56 | c ci">} {
  %0 = graph.conv(%x, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 16 : i64, layouts = [#graph.layout<"aBc16b">, #graph.layout<"ABc16b16a">, #graph.layout<"aBc16b">]} : (tensor<1x128x784x16xf32>, tensor<128x8x1x16x16xf32>) -> tensor<1x128x784x16xf32>
  kernel.return %0 : tensor<1x128x784x16xf32>
}

// CHECK:      kernel.func @rows(%{{[0-9]+}}: {{.*}}, %[[W:[0-9]+]]: memref<128x8x1x16x16xf32>,
// CHECK:      arith.muli %{{[0-9]+}}, %c4681 : index
// CHECK:      arith.floordivsi %{{[0-9]+}}, %c4096 : index
// CHECK:      arith.floordivsi %{{[0-9]+}}, %c14 : index
// CHECK:      kernel.prefetch %[[W]][%{{.*}}] : memref<128x8x1x16x16xf32>

// -----

// 28 tiles in a block: the first of them may wait.

kernel.func @many(%x: tensor<1x128x784x16xf32>, %w: tensor<128x8x1x16x16xf32>) -> tensor<1x128x784x16xf32> attributes {schedule = #poly.schedule<"contraction: S0 | y0@2 g f/2*4 fi/16v y0/14*56 | c ci">} {
  %0 = graph.conv(%x, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 16 : i64, layouts = [#graph.layout<"aBc16b">, #graph.layout<"ABc16b16a">, #graph.layout<"aBc16b">]} : (tensor<1x128x784x16xf32>, tensor<128x8x1x16x16xf32>) -> tensor<1x128x784x16xf32>
  kernel.return %0 : tensor<1x128x784x16xf32>
}

// CHECK:     kernel.func @many(
// CHECK-NOT: kernel.prefetch
