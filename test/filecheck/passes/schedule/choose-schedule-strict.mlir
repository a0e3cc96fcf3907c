// RUN: mlc-opt %s -p 'lower-kernels,choose-schedule{numerics=strict}' | filecheck %s

// About as many terms in a block as there are blocks; by default 128.

kernel.func @short(%a: tensor<28x1100xf32>, %b: tensor<1100x64xf32>) -> tensor<28x64xf32> {
  %0 = graph.contract "mk,kn->mn"(%a, %b) : (tensor<28x1100xf32>, tensor<1100x64xf32>) -> tensor<28x64xf32>
  kernel.return %0 : tensor<28x64xf32>
}

// CHECK: kernel.func @short{{.*}}schedule = #poly.schedule<"contraction: S0 | {{.*}} | k/32s">

kernel.func @long(%a: tensor<28x4608xf32>, %b: tensor<4608x64xf32>) -> tensor<28x64xf32> {
  %0 = graph.contract "mk,kn->mn"(%a, %b) : (tensor<28x4608xf32>, tensor<4608x64xf32>) -> tensor<28x64xf32>
  kernel.return %0 : tensor<28x64xf32>
}

// CHECK: kernel.func @long{{.*}}schedule = #poly.schedule<"contraction: S0 | {{.*}} | k/64s">

kernel.func @longest(%a: tensor<28x250880xf32>, %b: tensor<250880x64xf32>) -> tensor<28x64xf32> {
  %0 = graph.contract "mk,kn->mn"(%a, %b) : (tensor<28x250880xf32>, tensor<250880x64xf32>) -> tensor<28x64xf32>
  kernel.return %0 : tensor<28x64xf32>
}

// CHECK: kernel.func @longest{{.*}}schedule = #poly.schedule<"contraction: S0 | {{.*}} | k/128s">
