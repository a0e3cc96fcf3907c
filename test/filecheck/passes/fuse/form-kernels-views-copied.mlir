// RUN: mlc-opt %s -p form-kernels --split-input-file | filecheck %s

// Of a concatenation's parts one kernel writes each, in one location: what is there twice, is an input, or is a result
// itself is copied.
func.func @twice(%x: tensor<2x5xf32>) -> tensor<4x5xf32> {
  %0 = graph.map "exp(x0)"(%x) : (tensor<2x5xf32>) -> tensor<2x5xf32>
  %1 = graph.concat(%0, %0) {axis = 0 : i64} : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<4x5xf32>
  func.return %1 : tensor<4x5xf32>
}

// CHECK:      func.func @twice(%x: tensor<2x5xf32>) -> tensor<4x5xf32> {
// CHECK-NEXT: %0 = kernel.call @map_0(%x) : (tensor<2x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: %1 = kernel.call @concat_1(%0) : (tensor<2x5xf32>) -> tensor<4x5xf32>
// CHECK-NEXT: func.return %1 : tensor<4x5xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @map_0(%x: tensor<2x5xf32>) -> tensor<2x5xf32> {
// CHECK-NEXT: %0 = graph.map "exp(x0)"(%x) : (tensor<2x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: kernel.return %0 : tensor<2x5xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @concat_1(%0: tensor<2x5xf32>) -> tensor<4x5xf32> {
// CHECK-NEXT: %1 = graph.concat(%0, %0) {axis = 0 : i64} : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<4x5xf32>
// CHECK-NEXT: kernel.return %1 : tensor<4x5xf32>

// -----

func.func @input_and_result(%x: tensor<2x5xf32>) -> (tensor<4x5xf32>, tensor<2x5xf32>, tensor<4x5xf32>) {
  %0 = graph.map "exp(x0)"(%x) : (tensor<2x5xf32>) -> tensor<2x5xf32>
  %1 = graph.concat(%x, %0) {axis = 0 : i64} : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<4x5xf32>
  %2 = graph.map "tanh(x0)"(%x) : (tensor<2x5xf32>) -> tensor<2x5xf32>
  %3 = graph.map "sin(x0)"(%x) : (tensor<2x5xf32>) -> tensor<2x5xf32>
  %4 = graph.concat(%3, %2) {axis = 0 : i64} : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<4x5xf32>
  func.return %1, %2, %4 : tensor<4x5xf32>, tensor<2x5xf32>, tensor<4x5xf32>
}

// CHECK:      func.func @input_and_result(%x: tensor<2x5xf32>) -> (tensor<4x5xf32>, tensor<2x5xf32>, tensor<4x5xf32>) {
// CHECK-NEXT: %0 = kernel.call @map_0(%x) : (tensor<2x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: %1 = kernel.call @concat_1(%x, %0) : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<4x5xf32>
// CHECK-NEXT: %2 = kernel.call @map_2(%x) : (tensor<2x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: %3 = kernel.call @map_3(%x) : (tensor<2x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: %4 = kernel.call @concat_4(%3, %2) : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<4x5xf32>
// CHECK-NEXT: func.return %1, %2, %4 : tensor<4x5xf32>, tensor<2x5xf32>, tensor<4x5xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @map_0(%x: tensor<2x5xf32>) -> tensor<2x5xf32> {
// CHECK-NEXT: %0 = graph.map "exp(x0)"(%x) : (tensor<2x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: kernel.return %0 : tensor<2x5xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @concat_1(%x: tensor<2x5xf32>, %0: tensor<2x5xf32>) -> tensor<4x5xf32> {
// CHECK-NEXT: %1 = graph.concat(%x, %0) {axis = 0 : i64} : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<4x5xf32>
// CHECK-NEXT: kernel.return %1 : tensor<4x5xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @map_2(%x: tensor<2x5xf32>) -> tensor<2x5xf32> {
// CHECK-NEXT: %0 = graph.map "tanh(x0)"(%x) : (tensor<2x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: kernel.return %0 : tensor<2x5xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @map_3(%x: tensor<2x5xf32>) -> tensor<2x5xf32> {
// CHECK-NEXT: %0 = graph.map "sin(x0)"(%x) : (tensor<2x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: kernel.return %0 : tensor<2x5xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @concat_4(%0: tensor<2x5xf32>, %1: tensor<2x5xf32>) -> tensor<4x5xf32> {
// CHECK-NEXT: %2 = graph.concat(%0, %1) {axis = 0 : i64} : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<4x5xf32>
// CHECK-NEXT: kernel.return %2 : tensor<4x5xf32>

// -----

// A part of two concatenations is in one of them.
func.func @of_two(%x: tensor<2x5xf32>) -> (tensor<4x5xf32>, tensor<4x5xf32>) {
  %0 = graph.map "exp(x0)"(%x) : (tensor<2x5xf32>) -> tensor<2x5xf32>
  %1 = graph.contract "mk,nk->mn"(%x, %x) : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x2xf32>
  %2 = graph.contract "mn,nk->mk"(%1, %x) : (tensor<2x2xf32>, tensor<2x5xf32>) -> tensor<2x5xf32>
  %3 = graph.contract "nm,nk->mk"(%1, %x) : (tensor<2x2xf32>, tensor<2x5xf32>) -> tensor<2x5xf32>
  %4 = graph.concat(%0, %2) {axis = 0 : i64} : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<4x5xf32>
  %5 = graph.concat(%0, %3) {axis = 0 : i64} : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<4x5xf32>
  func.return %4, %5 : tensor<4x5xf32>, tensor<4x5xf32>
}

