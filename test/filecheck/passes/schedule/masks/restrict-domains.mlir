// RUN: mlc-opt %s -p "fold-constants,lower-kernels,restrict-domains" --verify-diagnostics --split-input-file | filecheck %s

// A causal mask, computed from indices, becomes conditions of all statements that it masks, and no argument of the kernel.

func.func @main(%s: tensor<1x8x8xf32>, %v: tensor<1x8x4xf32>) -> tensor<1x8x4xf32> {
  %m = graph.compute "where(i1 <= i0, f32(0), -inf)"() {shape = ["8", "8"], reduce = []} : () -> tensor<8x8xf32>
  %y = kernel.call @k(%s, %m, %v) : (tensor<1x8x8xf32>, tensor<8x8xf32>, tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
  func.return %y : tensor<1x8x4xf32>
}
kernel.func @k(%s: tensor<1x8x8xf32>, %m: tensor<8x8xf32>, %v: tensor<1x8x4xf32>) -> tensor<1x8x4xf32> {
  %x = graph.map "x0 + x1"(%s, %m) : (tensor<1x8x8xf32>, tensor<8x8xf32>) -> tensor<1x8x8xf32>
  %0 = graph.reduce "max"(%x) {axes = array<i64: 2>, keepdims = true} : (tensor<1x8x8xf32>) -> tensor<1x8x1xf32>
  %1 = graph.map "exp(x0 - x1)"(%x, %0) : (tensor<1x8x8xf32>, tensor<1x8x1xf32>) -> tensor<1x8x8xf32>
  %2 = graph.contract "bmk,bkn->bmn"(%1, %v) : (tensor<1x8x8xf32>, tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
  kernel.return %2 : tensor<1x8x4xf32>
}

// CHECK-NOT:   graph.weight
// CHECK:       kernel.call @k(%s, %v)
// CHECK:       poly.statement "S0" ins(%0 : memref<1x8x8xf32>)
// CHECK-SAME:  conditions = ["i1-i2"]
// CHECK:         %[[J:.*]] = kernel.index "i2"
// CHECK-NEXT:    %[[J1:.*]] = arith.index_cast %[[J]]
// CHECK-NEXT:    %[[I:.*]] = kernel.index "i1"
// CHECK-NEXT:    %[[I1:.*]] = arith.index_cast %[[I]]
// CHECK-NEXT:    %[[C:.*]] = arith.cmpi sle, %[[J1]], %[[I1]] : i64
// CHECK-NEXT:    %[[OUT:.*]] = arith.constant 0xff800000 : f32
// CHECK-NEXT:    arith.select %[[C]], %{{.*}}, %[[OUT]] {mask} : f32
// CHECK:       poly.statement "S1"
// CHECK-SAME:  conditions = ["i1-i2"]
// CHECK:       monoid = "add"{{.*}}conditions = ["-k+m"]

// -----

// A window of two keys has two conditions.

func.func @main(%s: tensor<16x16xf32>) -> tensor<16xf32> {
  %m = graph.compute "(i1 <= i0) & (i1 > i0 - 2)"() {shape = ["16", "16"], reduce = []} : () -> tensor<16x16xi1>
  %y = kernel.call @k(%s, %m) : (tensor<16x16xf32>, tensor<16x16xi1>) -> tensor<16xf32>
  func.return %y : tensor<16xf32>
}
kernel.func @k(%s: tensor<16x16xf32>, %m: tensor<16x16xi1>) -> tensor<16xf32> {
  %x = graph.map "where(x1, x0, -3.4028234663852886e+38)"(%s, %m) : (tensor<16x16xf32>, tensor<16x16xi1>) -> tensor<16x16xf32>
  %0 = graph.reduce "max"(%x) {axes = array<i64: 1>, keepdims = true} : (tensor<16x16xf32>) -> tensor<16x1xf32>
  %1 = graph.map "exp(x0 - x1)"(%x, %0) : (tensor<16x16xf32>, tensor<16x1xf32>) -> tensor<16x16xf32>
  %2 = graph.reduce "add"(%1) {axes = array<i64: 1>, keepdims = false} : (tensor<16x16xf32>) -> tensor<16xf32>
  kernel.return %2 : tensor<16xf32>
}

// CHECK: conditions = ["-i0+i1+1", "i0-i1"]

// -----

// A large number is no mask: a sum of it and of a score may be the maximum.

func.func @main(%s: tensor<8x8xf32>) -> tensor<8xf32> {
  %m = graph.compute "where(i1 <= i0, f32(0), -10000.0)"() {shape = ["8", "8"], reduce = []} : () -> tensor<8x8xf32>
  %y = kernel.call @k(%s, %m) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}
kernel.func @k(%s: tensor<8x8xf32>, %m: tensor<8x8xf32>) -> tensor<8xf32> {
  %x = graph.map "x0 + x1"(%s, %m) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = graph.reduce "max"(%x) {axes = array<i64: 1>, keepdims = true} : (tensor<8x8xf32>) -> tensor<8x1xf32>
  %1 = graph.map "exp(x0 - x1)"(%x, %0) : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %2 = graph.reduce "add"(%1) {axes = array<i64: 1>, keepdims = false} : (tensor<8x8xf32>) -> tensor<8xf32>
  kernel.return %2 : tensor<8xf32>
}

// CHECK:     kernel.call @k(%s, %m)
// CHECK-NOT: conditions

// -----

// The first rows have no keys: their softmax is no number.

func.func @main(%s: tensor<8x8xf32>) -> tensor<8xf32> {
  %m = graph.compute "where(i1 <= i0 - 2, f32(0), -inf)"() {shape = ["8", "8"], reduce = []} : () -> tensor<8x8xf32>
  %y = kernel.call @k(%s, %m) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}
kernel.func @k(%s: tensor<8x8xf32>, %m: tensor<8x8xf32>) -> tensor<8xf32> {
  %x = graph.map "x0 + x1"(%s, %m) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = graph.reduce "max"(%x) {axes = array<i64: 1>, keepdims = true} : (tensor<8x8xf32>) -> tensor<8x1xf32>
  %1 = graph.map "exp(x0 - x1)"(%x, %0) : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %2 = graph.reduce "add"(%1) {axes = array<i64: 1>, keepdims = false} : (tensor<8x8xf32>) -> tensor<8xf32>
  kernel.return %2 : tensor<8xf32>
}

// CHECK-NOT: conditions

// -----

// The scores are a result of the kernel: all of them are read.

func.func @main(%s: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8x8xf32>) {
  %m = graph.compute "where(i1 <= i0, f32(0), -inf)"() {shape = ["8", "8"], reduce = []} : () -> tensor<8x8xf32>
  %y, %z = kernel.call @k(%s, %m) : (tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8x8xf32>)
  func.return %y, %z : tensor<8xf32>, tensor<8x8xf32>
}
kernel.func @k(%s: tensor<8x8xf32>, %m: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8x8xf32>) {
  %x = graph.map "x0 + x1"(%s, %m) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = graph.reduce "max"(%x) {axes = array<i64: 1>, keepdims = true} : (tensor<8x8xf32>) -> tensor<8x1xf32>
  %1 = graph.map "exp(x0 - x1)"(%x, %0) : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %2 = graph.reduce "add"(%1) {axes = array<i64: 1>, keepdims = false} : (tensor<8x8xf32>) -> tensor<8xf32>
  kernel.return %2, %1 : tensor<8xf32>, tensor<8x8xf32>
}

// CHECK-NOT: conditions
