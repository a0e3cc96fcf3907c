// RUN: mlc-opt %s -p unpack-blocks --split-input-file | filecheck %s

func.func @many(%x: tensor<64x64xf32>) -> tensor<64x48xf32> {
  %w = graph.weight "w" : tensor<48x2x4xi32>
  %s = graph.weight "s" : tensor<48x2xf32>
  %y = graph.compute "(x0[i0, (((r0 * 32) + (r1 * 8)) + r2)] * (f32((((x1[i1, r0, r1] >> i32((r2 * 4))) & 15) - 8)) * x2[i1, r0]))"(%x, %w, %s) {shape = ["64", "48"], reduce = ["2", "4", "8"], monoid = "add", rounds = "i8"} : (tensor<64x64xf32>, tensor<48x2x4xi32>, tensor<48x2xf32>) -> tensor<64x48xf32>
  func.return %y : tensor<64x48xf32>
}

// CHECK:      func.func @many(%x: tensor<64x64xf32>) -> tensor<64x48xf32> {
// CHECK-NEXT: %w = graph.weight "w" : tensor<48x2x4xi32>
// CHECK-NEXT: %s = graph.weight "s" : tensor<48x2xf32>
// CHECK-NEXT: %0 = graph.compute "((f32(((x0[i1, (i0 // 32), ((i0 % 32) // 8)] >> i32(((i0 % 8) * 4))) & 15)) - 8) * x1[i1, (i0 // 32)])"(%w, %s) {shape = ["64", "48"], reduce = []} : (tensor<48x2x4xi32>, tensor<48x2xf32>) -> tensor<64x48xf32>
// CHECK-NEXT: %y = graph.contract "mk,kn->mn"(%x, %0) : (tensor<64x64xf32>, tensor<64x48xf32>) -> tensor<64x48xf32>
// CHECK-NEXT: func.return %y : tensor<64x48xf32>

// -----

// As many rows as unpacking in registers pays for.
func.func @few(%x: tensor<16x64xf32>) -> tensor<16x48xf32> {
  %w = graph.weight "w" : tensor<48x2x4xi32>
  %s = graph.weight "s" : tensor<48x2xf32>
  %y = graph.compute "(x0[i0, (((r0 * 32) + (r1 * 8)) + r2)] * (f32((((x1[i1, r0, r1] >> i32((r2 * 4))) & 15) - 8)) * x2[i1, r0]))"(%x, %w, %s) {shape = ["16", "48"], reduce = ["2", "4", "8"], monoid = "add", rounds = "i8"} : (tensor<16x64xf32>, tensor<48x2x4xi32>, tensor<48x2xf32>) -> tensor<16x48xf32>
  func.return %y : tensor<16x48xf32>
}

// CHECK:      func.func @few(%x: tensor<16x64xf32>) -> tensor<16x48xf32> {
// CHECK-NEXT: %w = graph.weight "w" : tensor<48x2x4xi32>
// CHECK-NEXT: %s = graph.weight "s" : tensor<48x2xf32>
// CHECK-NEXT: %y = graph.compute "(x0[i0, (((r0 * 32) + (r1 * 8)) + r2)] * (f32((((x1[i1, r0, r1] >> i32((r2 * 4))) & 15) - 8)) * x2[i1, r0]))"(%x, %w, %s) {shape = ["16", "48"], reduce = ["2", "4", "8"], monoid = "add", rounds = "i8"} : (tensor<16x64xf32>, tensor<48x2x4xi32>, tensor<48x2xf32>) -> tensor<16x48xf32>
// CHECK-NEXT: func.return %y : tensor<16x48xf32>

// -----

func.func @any(%x: tensor<?x64xf32, #graph.dims<["rows", "64"]>>) -> tensor<?x48xf32, #graph.dims<["rows", "48"]>> {
  %w = graph.weight "w" : tensor<48x2x4xi32>
  %s = graph.weight "s" : tensor<48x2xf32>
  %y = graph.compute "(x0[i0, (((r0 * 32) + (r1 * 8)) + r2)] * (f32((((x1[i1, r0, r1] >> i32((r2 * 4))) & 15) - 8)) * x2[i1, r0]))"(%x, %w, %s) {shape = ["rows", "48"], reduce = ["2", "4", "8"], monoid = "add", rounds = "i8"} : (tensor<?x64xf32, #graph.dims<["rows", "64"]>>, tensor<48x2x4xi32>, tensor<48x2xf32>) -> tensor<?x48xf32, #graph.dims<["rows", "48"]>>
  func.return %y : tensor<?x48xf32, #graph.dims<["rows", "48"]>>
}

// CHECK:      func.func @any(%x: tensor<?x64xf32, #graph.dims<["rows", "64"]>>) -> tensor<?x48xf32, #graph.dims<["rows", "48"]>> {
// CHECK-NEXT: %w = graph.weight "w" : tensor<48x2x4xi32>
// CHECK-NEXT: %s = graph.weight "s" : tensor<48x2xf32>
// CHECK-NEXT: %y = graph.compute "(x0[i0, (((r0 * 32) + (r1 * 8)) + r2)] * (f32((((x1[i1, r0, r1] >> i32((r2 * 4))) & 15) - 8)) * x2[i1, r0]))"(%x, %w, %s) {shape = ["rows", "48"], reduce = ["2", "4", "8"], monoid = "add", rounds = "i8"} : (tensor<?x64xf32, #graph.dims<["rows", "64"]>>, tensor<48x2x4xi32>, tensor<48x2xf32>) -> tensor<?x48xf32, #graph.dims<["rows", "48"]>>
// CHECK-NEXT: func.return %y : tensor<?x48xf32, #graph.dims<["rows", "48"]>>