// CHECK:      func.func @of_two(%x: tensor<2x5xf32>) -> (tensor<4x5xf32>, tensor<4x5xf32>) {
// CHECK-NEXT: %0 = kernel.call @map_0(%x) : (tensor<2x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: %1 = kernel.call @contract_1(%x) : (tensor<2x5xf32>) -> tensor<2x2xf32>
// CHECK-NEXT: %2 = kernel.call @contract_2(%1, %x) : (tensor<2x2xf32>, tensor<2x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: %3 = kernel.call @contract_3(%1, %x) : (tensor<2x2xf32>, tensor<2x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: %4 = graph.concat(%0, %2) {axis = 0 : i64} : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<4x5xf32>
// CHECK-NEXT: %5 = kernel.call @concat_5(%0, %3) : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<4x5xf32>
// CHECK-NEXT: func.return %4, %5 : tensor<4x5xf32>, tensor<4x5xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @map_0(%x: tensor<2x5xf32>) -> tensor<2x5xf32> {
// CHECK-NEXT: %0 = graph.map "exp(x0)"(%x) : (tensor<2x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: kernel.return %0 : tensor<2x5xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @contract_1(%x: tensor<2x5xf32>) -> tensor<2x2xf32> {
// CHECK-NEXT: %0 = graph.contract "mk,nk->mn"(%x, %x) : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x2xf32>
// CHECK-NEXT: kernel.return %0 : tensor<2x2xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @contract_2(%0: tensor<2x2xf32>, %x: tensor<2x5xf32>) -> tensor<2x5xf32> {
// CHECK-NEXT: %1 = graph.contract "mn,nk->mk"(%0, %x) : (tensor<2x2xf32>, tensor<2x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: kernel.return %1 : tensor<2x5xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @contract_3(%0: tensor<2x2xf32>, %x: tensor<2x5xf32>) -> tensor<2x5xf32> {
// CHECK-NEXT: %1 = graph.contract "nm,nk->mk"(%0, %x) : (tensor<2x2xf32>, tensor<2x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: kernel.return %1 : tensor<2x5xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @concat_5(%0: tensor<2x5xf32>, %1: tensor<2x5xf32>) -> tensor<4x5xf32> {
// CHECK-NEXT: %2 = graph.concat(%0, %1) {axis = 0 : i64} : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<4x5xf32>
// CHECK-NEXT: kernel.return %2 : tensor<4x5xf32>

// -----

// Every second row, rows of some columns, and an inner axis are no runs of memory.
func.func @slices(%x: tensor<6x4x5xf32>) -> (tensor<3x4x5xf32>, tensor<6x2x5xf32>, tensor<2x1x5xf32>) {
  %0 = graph.slice(%x) {starts = ["0", "0", "0"], sizes = ["3", "4", "5"], steps = array<i64: 2, 1, 1>} : (tensor<6x4x5xf32>) -> tensor<3x4x5xf32>
  %1 = graph.slice(%x) {starts = ["0", "1", "0"], sizes = ["6", "2", "5"], steps = array<i64: 1, 1, 1>} : (tensor<6x4x5xf32>) -> tensor<6x2x5xf32>
  %2 = graph.slice(%x) {starts = ["1", "2", "0"], sizes = ["2", "1", "5"], steps = array<i64: 1, 1, 1>} : (tensor<6x4x5xf32>) -> tensor<2x1x5xf32>
  func.return %0, %1, %2 : tensor<3x4x5xf32>, tensor<6x2x5xf32>, tensor<2x1x5xf32>
}

// CHECK:      func.func @slices(%x: tensor<6x4x5xf32>) -> (tensor<3x4x5xf32>, tensor<6x2x5xf32>, tensor<2x1x5xf32>) {
// CHECK-NEXT: %0 = kernel.call @slice_0(%x) : (tensor<6x4x5xf32>) -> tensor<3x4x5xf32>
// CHECK-NEXT: %1 = kernel.call @slice_1(%x) : (tensor<6x4x5xf32>) -> tensor<6x2x5xf32>
// CHECK-NEXT: %2 = kernel.call @slice_2(%x) : (tensor<6x4x5xf32>) -> tensor<2x1x5xf32>
// CHECK-NEXT: func.return %0, %1, %2 : tensor<3x4x5xf32>, tensor<6x2x5xf32>, tensor<2x1x5xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @slice_0(%x: tensor<6x4x5xf32>) -> tensor<3x4x5xf32> {
// CHECK-NEXT: %0 = graph.slice(%x) {starts = ["0", "0", "0"], sizes = ["3", "4", "5"], steps = array<i64: 2, 1, 1>} : (tensor<6x4x5xf32>) -> tensor<3x4x5xf32>
// CHECK-NEXT: kernel.return %0 : tensor<3x4x5xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @slice_1(%x: tensor<6x4x5xf32>) -> tensor<6x2x5xf32> {
// CHECK-NEXT: %0 = graph.slice(%x) {starts = ["0", "1", "0"], sizes = ["6", "2", "5"], steps = array<i64: 1, 1, 1>} : (tensor<6x4x5xf32>) -> tensor<6x2x5xf32>
// CHECK-NEXT: kernel.return %0 : tensor<6x2x5xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @slice_2(%x: tensor<6x4x5xf32>) -> tensor<2x1x5xf32> {
// CHECK-NEXT: %0 = graph.slice(%x) {starts = ["1", "2", "0"], sizes = ["2", "1", "5"], steps = array<i64: 1, 1, 1>} : (tensor<6x4x5xf32>) -> tensor<2x1x5xf32>
// CHECK-NEXT: kernel.return %0 : tensor<2x1x5xf32>
