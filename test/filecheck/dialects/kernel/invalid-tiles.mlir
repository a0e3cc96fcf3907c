// RUN: mlc-opt %s --verify-diagnostics --split-input-file | filecheck %s

// Reads, writes and gathers of register tiles whose strides or buffers do not fit.

kernel.func @one_stride_for_two_dimensions(%a: memref<3x5xf32>, %n: index, %v: vector<3x5xf32>) {
  kernel.write %v, %a[%n] {strides = array<i64: 1>} : vector<3x5xf32>, memref<3x5xf32>
  kernel.return
}

// CHECK:      kernel.write: 1 strides for a tile of rank 2

// -----

kernel.func @stride_of_an_element(%a: memref<3x5xf32>, %n: index) {
  %0 = kernel.read %a[%n] {strides = array<i64: 5>} : memref<3x5xf32> -> f32
  kernel.return
}

// CHECK:      kernel.read: 1 strides for a tile of rank 0

// -----

kernel.func @value_of_a_known_stride(%a: memref<3x5xf32>, %n: index) {
  %0 = kernel.read %a[%n] strides(%n) {strides = array<i64: 5, 1>} : memref<3x5xf32> -> vector<3x5xf32>
  kernel.return
}

// CHECK:      kernel.read: one operand in strides(…) for each stride known at run time only

// -----

kernel.func @gather_from_a_tensor(%a: tensor<3x5xf32>, %n: i64) {
  %0 = kernel.gather %a[%n] : tensor<3x5xf32>, i64 -> f32
  kernel.return
}

// CHECK:      tensor<3x5xf32> should be of base attribute memref

// -----

kernel.func @local_tensor() {
  %0 = kernel.local : tensor<2x7xf32>
  kernel.return
}

// CHECK:      tensor<2x7xf32> should be of base attribute memref

// -----

kernel.func @lanewise_of_nothing(%v: vector<2xf32>) {
  %0 = kernel.lanewise "arith.cmpf"(%v, %v) : (vector<2xf32>, vector<2xf32>) -> vector<2xi1>
  kernel.return
}

// CHECK:      property 'of' expected in operation 'kernel.lanewise'

// -----

kernel.func @an_offset_for_each_lane(%a: memref<15xf32>, %n: i64) {
  %0 = kernel.gather %a[%n] {lane_offsets = array<i64: 0, 1, 2>} : memref<15xf32>, i64 -> vector<4xf32>
  kernel.return
}

// CHECK:      kernel.gather: 3 lane_offsets for a result of vector<4xf32>

// -----

kernel.func @odd_elements_of_stride_three(%a: memref<3x5xf32>, %n: index) {
  %0 = kernel.read %a[%n] {strides = array<i64: 5, 3>, odd} : memref<3x5xf32> -> vector<3x5xf32>
  kernel.return
}

// CHECK:      kernel.read: odd elements of a whole tile whose last stride is 2

// -----

kernel.func @a_row_slides_over_a_row(%a: vector<3x5xf32>) {
  %0 = kernel.slide %a, %a : vector<3x5xf32>, vector<3x5xf32> -> vector<3x5xf32>
  kernel.return
}

// CHECK:      kernel.slide: vector<3x5xf32> needs one element for each row from vector<3x1xf32>, not vector<3x5xf32>

// -----

kernel.func @a_reduction_keeps_its_rows(%a: vector<3x5xf32>) {
  %0 = kernel.multi_reduction %a {kind = #vector.kind<add>} : vector<3x5xf32> -> vector<5xf32>
  kernel.return
}

// CHECK:      kernel.multi_reduction: vector<3x5xf32> has no reduction to vector<5xf32> along its last dimension
