// RUN: mlc-opt %s -p hoist-loop-invariants,split-yields,form-kernels,lower-kernels,count-work,build-program,plan-memory,insert-barriers,annotate-launches --split-input-file | filecheck %s

// A launch in a loop has the work of all iterations, one outside of it once; only kernels that take a dimension have dims.

func.func @main(%x: tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>, %h: tensor<2x4xf32>, %k: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>) {
  %last, %all = graph.loop "step0" to "seq" carry(%h : tensor<2x4xf32>) use(%x, %k : tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>) attributes {graph.node = ["/loop"], at = ["step0"]} {
  ^bb0(%s: tensor<2x4xf32>, %xs: tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>, %0: tensor<2x4xf32>):
    %e = graph.map "exp(x0)"(%0) {graph.node = ["/exp"]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %a = graph.slice(%xs) {graph.node = ["/slice"], starts = ["step0", "0", "0"], sizes = ["1", "2", "4"], steps = array<i64: 1, 1, 1>} : (tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>) -> tensor<1x2x4xf32>
    %b = graph.reshape(%a) {graph.node = ["/slice"], shape = ["2", "4"]} : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
    %n = graph.map "tanh((x0 + x1)) * x2"(%s, %b, %e) {graph.node = ["/tanh"]} : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    graph.yield %n, %n : tensor<2x4xf32>, tensor<2x4xf32>
  }
  func.return %last, %all : tensor<2x4xf32>, tensor<?x2x4xf32, #graph.dims<["seq", "2", "4"]>>
}

// CHECK:     rt.launch @map_0(%2, %5) {graph.node = ["/exp"], writes = 1 : i64, flops = "8", bytes = "64"}
// CHECK-NOT: dims =
// CHECK:     rt.launch @map_5({{.*}}) {graph.node = ["/tanh"], writes = 2 : i64, iterations = "seq", flops = "24*seq", bytes = "160*seq", resident}

// -----

// A dimension that data decides counts with its upper bound.

func.func @main(%x: tensor<?x3xf32, #graph.dims<["batch", "3"]>>, %m: tensor<?xi1, #graph.dims<["batch"]>>) -> (tensor<?x3xf32, #graph.dims<["batch", "3"]>>, tensor<?xi64, #graph.dims<["size0"]>>) {
  %y = graph.map "exp(x0)"(%x) {graph.node = ["/exp"]} : (tensor<?x3xf32, #graph.dims<["batch", "3"]>>) -> tensor<?x3xf32, #graph.dims<["batch", "3"]>>
  %n = graph.nonzero "size0"(%m) {graph.node = ["/where"]} : tensor<?xi1, #graph.dims<["batch"]>> -> tensor<?xi64, #graph.dims<["size0"]>>
  %z = graph.map "x0 + 1"(%n) {graph.node = ["/next"]} : (tensor<?xi64, #graph.dims<["size0"]>>) -> tensor<?xi64, #graph.dims<["size0"]>>
  func.return %y, %z : tensor<?x3xf32, #graph.dims<["batch", "3"]>>, tensor<?xi64, #graph.dims<["size0"]>>
}

// CHECK: rt.output 1 : i64 {bound = ["batch"]}
// CHECK: rt.launch @map_0({{.*}}) {graph.node = ["/exp"], writes = 1 : i64, flops = "3*batch", bytes = "24*batch"}
// CHECK: rt.launch @map_2({{.*}}) {graph.node = ["/next"], writes = 1 : i64, flops = "batch", bytes = "16*batch"}
