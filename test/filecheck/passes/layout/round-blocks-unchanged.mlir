// RUN: mlc-opt %s --for-target x86-64-v4 -p round-blocks --split-input-file | filecheck %s

// No instruction multiplies bytes.
func.func @floats(%x: tensor<?x64xf32, #graph.dims<["rows", "64"]>>) -> tensor<?x48xf32, #graph.dims<["rows", "48"]>> {
  %w = graph.weight "w" : tensor<48x2x4xi32>
  %s = graph.weight "s" : tensor<48x2xf32>
  %y = graph.compute "(x0[i0, (((r0 * 32) + (r1 * 8)) + r2)] * (f32((((x1[i1, r0, r1] >> i32((r2 * 4))) & 15) - 8)) * x2[i1, r0]))"(%x, %w, %s) {shape = ["rows", "48"], reduce = ["2", "4", "8"], monoid = "add", rounds = "i8"} : (tensor<?x64xf32, #graph.dims<["rows", "64"]>>, tensor<48x2x4xi32>, tensor<48x2xf32>) -> tensor<?x48xf32, #graph.dims<["rows", "48"]>>
  func.return %y : tensor<?x48xf32, #graph.dims<["rows", "48"]>>
}

// CHECK:      func.func @floats(%x: tensor<?x64xf32, #graph.dims<["rows", "64"]>>) -> tensor<?x48xf32, #graph.dims<["rows", "48"]>> {
// CHECK-NEXT: %w = graph.weight "w" : tensor<48x2x4xi32>
// CHECK-NEXT: %s = graph.weight "s" : tensor<48x2xf32>
// CHECK-NEXT: %y = graph.compute "(x0[i0, (((r0 * 32) + (r1 * 8)) + r2)] * (f32((((x1[i1, r0, r1] >> i32((r2 * 4))) & 15) - 8)) * x2[i1, r0]))"(%x, %w, %s) {shape = ["rows", "48"], reduce = ["2", "4", "8"], monoid = "add", rounds = "i8"} : (tensor<?x64xf32, #graph.dims<["rows", "64"]>>, tensor<48x2x4xi32>, tensor<48x2xf32>) -> tensor<?x48xf32, #graph.dims<["rows", "48"]>>
// CHECK-NEXT: func.return %y : tensor<?x48xf32, #graph.dims<["rows", "48"]>>
