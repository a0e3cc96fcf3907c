// RUN: mlc-opt %s --verify-diagnostics --split-input-file | filecheck %s

rt.program "net" {inputs = [], outputs = [], dims = []} do {
  %x = rt.input 0 : i64 : tensor<8xf32>
}

// CHECK:      tensor<8xf32> should be of base attribute memref

// -----

rt.program "net" {inputs = ["x"], outputs = [], dims = []} do {
  %x = rt.input 0 : i64 : memref<8xf32>
  rt.launch @k(%x) : memref<8xf32>
}

// CHECK:      property 'writes' expected in operation 'rt.launch'
