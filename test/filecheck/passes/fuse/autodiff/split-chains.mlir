// RUN: mlc-opt %s --for-target cuda:sm_80:l2_bytes=48K -p split-chains --split-input-file | filecheck %s --check-prefix SPLIT
// RUN: mlc-opt %s --for-target cuda:sm_80:l2_bytes=48K -p split-chains,form-kernels,lower-kernels,choose-gpu-schedule --split-input-file | filecheck %s --check-prefix SCHEDULE
// RUN: mlc-opt %s --for-target cuda:sm_80 -p split-chains --split-input-file | filecheck %s --check-prefix WHOLE
// RUN: mlc-opt %s --for-target x86-64-v3 -p split-chains --split-input-file | filecheck %s --check-prefix WHOLE

// A block of rows of %a steps over columns, one of columns of %b over rows: each has matrices of its own. It stays whole
// on a CPU, and on a GPU whose L2 holds an array of the matrices.

func.func @chain(%q: tensor<48x40x8xf32>, %k: tensor<48x8x24xf32>, %v: tensor<48x24x8xf32>, %g: tensor<48x40x8xf32>) -> (tensor<48x40x8xf32>, tensor<48x24x8xf32>) {
  %s = graph.contract "bmk,bkn->bmn"(%q, %k) {graph.node = ["/s"]} : (tensor<48x40x8xf32>, tensor<48x8x24xf32>) -> tensor<48x40x24xf32>
  %d = graph.contract "bmv,bnv->bmn"(%g, %v) {graph.node = ["/d"]} : (tensor<48x40x8xf32>, tensor<48x24x8xf32>) -> tensor<48x40x24xf32>
  %p = graph.map "tanh(x0) * x1"(%s, %d) {graph.node = ["/p"]} : (tensor<48x40x24xf32>, tensor<48x40x24xf32>) -> tensor<48x40x24xf32>
  %a = graph.contract "bmn,bnv->bmv"(%p, %v) {graph.node = ["/a"]} : (tensor<48x40x24xf32>, tensor<48x24x8xf32>) -> tensor<48x40x8xf32>
  %b = graph.contract "bmn,bmv->bnv"(%p, %g) {graph.node = ["/b"]} : (tensor<48x40x24xf32>, tensor<48x40x8xf32>) -> tensor<48x24x8xf32>
  func.return %a, %b : tensor<48x40x8xf32>, tensor<48x24x8xf32>
}

// -----

// 12 rows are too few for a thread block.

func.func @few(%q: tensor<48x12x8xf32>, %k: tensor<48x8x24xf32>, %v: tensor<48x24x8xf32>, %g: tensor<48x12x8xf32>) -> (tensor<48x12x8xf32>, tensor<48x24x8xf32>) {
  %s = graph.contract "bmk,bkn->bmn"(%q, %k) {graph.node = ["/s"]} : (tensor<48x12x8xf32>, tensor<48x8x24xf32>) -> tensor<48x12x24xf32>
  %d = graph.contract "bmv,bnv->bmn"(%g, %v) {graph.node = ["/d"]} : (tensor<48x12x8xf32>, tensor<48x24x8xf32>) -> tensor<48x12x24xf32>
  %p = graph.map "tanh(x0) * x1"(%s, %d) {graph.node = ["/p"]} : (tensor<48x12x24xf32>, tensor<48x12x24xf32>) -> tensor<48x12x24xf32>
  %a = graph.contract "bmn,bnv->bmv"(%p, %v) {graph.node = ["/a"]} : (tensor<48x12x24xf32>, tensor<48x24x8xf32>) -> tensor<48x12x8xf32>
  %b = graph.contract "bmn,bmv->bnv"(%p, %g) {graph.node = ["/b"]} : (tensor<48x12x24xf32>, tensor<48x12x8xf32>) -> tensor<48x24x8xf32>
  func.return %a, %b : tensor<48x12x8xf32>, tensor<48x24x8xf32>
}

// -----

// Of halves each kernel rounds what it sums. Rows of a block are those of the sums, so that matrices are their left
// factors in registers: m, and in the second kernel n.

