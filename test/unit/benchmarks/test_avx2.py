from __future__ import annotations

import numpy as np
import pytest

from benchmarks import limits
from benchmarks.avx2 import LAYERS, Ours, layer, numbers, quartiles, workload


@pytest.mark.parametrize(("name", "terms"), [("7x33x19", 33), ("gradient_9x40x17", 40)])
def test_products_compute_what_they_say(name: str, terms: int) -> None:
    flops, function, arrays = workload(name)
    run = Ours("x86-64-v3").run(function, *arrays)
    x = arrays[0].astype(np.float64)
    exact = x.T @ arrays[1] if name.startswith("gradient") else x @ numbers(33, 19, fan=33).astype(np.float64)
    np.testing.assert_allclose(np.asarray(run()), exact, rtol=0, atol=1e-5 * np.abs(exact).max())
    assert flops == 2 * terms * exact.size


def test_a_layer_ends_in_normalized_rows() -> None:
    y = np.asarray(Ours("haswell").run(layer(5, 16, 2), numbers(1, 5, 16))())
    np.testing.assert_allclose((y.mean(-1), y.std(-1)), (np.zeros((1, 5)), np.ones((1, 5))), atol=1e-3)
    assert workload("gpt2")[2][0].shape == (1, *LAYERS["gpt2"][:2])


def test_cores_with_avx2_keep_their_peers_to_it() -> None:
    assert limits.environment("znver3") == limits.environment("x86-64-v3") == limits.AVX2
    assert limits.environment("x86-64-v4") == limits.environment("cpu") == {}
    assert limits.unlimited(["torch", "onnxruntime"], "haswell") == ["onnxruntime"]


def test_each_library_has_a_time() -> None:
    assert all(0 <= seconds < 0.01 for seconds in quartiles([lambda: None, lambda: None], 3))
