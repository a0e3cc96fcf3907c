"""Settings of the whole suite."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from optimization import unoptimized
from runtime_objects import runtime_objects
from seeds import (
    pytest_addoption,
    pytest_configure,
    pytest_fixture_setup,
    pytest_make_collect_report,
    pytest_report_header,
    pytest_runtest_call,
    pytest_runtest_makereport,
)
from surroundings import usual_surroundings
from watchdog import limit_calls

from mlc.runtime import memory

__all__ = [
    "pytest_addoption", "pytest_configure", "pytest_fixture_setup", "pytest_make_collect_report",
    "pytest_report_header", "pytest_runtest_call", "pytest_runtest_makereport", "runtime_objects",
    "pytest_sessionstart", "pytest_collection_modifyitems",
]  # fmt: skip


def pytest_sessionstart() -> None:
    usual_surroundings()
    limit_calls()


# How long an example takes depends on what else the machine does.
settings.register_profile("mlc", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("mlc")


@pytest.fixture(autouse=True, scope="session")
def temporary_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What mlc and commands leave in the folder of temporary files, as reproducers, goes with those of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(tmp_path_factory.mktemp("temporary")))
        patch.setattr(tempfile, "tempdir", None)
        yield


@pytest.fixture
def no_memory_kept() -> Iterator[None]:
    """Nothing is there from outputs of other tests, and nothing stays."""
    memory._free.clear()
    yield
    memory._free.clear()


@pytest.fixture(autouse=True, scope="module")
def level_of_optimization(request: pytest.FixtureRequest) -> Iterator[None]:
    """No optimization by the C compiler for the tests of ``UNOPTIMIZED``."""
    with pytest.MonkeyPatch.context() as patch:
        if unoptimized(request.path):
            patch.setenv("MLC_CFLAGS", "-O0")
        yield


FAST = [Path(__file__).parent / folder for folder in ("filecheck", "unit")]
SLOW = {
    "test_array_functions", "test_artifact", "test_background", "test_beside_optax", "test_beside_torch",
    "test_build", "test_c_runtime",
    "test_candidates", "test_comparison", "test_control_derivatives",
    "test_contributed_shapes", "test_control", "test_divisions", "test_external_libraries", "test_extreme_values",
    "test_fourier_functions", "test_gpu_calibration",
    "test_custom_derivatives", "test_gathers", "test_tokenizer",
    "test_graph_pipeline", "test_growth_of_work", "test_halves", "test_isl_limit", "test_jit", "test_large_graphs",
    "test_linear_algebra",
    "test_loading", "test_microsoft", "test_microsoft_attention", "test_microsoft_quantized", "test_ml",
    "test_ml_maps", "test_ml_svm", "test_ml_trees", "test_namespace_derivatives", "test_narrow", "test_onnx_function",
    "test_operator_derivatives",
    "test_pack_quantized_weights", "test_partial_vectors", "test_plan_memory", "test_random_kernels",
    "test_random_keys", "test_training_losses",
    "test_random_schedules", "test_round_trip",
    "test_sanitized_call", "test_sanitizers", "test_single_operators", "test_sorting",
    "test_toolchain", "test_trainer", "test_torch_backend", "test_torch_elementwise", "test_torch_layers",
    "test_torch_control", "test_torch_function", "test_torch_programs", "test_torch_state", "test_torch_tensors",
    "test_torch_training", "test_torch_edges", "test_torch_ties", "test_torch_common",
    "test_same_bits", "test_common_functions", "test_long_sums", "test_shared_derivatives", "test_shared_norms",
    "test_vector_math", "test_vectors", "test_vmap",
}  # fmt: skip
"""Files of these folders that took over three seconds of CPU time: most of them compile many kernels."""


FIRST = {
    "test_mutated_models", "test_sanitized_hosts", "test_sanitized_runs", "test_sessions", "test_training_examples",
}  # fmt: skip
"""Files with the longest tests. They begin first, so that no worker is left with one at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """``-m fast``: lit and unit tests without the slow ones, for the inner loop."""
    items.sort(key=lambda item: item.path.stem not in FIRST)
    for item in items:
        if item.path.stem not in SLOW and any(item.path.is_relative_to(folder) for folder in FAST):
            item.add_marker("fast")
