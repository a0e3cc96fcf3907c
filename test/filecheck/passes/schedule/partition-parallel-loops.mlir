// RUN: mlc-opt %s -p form-kernels,lower-kernels,choose-schedule,partition-parallel-loops --split-input-file | filecheck %s
// RUN: mlc-opt %s -p form-kernels,lower-kernels,choose-schedule --split-input-file | filecheck %s --check-prefix BEFORE

// A depthwise convolution between two others: whoever computes rows of one finds the rows it needs of the one before.
// Outermost in the bands are filters; the last has a single tile of them, and so is split by rows as it is.

func.func @chain(%x: tensor<1x2x3136x16xf32>) -> tensor<1x2x2916x16xf32> {
  %w = graph.weight "w" : tensor<4x2x1x16x16xf32>
  %d = graph.weight "d" : tensor<4x1x3x3x16xf32>
  %u = graph.weight "u" : tensor<2x4x1x16x16xf32>
  %0 = graph.conv(%x, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64, layouts = [#graph.layout<"aBc16b">, #graph.layout<"ABc16b16a">, #graph.layout<"aBc16b">]} : (tensor<1x2x3136x16xf32>, tensor<4x2x1x16x16xf32>) -> tensor<1x4x3136x16xf32>
  %1 = graph.reshape(%0) {shape = ["1", "4", "56", "56", "16"]} : (tensor<1x4x3136x16xf32>) -> tensor<1x4x56x56x16xf32>
  %2 = graph.conv(%1, %d) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 64 : i64, layouts = [#graph.layout<"aBcd16b">, #graph.layout<"Abcd16a">, #graph.layout<"aBcd16b">]} : (tensor<1x4x56x56x16xf32>, tensor<4x1x3x3x16xf32>) -> tensor<1x4x54x54x16xf32>
  %3 = graph.reshape(%2) {shape = ["1", "4", "2916", "16"]} : (tensor<1x4x54x54x16xf32>) -> tensor<1x4x2916x16xf32>
  %4 = graph.conv(%3, %u) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64, layouts = [#graph.layout<"aBc16b">, #graph.layout<"ABc16b16a">, #graph.layout<"aBc16b">]} : (tensor<1x4x2916x16xf32>, tensor<2x4x1x16x16xf32>) -> tensor<1x2x2916x16xf32>
  func.return %4 : tensor<1x2x2916x16xf32>
}

// CHECK:      kernel.func @conv_{{.*}}schedule = #poly.schedule<"contraction: S0 | y0@16 f/2*2 fi/16v y0/14*224 | c ci">
// CHECK:      kernel.func @conv_{{.*}}schedule = #poly.schedule<"window: S0 | y0@16 c y0 y1/14*3+12*1 ci/16v | k0 k1">
// CHECK:      kernel.func @conv_{{.*}}schedule = #poly.schedule<"contraction: S0 | f/2*1 fi/16v y0/14*204+12*5 | c ci">
// BEFORE:     kernel.func @conv_{{.*}}schedule = #poly.schedule<"contraction: S0 | f/2*2 fi/16v y0/14*224 | c ci">
// BEFORE:     kernel.func @conv_{{.*}}schedule = #poly.schedule<"window: S0 | c y0 y1/14*3+12*1 ci/16v | k0 k1">
// BEFORE:     kernel.func @conv_{{.*}}schedule = #poly.schedule<"contraction: S0 | f/2*1 fi/16v y0/14*204+12*5 | c ci">

// -----

// Weights that do not stay in the cache are read again in each block of rows: that takes longer than to read what the
// other threads have written.

func.func @read_again(%x: tensor<1x16x196x16xf32>) -> tensor<1x16x196x16xf32> {
  %w = graph.weight "w" : tensor<64x16x1x16x16xf32>
  %u = graph.weight "u" : tensor<16x64x1x16x16xf32>
  %0 = graph.conv(%x, %w) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64, layouts = [#graph.layout<"aBc16b">, #graph.layout<"ABc16b16a">, #graph.layout<"aBc16b">]} : (tensor<1x16x196x16xf32>, tensor<64x16x1x16x16xf32>) -> tensor<1x64x196x16xf32>
  %1 = graph.conv(%0, %u) {strides = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64, layouts = [#graph.layout<"aBc16b">, #graph.layout<"ABc16b16a">, #graph.layout<"aBc16b">]} : (tensor<1x64x196x16xf32>, tensor<16x64x1x16x16xf32>) -> tensor<1x16x196x16xf32>
  func.return %1 : tensor<1x16x196x16xf32>
}

// CHECK:      kernel.func @conv_{{.*}}schedule = #poly.schedule<"contraction: S0 | f/{{[^@]*}}">}
// CHECK:      kernel.func @conv_{{.*}}schedule = #poly.schedule<"contraction: S0 | f/{{[^@]*}}">}
// BEFORE:     kernel.func @conv_

// -----

// Where weights are much larger than the image, each thread reads its own part of them and all of the image.

func.func @large_weights(%x: tensor<1x32x9x9x16xf32>) -> tensor<1x32x5x5x16xf32> {
  %w = graph.weight "w" : tensor<32x32x3x3x16x16xf32>
  %u = graph.weight "u" : tensor<32x32x3x3x16x16xf32>
  %0 = graph.conv(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, layouts = [#graph.layout<"aBcd16b">, #graph.layout<"ABcd16b16a">, #graph.layout<"aBcd16b">]} : (tensor<1x32x9x9x16xf32>, tensor<32x32x3x3x16x16xf32>) -> tensor<1x32x7x7x16xf32>
  %1 = graph.conv(%0, %u) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, layouts = [#graph.layout<"aBcd16b">, #graph.layout<"ABcd16b16a">, #graph.layout<"aBcd16b">]} : (tensor<1x32x7x7x16xf32>, tensor<32x32x3x3x16x16xf32>) -> tensor<1x32x5x5x16xf32>
  func.return %1 : tensor<1x32x5x5x16xf32>
}

// CHECK:      kernel.func @conv_{{.*}}schedule = #poly.schedule<"contraction: S0 | f/{{[^@]*}}">}
// CHECK:      kernel.func @conv_{{.*}}schedule = #poly.schedule<"contraction: S0 | f/{{[^@]*}}">}
// BEFORE:     kernel.func @conv_
