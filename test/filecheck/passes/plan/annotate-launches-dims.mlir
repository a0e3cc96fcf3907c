// RUN: mlc-opt %s -p annotate-launches,verify-plan | filecheck %s
// RUN: mlc-opt %s -p verify-plan --verify-diagnostics | filecheck %s --check-prefix MISSING

// A launch has the dimensions that its kernel takes, in the order of the kernel's argument.

rt.program "net" {inputs = ["x"], outputs = ["y"], dims = ["batch", "width"]} do {
  %x = rt.input 0 : i64 : memref<?x?xf32, #graph.dims<["width", "batch"]>>
  %y = rt.output 0 : i64 : memref<?x?xf32, #graph.dims<["width", "batch"]>>
  rt.launch @k(%x, %y) {graph.node = ["/relu"], writes = 1 : i64} : memref<?x?xf32, #graph.dims<["width", "batch"]>>, memref<?x?xf32, #graph.dims<["width", "batch"]>>
}
kernel.func @k(%a: memref<?x?xf32, #graph.dims<["width", "batch"]>>, %o: memref<?x?xf32, #graph.dims<["width", "batch"]>>) {
  %w = kernel.symbol "width"
  %n = kernel.symbol "3*batch"
  kernel.return
}

// CHECK:   rt.launch @k(%x, %y) {graph.node = ["/relu"], writes = 1 : i64, dims = ["batch", "width"]}
// MISSING: Illegal at the plan level: kernel @k takes the dimensions batch, width (node '/relu'
