// RUN: mlc-opt %s --verify-diagnostics --split-input-file | filecheck %s

// Only declared facts may be on a kernel, and none may contradict another.

kernel.func @an_attribute_of_nobody() attributes {threads = 256 : i64} {
  kernel.return
}

// CHECK: kernel.func has no fact 'threads'; it has fusion, origin, work, parts

// -----

kernel.func @more_scratch_than_arguments(%a: memref<8xf32>) attributes {scratch = #kernel.scratch<arrays = 1, rows = 2, semaphores = 1>} {
  kernel.return
}

// CHECK: 2 arguments are scratch arrays and semaphores, of 1

// -----

kernel.func @no_such_argument(%a: memref<8xf32>) attributes {launch = #kernel.launch<aligned = [1]>} {
  kernel.return
}

// CHECK: there is no argument 1; the kernel has 1

// -----

kernel.func @no_parts(%a: memref<8xf32>) attributes {parts = 0 : i64} {
  kernel.return
}

// CHECK: a sum has 0 parts; it has at least one

// -----

kernel.func @more_compute_than_run() attributes {launch = #kernel.launch<computing = 256, launched = 128>} {
  kernel.return
}

// CHECK: 256 threads compute, but only 128 are launched

// -----

kernel.func @more_dynamic_than_shared() attributes {launch = #kernel.launch<shared = 16, dynamic = 32>} {
  kernel.return
}

// CHECK: 32 bytes of shared memory are dynamic, of 16

// -----

kernel.func @a_cluster_of_rows() attributes {launch = #kernel.launch<cluster = [2]>} {
  kernel.return
}

// CHECK: a cluster has rows and columns, each at least 1, not [2]

// -----

kernel.func @no_blocks() attributes {launch = #kernel.launch<grid = 0>} {
  kernel.return
}

// CHECK: a grid of 0 blocks; a launch has at least one

// -----

kernel.func @two_origins() attributes {origin = #kernel.origin<line = 1, tuned>} {
  kernel.return
}

// CHECK: a schedule has one origin

// -----

kernel.func @negative_work() attributes {work = #kernel.work<flops = -1>} {
  kernel.return
}

// CHECK: a kernel has -1 operations; the number is 0 or more

// -----

kernel.func @scratch_without_rows(%a: memref<8xf32>) attributes {scratch = #kernel.scratch<arrays = 1>} {
  kernel.return
}

// CHECK: 1 scratch arrays with None rows: both or none

// -----

kernel.func @no_steps(%n: index) {
  scf.for %i = %n to %n step %n {
  } {kernel.loop = #kernel.loop<staged = 0>}
  kernel.return
}

// CHECK: 0 steps are staged together; at least one is
