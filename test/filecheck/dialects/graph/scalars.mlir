// RUN: mlc-opt %s | mlc-opt | filecheck %s
// RUN: mlc-opt %s --print-op-generic | filecheck %s --check-prefix GENERIC

// Tensors of rank 0, of no elements and of elements other than f32; expressions of sizes; and the generic form.

func.func @main(%s: tensor<f64>, %e: tensor<0x3xbf16>, %u: tensor<?xui8, #graph.dims<["max(n, 2)"]>>) -> () {
  %t = graph.constant dense<true> : tensor<i1> : tensor<i1>
  %map = graph.map "where(x0, x1, 0.5)"(%t, %s) : (tensor<i1>, tensor<f64>) -> tensor<f64>
  %dot = graph.contract ",->"(%s, %s) : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %all = graph.reduce "min"(%e) {axes = array<i64>, keepdims = false} : (tensor<0x3xbf16>) -> tensor<0x3xbf16>
  %none = graph.slice(%e) {starts = ["0", "2"], sizes = ["0", "1"], steps = array<i64: 1, 1>} : (tensor<0x3xbf16>) -> tensor<0x1xbf16>
  %grown = graph.pad(%u) {low = ["n//2"], high = ["0"], interior = array<i64: 0>, value = "7"} : (tensor<?xui8, #graph.dims<["max(n, 2)"]>>) -> tensor<?xui8, #graph.dims<["((n)//(2))+max(n, 2)"]>>
  %wide = graph.map "i64(x0)"(%u) : (tensor<?xui8, #graph.dims<["max(n, 2)"]>>) -> tensor<?xi64, #graph.dims<["max(n, 2)"]>>
  func.return
}

// CHECK:      func.func @main(%s: tensor<f64>, %e: tensor<0x3xbf16>, %u: tensor<?xui8, #graph.dims<["max(n, 2)"]>>) {
// CHECK-NEXT: %t = graph.constant dense<true> : tensor<i1> : tensor<i1>
// CHECK-NEXT: %map = graph.map "where(x0, x1, 0.5)"(%t, %s) : (tensor<i1>, tensor<f64>) -> tensor<f64>
// CHECK-NEXT: %dot = graph.contract ",->"(%s, %s) : (tensor<f64>, tensor<f64>) -> tensor<f64>
// CHECK-NEXT: %all = graph.reduce "min"(%e) {axes = array<i64>, keepdims = false} : (tensor<0x3xbf16>) -> tensor<0x3xbf16>
// CHECK-NEXT: %none = graph.slice(%e) {starts = ["0", "2"], sizes = ["0", "1"], steps = array<i64: 1, 1>} : (tensor<0x3xbf16>) -> tensor<0x1xbf16>
// CHECK-NEXT: %grown = graph.pad(%u) {low = ["n//2"], high = ["0"], interior = array<i64: 0>, value = "7"} : (tensor<?xui8, #graph.dims<["max(n, 2)"]>>) -> tensor<?xui8, #graph.dims<["((n)//(2))+max(n, 2)"]>>
// CHECK-NEXT: %wide = graph.map "i64(x0)"(%u) : (tensor<?xui8, #graph.dims<["max(n, 2)"]>>) -> tensor<?xi64, #graph.dims<["max(n, 2)"]>>
// CHECK-NEXT: func.return

// GENERIC:      %t = "graph.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
// GENERIC-NEXT: %map = "graph.map"(%t, %s) <{expr = "where(x0, x1, 0.5)"}> : (tensor<i1>, tensor<f64>) -> tensor<f64>
// GENERIC-NEXT: %dot = "graph.contract"(%s, %s) <{equation = ",->"}> : (tensor<f64>, tensor<f64>) -> tensor<f64>
// GENERIC-NEXT: %all = "graph.reduce"(%e) <{fn = "min", axes = array<i64>, keepdims = false}> : (tensor<0x3xbf16>) -> tensor<0x3xbf16>
// GENERIC-NEXT: %none = "graph.slice"(%e) <{starts = ["0", "2"], sizes = ["0", "1"], steps = array<i64: 1, 1>}> : (tensor<0x3xbf16>) -> tensor<0x1xbf16>
// GENERIC-NEXT: %grown = "graph.pad"(%u) <{low = ["n//2"], high = ["0"], interior = array<i64: 0>, value = "7"}> : (tensor<?xui8, #graph.dims<["max(n, 2)"]>>) -> tensor<?xui8, #graph.dims<["((n)//(2))+max(n, 2)"]>>
