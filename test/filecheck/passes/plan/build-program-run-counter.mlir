// RUN: mlc-opt %s -p form-kernels,lower-kernels,choose-schedule,tile-kernels,lower-tiles,build-program | filecheck %s

// The number of the run is a place, as an input is, and no constant: it is not folded, although it has no operands.

func.func @main() -> (tensor<4xi64> {graph.name = "y"}) {
  %n = graph.run_counter : tensor<i64>
  %y = graph.compute "x0[()] * 3 + i0"(%n) {shape = ["4"], reduce = []} : (tensor<i64>) -> tensor<4xi64>
  func.return %y : tensor<4xi64>
}

// CHECK:      rt.program "main"
// CHECK:      %{{.*}} = rt.output 0 : i64 : memref<4xi64>
// CHECK:      %[[N:.*]] = rt.run_counter : memref<i64>
// CHECK-NEXT: rt.launch @{{.*}}(%[[N]], %{{.*}})
