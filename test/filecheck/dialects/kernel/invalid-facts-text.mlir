// RUN: mlc-opt %s --parsing-diagnostics | filecheck %s

kernel.func @unknown_field() attributes {launch = #kernel.launch<threads = 1>} {
  kernel.return
}

// CHECK: unknown field 'threads'; the fields are computing, launched, grid
