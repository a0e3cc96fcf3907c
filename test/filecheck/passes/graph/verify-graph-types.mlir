// RUN: mlc-opt %s --disable-verify -p verify-graph --verify-diagnostics --split-input-file | filecheck %s

// Every value of a graph is a tensor of known elements, with the type that its operator gives.

func.func @main(%x: tensor<2xi3>) {
  func.return
}

// CHECK:      Invalid graph: tensors of i3 are not known; elements are f16, bf16, f32, f64, i1, {{.*}} (operator 'func.func'

// -----

func.func @main() {
  %0 = graph.weight "w" {graph.node = ["/w"]} : tensor<2xcomplex<f16>>
  func.return
}

// CHECK:      Invalid graph: tensors of complex<f16> are not known; {{.*}} (node '/w', operator 'graph.weight'

// -----

func.func @main(%x: tensor<2xf32>) {
  %0 = graph.map "exp(x0)"(%x) {graph.node = ["/exp"]} : (tensor<2xf32>) -> tensor<3xf32>
  func.return
}

// CHECK:      Invalid graph: graph.map: the result type is tensor<3xf32>, inferred from the operands tensor<2xf32> (node '/exp'

// -----

func.func @main(%x: tensor<?x4xf32, #graph.dims<["n"]>>) {
  func.return
}

// CHECK:      Invalid graph: tensor<?x4xf32, #graph.dims<["n"]>>: its #graph.dims are not those of its shape (operator 'func.func'
