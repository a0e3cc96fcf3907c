// RUN: mlc-opt %s -p form-kernels --verify-diagnostics --split-input-file | filecheck %s

func.func @contraction_and_epilogue(%x: tensor<?x5xf32, #graph.dims<["batch", "5"]>>, %w: tensor<5x7xf32>, %b: tensor<7xf32>) -> tensor<?x7xf32, #graph.dims<["batch", "7"]>> {
  %0 = graph.contract "mk,kn->mn"(%x, %w) {graph.node = ["/matmul"]} : (tensor<?x5xf32, #graph.dims<["batch", "5"]>>, tensor<5x7xf32>) -> tensor<?x7xf32, #graph.dims<["batch", "7"]>>
  %1 = graph.map "max(x0 + x1, 0)"(%0, %b) {graph.node = ["/relu"]} : (tensor<?x7xf32, #graph.dims<["batch", "7"]>>, tensor<7xf32>) -> tensor<?x7xf32, #graph.dims<["batch", "7"]>>
  func.return %1 : tensor<?x7xf32, #graph.dims<["batch", "7"]>>
}

// CHECK:      func.func @contraction_and_epilogue(%x: tensor<?x5xf32, #graph.dims<["batch", "5"]>>, %w: tensor<5x7xf32>, %b: tensor<7xf32>) -> tensor<?x7xf32, #graph.dims<["batch", "7"]>> {
// CHECK-NEXT: %0 = kernel.call @contract_0(%x, %w, %b) {graph.node = ["/matmul", "/relu"]} : (tensor<?x5xf32, #graph.dims<["batch", "5"]>>, tensor<5x7xf32>, tensor<7xf32>) -> tensor<?x7xf32, #graph.dims<["batch", "7"]>>
// CHECK-NEXT: func.return %0 : tensor<?x7xf32, #graph.dims<["batch", "7"]>>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @contract_0(%x: tensor<?x5xf32, #graph.dims<["batch", "5"]>>, %w: tensor<5x7xf32>, %b: tensor<7xf32>) -> tensor<?x7xf32, #graph.dims<["batch", "7"]>> {
// CHECK-NEXT: %0 = graph.contract "mk,kn->mn"(%x, %w) {graph.node = ["/matmul"]} : (tensor<?x5xf32, #graph.dims<["batch", "5"]>>, tensor<5x7xf32>) -> tensor<?x7xf32, #graph.dims<["batch", "7"]>>
// CHECK-NEXT: %1 = graph.map "max(x0 + x1, 0)"(%0, %b) {graph.node = ["/relu"]} : (tensor<?x7xf32, #graph.dims<["batch", "7"]>>, tensor<7xf32>) -> tensor<?x7xf32, #graph.dims<["batch", "7"]>>
// CHECK-NEXT: kernel.return %1 : tensor<?x7xf32, #graph.dims<["batch", "7"]>>

// -----

func.func @softmax_shares_its_rows(%x: tensor<3x?x7xf32, #graph.dims<["3", "batch", "7"]>>) -> tensor<3x?x7xf32, #graph.dims<["3", "batch", "7"]>> {
  %0 = graph.reduce "max"(%x) {axes = array<i64: 2>, keepdims = true, graph.node = ["/softmax"]} : (tensor<3x?x7xf32, #graph.dims<["3", "batch", "7"]>>) -> tensor<3x?x1xf32, #graph.dims<["3", "batch", "1"]>>
  %1 = graph.map "exp(x0 - x1)"(%x, %0) {graph.node = ["/softmax"]} : (tensor<3x?x7xf32, #graph.dims<["3", "batch", "7"]>>, tensor<3x?x1xf32, #graph.dims<["3", "batch", "1"]>>) -> tensor<3x?x7xf32, #graph.dims<["3", "batch", "7"]>>
  %2 = graph.reduce "add"(%1) {axes = array<i64: 2>, keepdims = true, graph.node = ["/softmax"]} : (tensor<3x?x7xf32, #graph.dims<["3", "batch", "7"]>>) -> tensor<3x?x1xf32, #graph.dims<["3", "batch", "1"]>>
  %3 = graph.map "x0 / x1"(%1, %2) {graph.node = ["/softmax"]} : (tensor<3x?x7xf32, #graph.dims<["3", "batch", "7"]>>, tensor<3x?x1xf32, #graph.dims<["3", "batch", "1"]>>) -> tensor<3x?x7xf32, #graph.dims<["3", "batch", "7"]>>
  func.return %3 : tensor<3x?x7xf32, #graph.dims<["3", "batch", "7"]>>
}

// CHECK:      func.func @softmax_shares_its_rows(%x: tensor<3x?x7xf32, #graph.dims<["3", "batch", "7"]>>) -> tensor<3x?x7xf32, #graph.dims<["3", "batch", "7"]>> {
// CHECK-NEXT: %0 = kernel.call @reduce_0(%x) {graph.node = ["/softmax"]} : (tensor<3x?x7xf32, #graph.dims<["3", "batch", "7"]>>) -> tensor<3x?x7xf32, #graph.dims<["3", "batch", "7"]>>
// CHECK-NEXT: func.return %0 : tensor<3x?x7xf32, #graph.dims<["3", "batch", "7"]>>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @reduce_0(%x: tensor<3x?x7xf32, #graph.dims<["3", "batch", "7"]>>) -> tensor<3x?x7xf32, #graph.dims<["3", "batch", "7"]>> {
// CHECK-NEXT: %0 = graph.reduce "max"(%x) {graph.node = ["/softmax"], axes = array<i64: 2>, keepdims = true} : (tensor<3x?x7xf32, #graph.dims<["3", "batch", "7"]>>) -> tensor<3x?x1xf32, #graph.dims<["3", "batch", "1"]>>
// CHECK-NEXT: %1 = graph.map "exp(x0 - x1)"(%x, %0) {graph.node = ["/softmax"]} : (tensor<3x?x7xf32, #graph.dims<["3", "batch", "7"]>>, tensor<3x?x1xf32, #graph.dims<["3", "batch", "1"]>>) -> tensor<3x?x7xf32, #graph.dims<["3", "batch", "7"]>>
// CHECK-NEXT: %2 = graph.reduce "add"(%1) {graph.node = ["/softmax"], axes = array<i64: 2>, keepdims = true} : (tensor<3x?x7xf32, #graph.dims<["3", "batch", "7"]>>) -> tensor<3x?x1xf32, #graph.dims<["3", "batch", "1"]>>
// CHECK-NEXT: %3 = graph.map "x0 / x1"(%1, %2) {graph.node = ["/softmax"]} : (tensor<3x?x7xf32, #graph.dims<["3", "batch", "7"]>>, tensor<3x?x1xf32, #graph.dims<["3", "batch", "1"]>>) -> tensor<3x?x7xf32, #graph.dims<["3", "batch", "7"]>>
// CHECK-NEXT: kernel.return %3 : tensor<3x?x7xf32, #graph.dims<["3", "batch", "7"]>>

// -----

func.func @two_contractions_are_two_kernels(%x: tensor<3x5xf32>, %w: tensor<5x7xf32>, %v: tensor<7x2xf32>) -> tensor<3x2xf32> {
  %0 = graph.contract "mk,kn->mn"(%x, %w) : (tensor<3x5xf32>, tensor<5x7xf32>) -> tensor<3x7xf32>
  %1 = graph.contract "mk,kn->mn"(%0, %v) : (tensor<3x7xf32>, tensor<7x2xf32>) -> tensor<3x2xf32>
  func.return %1 : tensor<3x2xf32>
}

// CHECK:      %0 = kernel.call @contract_0(%x, %w) : (tensor<3x5xf32>, tensor<5x7xf32>) -> tensor<3x7xf32>
// CHECK-NEXT: %1 = kernel.call @contract_1(%0, %v) : (tensor<3x7xf32>, tensor<7x2xf32>) -> tensor<3x2xf32>
// CHECK:      kernel.func @contract_0(%x: tensor<3x5xf32>, %w: tensor<5x7xf32>) -> tensor<3x7xf32> {
// CHECK:      kernel.return %0 : tensor<3x7xf32>
// CHECK:      kernel.func @contract_1(%0: tensor<3x7xf32>, %v: tensor<7x2xf32>) -> tensor<3x2xf32> {
// CHECK:      kernel.return %1 : tensor<3x2xf32>

// -----

func.func @no_cycle_of_kernels(%x: tensor<3x5xf32>, %w: tensor<5x5xf32>, %v: tensor<5x5xf32>) -> tensor<3x5xf32> {
  %0 = graph.contract "mk,kn->mn"(%x, %w) : (tensor<3x5xf32>, tensor<5x5xf32>) -> tensor<3x5xf32>
  %1 = graph.contract "mk,kn->mn"(%0, %v) : (tensor<3x5xf32>, tensor<5x5xf32>) -> tensor<3x5xf32>
  %2 = graph.map "x0 + x1"(%0, %1) : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return %2 : tensor<3x5xf32>
}

// CHECK:      %0 = kernel.call @contract_0(%x, %w) : (tensor<3x5xf32>, tensor<5x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: %1 = kernel.call @contract_1(%0, %v) : (tensor<3x5xf32>, tensor<5x5xf32>) -> tensor<3x5xf32>
// CHECK:      kernel.func @contract_0(%x: tensor<3x5xf32>, %w: tensor<5x5xf32>) -> tensor<3x5xf32> {
// CHECK-NEXT: %0 = graph.contract "mk,kn->mn"(%x, %w) : (tensor<3x5xf32>, tensor<5x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: kernel.return %0 : tensor<3x5xf32>
// CHECK:      kernel.func @contract_1(%0: tensor<3x5xf32>, %v: tensor<5x5xf32>) -> tensor<3x5xf32> {
// CHECK-NEXT: %1 = graph.contract "mk,kn->mn"(%0, %v) : (tensor<3x5xf32>, tensor<5x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: %2 = graph.map "x0 + x1"(%0, %1) : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: kernel.return %2 : tensor<3x5xf32>

// -----

func.func @padding_is_read_by_another_kernel(%x: tensor<3x5xf32>) -> tensor<3x8xf32> {
  %0 = graph.pad(%x) {low = ["0", "1"], high = ["0", "2"], interior = array<i64: 0, 0>, value = "0"} : (tensor<3x5xf32>) -> tensor<3x8xf32>
  %1 = graph.map "exp(x0)"(%0) : (tensor<3x8xf32>) -> tensor<3x8xf32>
  func.return %1 : tensor<3x8xf32>
}

// CHECK:      %0 = kernel.call @pad_0(%x) : (tensor<3x5xf32>) -> tensor<3x8xf32>
// CHECK-NEXT: %1 = kernel.call @map_1(%0) : (tensor<3x8xf32>) -> tensor<3x8xf32>
// CHECK:      kernel.func @pad_0(%x: tensor<3x5xf32>) -> tensor<3x8xf32> {
// CHECK-NEXT: %0 = graph.pad(%x) {low = ["0", "1"], high = ["0", "2"], interior = array<i64: 0, 0>, value = "0"} : (tensor<3x5xf32>) -> tensor<3x8xf32>
// CHECK-NEXT: kernel.return %0 : tensor<3x8xf32>
// CHECK:      kernel.func @map_1(%0: tensor<3x8xf32>) -> tensor<3x8xf32> {
// CHECK-NEXT: %1 = graph.map "exp(x0)"(%0) : (tensor<3x8xf32>) -> tensor<3x8xf32>
// CHECK-NEXT: kernel.return %1 : tensor<3x8xf32>

// -----

func.func @into_the_middle_of_a_pad(%x: tensor<3x5xf32>, %w: tensor<5x7xf32>) -> (tensor<4x9xf32>, tensor<3x7xf32>) {
  %0 = graph.contract "mk,kn->mn"(%x, %w) {graph.node = ["/matmul"]} : (tensor<3x5xf32>, tensor<5x7xf32>) -> tensor<3x7xf32>
  %1 = graph.pad(%0) {graph.node = ["/pad"], low = ["0", "1"], high = ["1", "1"], interior = array<i64: 0, 0>, value = "0"} : (tensor<3x7xf32>) -> tensor<4x9xf32>
  %2 = graph.map "neg(x0)"(%0) {graph.node = ["/neg"]} : (tensor<3x7xf32>) -> tensor<3x7xf32>
  func.return %1, %2 : tensor<4x9xf32>, tensor<3x7xf32>
}

// CHECK:      func.func @into_the_middle_of_a_pad(%x: tensor<3x5xf32>, %w: tensor<5x7xf32>) -> (tensor<4x9xf32>, tensor<3x7xf32>) {
// CHECK-NEXT: %0, %1 = kernel.call @contract_0(%x, %w) {graph.node = ["/matmul", "/neg", "/pad"]} : (tensor<3x5xf32>, tensor<5x7xf32>) -> (tensor<3x7xf32>, tensor<4x9xf32>)
// CHECK-NEXT: func.return %1, %0 : tensor<4x9xf32>, tensor<3x7xf32>
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @contract_0(%x: tensor<3x5xf32>, %w: tensor<5x7xf32>) -> (tensor<3x7xf32>, tensor<4x9xf32>) {
// CHECK-NEXT: %0 = graph.contract "mk,kn->mn"(%x, %w) {graph.node = ["/matmul"]} : (tensor<3x5xf32>, tensor<5x7xf32>) -> tensor<3x7xf32>
// CHECK-NEXT: %1 = graph.map "neg(x0)"(%0) {graph.node = ["/neg"]} : (tensor<3x7xf32>) -> tensor<3x7xf32>
// CHECK-NEXT: %2 = graph.pad(%0) {graph.node = ["/pad"], low = ["0", "1"], high = ["1", "1"], interior = array<i64: 0, 0>, value = "0"} : (tensor<3x7xf32>) -> tensor<4x9xf32>
// CHECK-NEXT: kernel.return %1, %2 : tensor<3x7xf32>, tensor<4x9xf32>

// -----

// A gather fuses with the operators that compute its indices where each element has an index of its own; its table, and
// a gather of rows, stay apart.

func.func @lookup(%x: tensor<40xf32>, %t: tensor<9xf32>) -> tensor<40xf32> {
  %0 = graph.map "exp(x0)"(%t) {graph.node = ["/table"]} : (tensor<9xf32>) -> tensor<9xf32>
  %1 = graph.map "i32(floor(x0))"(%x) {graph.node = ["/at"]} : (tensor<40xf32>) -> tensor<40xi32>
  %2 = graph.compute "x0[min(max(x1[i0], 0), 8)]"(%0, %1) {graph.node = ["/read"], shape = ["40"], reduce = []} : (tensor<9xf32>, tensor<40xi32>) -> tensor<40xf32>
  %3 = graph.map "x0 * f32(x1)"(%2, %1) {graph.node = ["/times"]} : (tensor<40xf32>, tensor<40xi32>) -> tensor<40xf32>
  func.return %3 : tensor<40xf32>
}

// CHECK:      func.func @lookup
// CHECK-NEXT: kernel.call @map_0(%t) {graph.node = ["/table"]}
// CHECK-NEXT: kernel.call @map_1(%x, {{.*}}) {graph.node = ["/at", "/read", "/times"]}
// CHECK-NEXT: func.return

// -----

func.func @rows(%x: tensor<4xf32>, %t: tensor<9x5xf32>) -> tensor<4x5xf32> {
  %1 = graph.map "i32(floor(x0))"(%x) {graph.node = ["/at"]} : (tensor<4xf32>) -> tensor<4xi32>
  %2 = graph.compute "x0[min(max(x1[i0], 0), 8), i1]"(%t, %1) {graph.node = ["/read"], shape = ["4", "5"], reduce = []} : (tensor<9x5xf32>, tensor<4xi32>) -> tensor<4x5xf32>
  func.return %2 : tensor<4x5xf32>
}

// CHECK:      func.func @rows
// CHECK-NEXT: kernel.call @map_0(%x) {graph.node = ["/at"]}
// CHECK-NEXT: kernel.call @compute_1(%t, {{.*}}) {graph.node = ["/read"]}
