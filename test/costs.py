"""Tables of the tests that take long."""

from __future__ import annotations

from pathlib import Path

FAST = [Path(__file__).parent / folder for folder in ("filecheck", "unit")]
SLOW = {
    "test_array_functions", "test_artifact", "test_attacks", "test_augmentation", "test_background", "test_banded",
    "test_batched_operators", "test_beside_onnxruntime", "test_beside_optax", "test_beside_torch",
    "test_broken_compilers", "test_build", "test_c_runtime", "test_callbacks", "test_candidates", "test_coming_from",
    "test_common_functions", "test_comparison", "test_complex_arrays", "test_compute", "test_contributed_shapes",
    "test_control", "test_control_derivatives", "test_custom_derivatives", "test_data_dependent",
    "test_data_parallel", "test_declared_facts", "test_dims", "test_dims_of_indices", "test_divisions",
    "test_donation", "test_epochs", "test_external_libraries", "test_extreme_values", "test_forward",
    "test_fourier_functions", "test_gathers", "test_generate", "test_generation", "test_gpu_calibration",
    "test_gpu_shared_tiles", "test_graph_pipeline", "test_graph_sessions", "test_growth_of_work", "test_halves",
    "test_hostile_arguments", "test_index_updates", "test_integrate", "test_interpolate", "test_isl_limit",
    "test_jit", "test_jit_arguments", "test_known_kernels", "test_large_arguments", "test_large_graphs",
    "test_lazy_imports", "test_least_squares", "test_linear_algebra", "test_linear_algebra_derivatives",
    "test_loading", "test_long_sums", "test_matrices", "test_microsoft", "test_microsoft_attention",
    "test_microsoft_quantized", "test_mixed_models", "test_ml", "test_ml_forests", "test_ml_maps", "test_ml_svm",
    "test_ml_trees", "test_module", "test_more_optimizers", "test_namespace_derivatives", "test_narrow",
    "test_numpy_functions", "test_onnx_export", "test_onnx_function", "test_onnxruntime", "test_open_dims",
    "test_operator_derivatives", "test_optimize", "test_pack_quantized_weights", "test_partial_vectors",
    "test_pending", "test_plan_memory", "test_plans", "test_quantization_forms", "test_quantized_training",
    "test_random_kernels", "test_random_keys", "test_random_schedules", "test_replays", "test_round_trip",
    "test_row_reductions", "test_same_bits", "test_sanitized_call", "test_sanitizers", "test_shared_derivatives",
    "test_shared_functions", "test_shared_norms", "test_signal", "test_single_operators", "test_solve_ivp",
    "test_sorting", "test_sources", "test_sparse", "test_sparse_direct", "test_sparse_embeddings", "test_stateful",
    "test_threads", "test_tokenizer", "test_toolchain", "test_torch_backend", "test_torch_common",
    "test_torch_control", "test_torch_edges", "test_torch_elementwise", "test_torch_function", "test_torch_layers",
    "test_torch_programs", "test_torch_state", "test_torch_tensors", "test_torch_ties", "test_torch_training",
    "test_trainer", "test_training_losses", "test_vector_math", "test_vectors", "test_verify_each", "test_vmap",
    "test_zero",
}  # fmt: skip
"""Files of these folders that took over three seconds of CPU time: most of them compile many kernels."""


FIRST = {
    "test_mutated_models", "test_sanitized_hosts", "test_sanitized_runs", "test_sessions", "test_training_examples",
}  # fmt: skip
"""Files with the longest tests. They begin first, so that no worker is left with one at the end."""

EAGER = {"test_background", "test_eager"}
"""Files that test the compilation of what is evaluated line by line."""
