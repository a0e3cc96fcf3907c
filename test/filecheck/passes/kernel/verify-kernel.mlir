// RUN: mlc-opt %s -p verify-kernel --verify-diagnostics --split-input-file | filecheck %s

func.func @main(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = kernel.call @k(%x) {graph.node = ["/exp"]} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return %0 : tensor<3x5xf32>
}
kernel.func @k(%a: memref<3x5xf32>, %o: memref<3x5xf32>) {
  poly.statement "S0" ins(%a : memref<3x5xf32>) outs(%o : memref<3x5xf32>) {domain = #poly.domain<"0 <= i < 3 and 0 <= j < 5">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    %y = math.exp %x : f32
    poly.yield %y : f32
  }
  kernel.return
}

// CHECK:      %0 = kernel.call @k(%x) {graph.node = ["/exp"]} :
// CHECK:      %y = math.exp %x : f32

// -----

func.func @main(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = kernel.call @k(%x) : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return %0 : tensor<3x5xf32>
}
kernel.func @k(%a: memref<3x5xf32>, %o: memref<3x5xf32>) {
  kernel.return
}

// CHECK:      Illegal at the kernel level: it names no source nodes (operator 'kernel.call', stage 'verify-kernel').

// -----

func.func @main(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = kernel.call @other(%x) {graph.node = ["/exp"]} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return %0 : tensor<3x5xf32>
}
kernel.func @k(%a: memref<3x5xf32>, %o: memref<3x5xf32>) {
  kernel.return
}

// CHECK:      Illegal at the kernel level: there is no kernel @other (node '/exp', operator 'kernel.call', stage 'verify-kernel').

// -----

func.func @main(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = kernel.call @k(%x) {graph.node = ["/exp"]} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return %0 : tensor<3x5xf32>
}
kernel.func @k(%a: memref<3x5xf32>, %o: memref<5x3xf32>) {
  kernel.return
}

// CHECK:      Illegal at the kernel level: kernel @k takes 3x5xf32, 5x3xf32, not 3x5xf32, 3x5xf32 (node '/exp'

// -----

func.func @main(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = graph.map "exp(x0)"(%x) {graph.node = ["/exp"]} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return %0 : tensor<3x5xf32>
}

// CHECK:      Illegal at the kernel level: it is not allowed in func.func (node '/exp', operator 'graph.map'

// -----

kernel.func @k(%a: memref<3x5xf32>, %o: memref<3x5xf32>) {
  poly.statement "S0" ins(%a : memref<3x5xf32>) outs(%o : memref<3x5xf32>) {domain = #poly.domain<"0 <= i < 3 and 0 <= j < 5">, accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i, j]">]} do {
  ^bb0(%x: f32):
    %z = math.exp %y : f32
    %y = math.exp %x : f32
    poly.yield %z : f32
  }
  kernel.return
}

// CHECK:      Illegal at the kernel level: operand 0 is not defined before it (operator 'math.exp'

// -----

kernel.func @k(%a: memref<3x5xf32>, %o: memref<3x5xf32>) {
  %c = arith.constant 0 : index
  kernel.return
}

// CHECK:      Illegal at the kernel level: it is not allowed in kernel.func (operator 'arith.constant'

// -----

kernel.func @k(%a: memref<?x5xf32, #graph.dims<["h", "5"]>>, %o: memref<?x5xf32, #graph.dims<["h", "5"]>>) {
  poly.statement "S0" ins(%a : memref<?x5xf32, #graph.dims<["h", "5"]>>) outs(%o : memref<?x5xf32, #graph.dims<["h", "5"]>>) {domain = #poly.domain<"0 <= h < h and 0 <= j < 5">, accesses = [#poly.access<"b0[h, j]">, #poly.access<"b1[h, j]">]} do {
  ^bb0(%x: f32):
    %y = math.exp %x : f32
    poly.yield %y : f32
  }
  kernel.return
}

// CHECK:      Illegal at the kernel level: 'h' names both an iterator and a dimension (operator 'poly.statement'
