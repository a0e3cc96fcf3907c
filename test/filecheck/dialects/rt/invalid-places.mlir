// RUN: mlc-opt %s --verify-diagnostics --split-input-file | filecheck %s

// A program without its dimensions or its body, and copies, views and weights of what is no buffer.

rt.program "net" {inputs = ["x"], outputs = []} do {
  %x = rt.input 0 : i64 : memref<8xf32>
}

// CHECK:      property 'dims' expected in operation 'rt.program'

// -----

"rt.program"() <{sym_name = "net", inputs = [], outputs = [], dims = []}> ({
}) : () -> ()

// CHECK:      Region 'body' at position 0 expected a single block, but got 0 blocks

// -----

func.func @main(%a: memref<8xf32>, %b: tensor<8xf32>) {
  rt.copy %a, %b : memref<8xf32>, tensor<8xf32>
  func.return
}

// CHECK:      tensor<8xf32> should be of base attribute memref

// -----

func.func @main(%a: tensor<2x4xf32>) {
  %v = rt.view %a : tensor<2x4xf32> -> memref<8xf32>
  func.return
}

// CHECK:      tensor<2x4xf32> should be of base attribute memref

// -----

rt.program "net" {inputs = [], outputs = [], dims = []} do {
  %w = rt.weight "w" : tensor<3xf32>
}

// CHECK:      tensor<3xf32> should be of base attribute memref

// -----

func.func @main(%a: memref<2x4xf32>) {
  rt.program "net" {inputs = [], outputs = [], dims = []} do {
    %v = rt.view %a : memref<2x4xf32> -> memref<8xf32>
  }
  func.return
}

// CHECK:      Operation using value defined out of its IsolatedFromAbove parent: ViewOp(%v = rt.view %a
