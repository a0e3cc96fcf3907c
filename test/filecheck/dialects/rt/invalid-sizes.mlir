// RUN: mlc-opt %s --verify-diagnostics --split-input-file | filecheck %s

// Copies and views of more bytes than there are, and launches that write more buffers than they take.

func.func @main(%a: memref<8xf32>, %b: memref<3xf32>) {
  rt.copy %a, %b : memref<8xf32>, memref<3xf32>
  func.return
}

// CHECK:      rt.copy: 32 bytes into a buffer of 12; use an rt.view of the range

// -----

func.func @main(%a: memref<8xf32>, %b: memref<3xf32>) {
  %v = rt.view %b : memref<3xf32> -> memref<4xf32>
  func.return
}

// CHECK:      rt.view: 16 bytes from byte 0 are not in a buffer of 12 bytes

// -----

func.func @main(%a: memref<8xf32>, %b: memref<3xf32>) {
  %v = rt.view %a {offset = "24"} : memref<8xf32> -> memref<3xf32>
  func.return
}

// CHECK:      rt.view: 12 bytes from byte 24 are not in a buffer of 32 bytes

// -----

func.func @main(%a: memref<8xf32>, %b: memref<3xf32>) {
  %v = rt.view %a {offset = "-4"} : memref<8xf32> -> memref<3xf32>
  func.return
}

// CHECK:      rt.view: 12 bytes from byte -4 are not in a buffer of 32 bytes

// -----

func.func @main(%a: memref<8xf32>, %b: memref<3xf32>) {
  %v = rt.view %a {offset = "4*"} : memref<8xf32> -> memref<3xf32>
  func.return
}

// CHECK:      '4*' is not a dimension

// -----

func.func @main(%a: memref<8xf32>, %b: memref<3xf32>) {
  rt.launch @k(%a, %b) {writes = 3 : i64} : memref<8xf32>, memref<3xf32>
  func.return
}

// CHECK:      rt.launch: it writes 3 of 2 buffers

// -----

func.func @main(%a: memref<8xf32>, %b: memref<3xf32>) {
  rt.launch @k(%a, %b) {writes = -1 : i64} : memref<8xf32>, memref<3xf32>
  func.return
}

// CHECK:      rt.launch: it writes -1 of 2 buffers