func.func @halves(%q: tensor<48x40x16xf16>, %k: tensor<48x16x32xf16>, %v: tensor<48x32x16xf16>, %g: tensor<48x40x16xf16>) -> (tensor<48x40x16xf16>, tensor<48x32x16xf16>) {
  %s = graph.contract "bmk,bkn->bmn"(%q, %k) {graph.node = ["/s"], product = "f32(x0) * f32(x1)"} : (tensor<48x40x16xf16>, tensor<48x16x32xf16>) -> tensor<48x40x32xf32>
  %d = graph.contract "bmv,bnv->bmn"(%g, %v) {graph.node = ["/d"], product = "f32(x0) * f32(x1)"} : (tensor<48x40x16xf16>, tensor<48x32x16xf16>) -> tensor<48x40x32xf32>
  %p = graph.map "f16(tanh(x0) * x1)"(%s, %d) {graph.node = ["/p"]} : (tensor<48x40x32xf32>, tensor<48x40x32xf32>) -> tensor<48x40x32xf16>
  %a = graph.contract "bmn,bnv->bmv"(%p, %v) {graph.node = ["/a"], product = "f32(x0) * f32(x1)"} : (tensor<48x40x32xf16>, tensor<48x32x16xf16>) -> tensor<48x40x16xf32>
  %b = graph.contract "bmn,bmv->bnv"(%p, %g) {graph.node = ["/b"], product = "f32(x0) * f32(x1)"} : (tensor<48x40x32xf16>, tensor<48x40x16xf16>) -> tensor<48x32x16xf32>
  %y = graph.map "f16(x0)"(%a) {graph.node = ["/y"]} : (tensor<48x40x16xf32>) -> tensor<48x40x16xf16>
  %z = graph.map "f16(x0)"(%b) {graph.node = ["/z"]} : (tensor<48x32x16xf32>) -> tensor<48x32x16xf16>
  func.return %y, %z : tensor<48x40x16xf16>, tensor<48x32x16xf16>
}

// SPLIT-LABEL: func.func @chain
// SPLIT-NEXT:  %s = graph.contract "bmk,bkn->bmn"(%q, %k)
// SPLIT-NEXT:  %s_1 = graph.contract "bmk,bkn->bmn"(%q, %k)
// SPLIT-NEXT:  %d = graph.contract "bmv,bnv->bmn"(%g, %v)
// SPLIT-NEXT:  %d_1 = graph.contract "bmv,bnv->bmn"(%g, %v)
// SPLIT-NEXT:  %p = graph.map "tanh(x0) * x1"(%s, %d)
// SPLIT-NEXT:  %p_1 = graph.map "tanh(x0) * x1"(%s_1, %d_1)
// SPLIT-NEXT:  %a = graph.contract "bmn,bnv->bmv"(%p, %v)
// SPLIT-NEXT:  %b = graph.contract "bmn,bmv->bnv"(%p_1, %g)
// SPLIT-LABEL: func.func @few
// SPLIT:       %a = graph.contract "bmn,bnv->bmv"(%p, %v)
// SPLIT-NEXT:  %b = graph.contract "bmn,bmv->bnv"(%p, %g)

// SPLIT-LABEL: func.func @halves
// SPLIT:       %p_1 = graph.map "f16(tanh(x0) * x1)"(%s_1, %d_1)
// SPLIT-NEXT:  %a = graph.contract "bmn,bnv->bmv"(%p, %v)
// SPLIT-NEXT:  %b = graph.contract "bmn,bmv->bnv"(%p_1, %g)
// SPLIT-NEXT:  %y = graph.map "f16(x0)"(%a)
// SPLIT-NEXT:  %z = graph.map "f16(x0)"(%b)

// SCHEDULE-LABEL: func.func @chain
// SCHEDULE:      kernel.func @contract_0({{.*}}S0 | m@3t b@48 n@1s b m/14 n/24v | k & {{.*}} & contraction: S3 | m@3t b@48 n@1s b m/14 v/8v | n">}
// SCHEDULE:      kernel.func @contract_1({{.*}}S0 | n@1t b@48 m@1s b m/40 n/24v | k & {{.*}} & contraction: S3 | n@1t b@48 m@1s b n/24 v/8v | m">}
// SCHEDULE-LABEL: func.func @few
// SCHEDULE:      kernel.func @contract_0({{.*}}schedule = #poly.schedule<"contraction: S0 | b m/8p n/32vp | k">}

// SCHEDULE-LABEL: func.func @halves
// SCHEDULE:      kernel.func @contract_0({{.*}}S0 | m@3t b@48 n@1s b m/14 n/32v | k/16 | warps=1x1 mma=m16n8k16 depth=2 & {{.*}} & contraction: S3 | m@3t b@48 n@1s b m/14 v/16v | n/32 & elementwise: S4 | m@3t b@48 b m/14 v/16v | ">}
// SCHEDULE:      kernel.func @contract_1({{.*}}S0 | n@2t b@48 m@1s b n/16 m/40v | k/16 | warps=1x1 mma=m16n8k16 depth=2 & {{.*}} & contraction: S3 | n@2t b@48 m@1s b n/16 v/16v | m/64 & elementwise: S4 | n@2t b@48 b n/16 v/16v | ">}

// WHOLE-LABEL: func.func @chain
// WHOLE:       %a = graph.contract "bmn,bnv->bmv"(%p, %v)
// WHOLE-NEXT:  %b = graph.contract "bmn,bmv->bnv"(%p, %g)
