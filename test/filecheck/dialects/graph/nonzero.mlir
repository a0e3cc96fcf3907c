// RUN: mlc-opt %s -p verify-graph --verify-diagnostics --split-input-file | filecheck %s

// A size is known after graph.nonzero; it stays although nobody reads the positions.

func.func @main(%m: tensor<8xi1>) -> tensor<?xf32, #graph.dims<["size0"]>> {
  %p = graph.nonzero "size0"(%m) {graph.node = ["/p"]} : tensor<8xi1> -> tensor<?xi64, #graph.dims<["size0"]>>
  %y = graph.compute "f32(i0)"() {graph.node = ["/y"], shape = ["size0"], reduce = []} : () -> tensor<?xf32, #graph.dims<["size0"]>>
  func.return %y : tensor<?xf32, #graph.dims<["size0"]>>
}

// CHECK:      %p = graph.nonzero "size0"(%m) {graph.node = ["/p"]} : tensor<8xi1> -> tensor<?xi64, #graph.dims<["size0"]>>
// CHECK-NEXT: %y = graph.compute "f32(i0)"()

// -----

func.func @main(%m: tensor<2x4xi1>) -> tensor<?xi64, #graph.dims<["size0"]>> {
  %p = graph.nonzero "size0"(%m) : tensor<2x4xi1> -> tensor<?xi64, #graph.dims<["size0"]>>
  func.return %p : tensor<?xi64, #graph.dims<["size0"]>>
}

// CHECK:      graph.nonzero: it takes a vector of predicates

// -----

func.func @main(%m: tensor<4xi1>) -> tensor<?xi64, #graph.dims<["n"]>> {
  %p = graph.nonzero "n"(%m) : tensor<4xi1> -> tensor<?xi64, #graph.dims<["n"]>>
  func.return %p : tensor<?xi64, #graph.dims<["n"]>>
}

// CHECK:      graph.nonzero: 'n' is not the name of a size, such as size0
