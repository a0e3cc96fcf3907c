"""Tables of the tests that take long."""

from __future__ import annotations

from pathlib import Path

FAST = [Path(__file__).parent / folder for folder in ("filecheck", "unit")]
SLOW = {
    "test_array_functions", "test_artifact", "test_background", "test_beside_optax", "test_beside_torch",
    "test_build", "test_c_runtime", "test_candidates", "test_common_functions", "test_comparison", "test_compute",
    "test_contributed_shapes", "test_control", "test_control_derivatives", "test_custom_derivatives",
    "test_dims_of_indices", "test_divisions", "test_donation", "test_external_libraries", "test_extreme_values",
    "test_fourier_functions", "test_gathers", "test_gpu_calibration", "test_gpu_shared_tiles",
    "test_graph_pipeline", "test_growth_of_work", "test_halves", "test_hostile_arguments", "test_isl_limit",
    "test_jit", "test_large_graphs", "test_linear_algebra", "test_linear_algebra_derivatives", "test_loading",
    "test_long_sums", "test_microsoft", "test_microsoft_attention", "test_microsoft_quantized", "test_ml",
    "test_ml_forests", "test_ml_maps", "test_ml_svm", "test_ml_trees", "test_namespace_derivatives", "test_narrow",
    "test_onnx_function", "test_open_dims", "test_operator_derivatives", "test_pack_quantized_weights",
    "test_partial_vectors", "test_plan_memory", "test_quantization_forms", "test_random_kernels", "test_random_keys",
    "test_random_schedules",
    "test_round_trip", "test_row_reductions", "test_same_bits", "test_sanitized_call", "test_sanitizers",
    "test_shared_derivatives", "test_shared_functions", "test_shared_norms", "test_single_operators",
    "test_sorting", "test_stateful", "test_tokenizer", "test_toolchain", "test_torch_backend", "test_torch_common",
    "test_torch_control", "test_torch_edges", "test_torch_elementwise", "test_torch_function", "test_torch_layers",
    "test_torch_programs", "test_torch_state", "test_torch_tensors", "test_torch_ties", "test_torch_training",
    "test_trainer", "test_training_losses", "test_vector_math", "test_vectors", "test_vmap",
    "test_beside_onnxruntime", "test_generate", "test_mixed_models", "test_quantized_training",
}  # fmt: skip
"""Files of these folders that took over three seconds of CPU time: most of them compile many kernels."""


FIRST = {
    "test_mutated_models", "test_sanitized_hosts", "test_sanitized_runs", "test_sessions", "test_training_examples",
}  # fmt: skip
"""Files with the longest tests. They begin first, so that no worker is left with one at the end."""
