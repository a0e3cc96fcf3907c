// RUN: mlc-opt %s -p verify-graph --verify-diagnostics --split-input-file | filecheck %s

// A number is a dimension after graph.size, which stays although nobody reads it; under a reshape sizes need not be
// the same elements, as another graph.size checks that.

func.func @main(%n: tensor<i64>, %x: tensor<24xf32>) -> tensor<?x8xf32, #graph.dims<["size0", "8"]>> {
  %s = graph.size "size0"(%n) most "room0" else "Range 'r': too long" {graph.node = ["/s"]} : tensor<i64> -> tensor<i64>
  %y = graph.reshape(%x) {graph.node = ["/y"], shape = ["size0", "8"]} : (tensor<24xf32>) -> tensor<?x8xf32, #graph.dims<["size0", "8"]>>
  func.return %y : tensor<?x8xf32, #graph.dims<["size0", "8"]>>
}

// CHECK:      %s = graph.size "size0"(%n) most "room0" else "Range 'r': too long" {graph.node = ["/s"]} : tensor<i64> -> tensor<i64>
// CHECK-NEXT: %y = graph.reshape(%x)

// -----

func.func @main(%n: tensor<1xi64>) -> tensor<i64> {
  %s = graph.size "size0"(%n) most "8" else "why" : tensor<1xi64> -> tensor<i64>
  func.return %s : tensor<i64>
}

// CHECK:      graph.size: it takes a single i64

// -----

func.func @main(%n: tensor<i64>) -> tensor<i64> {
  %s = graph.size "n"(%n) most "8" else "why" : tensor<i64> -> tensor<i64>
  func.return %s : tensor<i64>
}

// CHECK:      graph.size: 'n' is not the name of a size, such as size0
