// RUN: mlc-opt %s --for-target x86-64-v4:avx512vnni -p round-blocks --split-input-file | filecheck %s
// RUN: mlc-opt %s --for-target znver3 -p round-blocks --split-input-file | filecheck %s --check-prefix PAIRS

func.func @allowed(%x: tensor<?x64xf32, #graph.dims<["rows", "64"]>>) -> tensor<?x48xf32, #graph.dims<["rows", "48"]>> {
  %w = graph.weight "w" : tensor<48x2x4xi32>
  %s = graph.weight "s" : tensor<48x2xf32>
  %y = graph.compute "(x0[i0, (((r0 * 32) + (r1 * 8)) + r2)] * (f32((((x1[i1, r0, r1] >> i32((r2 * 4))) & 15) - 8)) * x2[i1, r0]))"(%x, %w, %s) {shape = ["rows", "48"], reduce = ["2", "4", "8"], monoid = "add", rounds = "i8"} : (tensor<?x64xf32, #graph.dims<["rows", "64"]>>, tensor<48x2x4xi32>, tensor<48x2xf32>) -> tensor<?x48xf32, #graph.dims<["rows", "48"]>>
  func.return %y : tensor<?x48xf32, #graph.dims<["rows", "48"]>>
}

// AVX2 adds the products of two bytes: sums of 16 bits, and a sum of both.
// PAIRS: %y = graph.compute "(f32((x2[i0, r0] + sum2(add2(add2(add2(add2(add2(add2(add2(dot2x2(((x3[i1, r0, 0] >> 0) & 252645135), x0[i0, r0, 0]), dot2x2(((x3[i1, r0, 0] >> 4) & 252645135), x0[i0, r0, 1])), dot2x2(((x3[i1, r0, 1] >> 0) & 252645135), x0[i0, r0, 2])), dot2x2(((x3[i1, r0, 1] >> 4) & 252645135), x0[i0, r0, 3])), dot2x2(((x3[i1, r0, 2] >> 0) & 252645135), x0[i0, r0, 4])), dot2x2(((x3[i1, r0, 2] >> 4) & 252645135), x0[i0, r0, 5])), dot2x2(((x3[i1, r0, 3] >> 0) & 252645135), x0[i0, r0, 6])), dot2x2(((x3[i1, r0, 3] >> 4) & 252645135), x0[i0, r0, 7]))))) * (x1[i0, r0] * x4[i1, r0]))"(%10, %5, %9, %11, %s)

// CHECK:      func.func @allowed(%x: tensor<?x64xf32, #graph.dims<["rows", "64"]>>) -> tensor<?x48xf32, #graph.dims<["rows", "48"]>> {
// CHECK-NEXT: %w = graph.weight "w" : tensor<48x2x4xi32>
// CHECK-NEXT: %s = graph.weight "s" : tensor<48x2xf32>
// CHECK-NEXT: %0 = graph.reshape(%x) {shape = ["rows", "2", "32"]} : (tensor<?x64xf32, #graph.dims<["rows", "64"]>>) -> tensor<?x2x32xf32, #graph.dims<["rows", "2", "32"]>>
// CHECK-NEXT: %1 = graph.map "abs(x0)"(%0) : (tensor<?x2x32xf32, #graph.dims<["rows", "2", "32"]>>) -> tensor<?x2x32xf32, #graph.dims<["rows", "2", "32"]>>
// CHECK-NEXT: %2 = graph.reduce "max"(%1) {axes = array<i64: 2>, keepdims = true} : (tensor<?x2x32xf32, #graph.dims<["rows", "2", "32"]>>) -> tensor<?x2x1xf32, #graph.dims<["rows", "2", "1"]>>
// CHECK-NEXT: %3 = graph.map "where((x0 > 1e-36), (127 / x0), (0 * x0))"(%2) : (tensor<?x2x1xf32, #graph.dims<["rows", "2", "1"]>>) -> tensor<?x2x1xf32, #graph.dims<["rows", "2", "1"]>>
// CHECK-NEXT: %4 = graph.map "(x0 * 0.007874015748031496)"(%2) : (tensor<?x2x1xf32, #graph.dims<["rows", "2", "1"]>>) -> tensor<?x2x1xf32, #graph.dims<["rows", "2", "1"]>>
// CHECK-NEXT: %5 = graph.reshape(%4) {shape = ["rows", "2"]} : (tensor<?x2x1xf32, #graph.dims<["rows", "2", "1"]>>) -> tensor<?x2xf32, #graph.dims<["rows", "2"]>>
// CHECK-NEXT: %6 = graph.map "i8(round((x0 * x1)))"(%0, %3) : (tensor<?x2x32xf32, #graph.dims<["rows", "2", "32"]>>, tensor<?x2x1xf32, #graph.dims<["rows", "2", "1"]>>) -> tensor<?x2x32xi8, #graph.dims<["rows", "2", "32"]>>
// CHECK-NEXT: %7 = graph.map "i32(x0)"(%6) : (tensor<?x2x32xi8, #graph.dims<["rows", "2", "32"]>>) -> tensor<?x2x32xi32, #graph.dims<["rows", "2", "32"]>>
// CHECK-NEXT: %8 = graph.reduce "add"(%7) {axes = array<i64: 2>, keepdims = false} : (tensor<?x2x32xi32, #graph.dims<["rows", "2", "32"]>>) -> tensor<?x2xi32, #graph.dims<["rows", "2"]>>
// CHECK-NEXT: %9 = graph.map "(x0 * -8)"(%8) : (tensor<?x2xi32, #graph.dims<["rows", "2"]>>) -> tensor<?x2xi32, #graph.dims<["rows", "2"]>>
// CHECK-NEXT: %10 = graph.bitcast(%6) {element = "i32"} : (tensor<?x2x32xi8, #graph.dims<["rows", "2", "32"]>>) -> tensor<?x2x8xi32, #graph.dims<["rows", "2", "8"]>>
// CHECK-NEXT: %11 = graph.map "((((((((((x0 >> 0) & 15) << 0) | (((x0 >> 4) & 15) << 8)) | (((x0 >> 8) & 15) << 16)) | (((x0 >> 12) & 15) << 24)) | (((x0 >> 16) & 15) << 4)) | (((x0 >> 20) & 15) << 12)) | (((x0 >> 24) & 15) << 20)) | (((x0 >> 28) & 15) << 28))"(%w) : (tensor<48x2x4xi32>) -> tensor<48x2x4xi32>
// CHECK-NEXT: %y = graph.compute "(f32(((((((((x2[i0, r0] + dot4(((x3[i1, r0, 0] >> 0) & 252645135), x0[i0, r0, 0])) + dot4(((x3[i1, r0, 0] >> 4) & 252645135), x0[i0, r0, 1])) + dot4(((x3[i1, r0, 1] >> 0) & 252645135), x0[i0, r0, 2])) + dot4(((x3[i1, r0, 1] >> 4) & 252645135), x0[i0, r0, 3])) + dot4(((x3[i1, r0, 2] >> 0) & 252645135), x0[i0, r0, 4])) + dot4(((x3[i1, r0, 2] >> 4) & 252645135), x0[i0, r0, 5])) + dot4(((x3[i1, r0, 3] >> 0) & 252645135), x0[i0, r0, 6])) + dot4(((x3[i1, r0, 3] >> 4) & 252645135), x0[i0, r0, 7]))) * (x1[i0, r0] * x4[i1, r0]))"(%10, %5, %9, %11, %s) {shape = ["rows", "48"], reduce = ["2"], monoid = "add"} : (tensor<?x2x8xi32, #graph.dims<["rows", "2", "8"]>>, tensor<?x2xf32, #graph.dims<["rows", "2"]>>, tensor<?x2xi32, #graph.dims<["rows", "2"]>>, tensor<48x2x4xi32>, tensor<48x2xf32>) -> tensor<?x48xf32, #graph.dims<["rows", "48"]>>
// CHECK-NEXT: func.return %y : tensor<?x48xf32, #graph.dims<["rows", "48"]>>

// -----

// The model has not allowed it.
func.func @floats(%x: tensor<?x64xf32, #graph.dims<["rows", "64"]>>) -> tensor<?x48xf32, #graph.dims<["rows", "48"]>> {
  %w = graph.weight "w" : tensor<48x2x4xi32>
  %s = graph.weight "s" : tensor<48x2xf32>
  %y = graph.compute "(x0[i0, (((r0 * 32) + (r1 * 8)) + r2)] * (f32((((x1[i1, r0, r1] >> i32((r2 * 4))) & 15) - 8)) * x2[i1, r0]))"(%x, %w, %s) {shape = ["rows", "48"], reduce = ["2", "4", "8"], monoid = "add"} : (tensor<?x64xf32, #graph.dims<["rows", "64"]>>, tensor<48x2x4xi32>, tensor<48x2xf32>) -> tensor<?x48xf32, #graph.dims<["rows", "48"]>>
  func.return %y : tensor<?x48xf32, #graph.dims<["rows", "48"]>>
}

// PAIRS: graph.compute "(x0[i0, (((r0 * 32)
// CHECK:      func.func @floats(%x: tensor<?x64xf32, #graph.dims<["rows", "64"]>>) -> tensor<?x48xf32, #graph.dims<["rows", "48"]>> {
// CHECK-NEXT: %w = graph.weight "w" : tensor<48x2x4xi32>
// CHECK-NEXT: %s = graph.weight "s" : tensor<48x2xf32>
// CHECK-NEXT: %y = graph.compute "(x0[i0, (((r0 * 32) + (r1 * 8)) + r2)] * (f32((((x1[i1, r0, r1] >> i32((r2 * 4))) & 15) - 8)) * x2[i1, r0]))"(%x, %w, %s) {shape = ["rows", "48"], reduce = ["2", "4", "8"], monoid = "add"} : (tensor<?x64xf32, #graph.dims<["rows", "64"]>>, tensor<48x2x4xi32>, tensor<48x2xf32>) -> tensor<?x48xf32, #graph.dims<["rows", "48"]>>
// CHECK-NEXT: func.return %y : tensor<?x48xf32, #graph.dims<["rows", "48"]>>
