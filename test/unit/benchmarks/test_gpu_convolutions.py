"""The convolutions that the GPU benchmark measures: what they are compared with, and that a case keeps its numbers."""

from __future__ import annotations

import numpy as np

import mlc
from benchmarks.gpu.convolutions import CASES, CHAIN, in_float64, model


def test_the_reference_is_the_model() -> None:
    case = (2, 8, 5, 3)
    x = np.random.default_rng().standard_normal((2, 8, 5, 5)).astype(np.float16)
    with mlc.compile(model(case)) as net:
        found = net.run({"x": x})["y"]
    wanted = in_float64(case, x)
    assert found.shape == wanted.shape == (2, 8, 5, 5)
    np.testing.assert_allclose(found.astype(np.float64), wanted, rtol=0, atol=1e-2 * np.abs(wanted).max())


def test_values_stay_of_one_size_along_a_chain() -> None:
    """Else errors of the first convolutions would not be seen, or halves would overflow."""
    case = CASES["conv_1x64x56_3x3"]
    x = np.random.default_rng().standard_normal((1, *case[1:3], case[2])).astype(np.float16)
    assert CHAIN > 1 and 0.1 < np.sqrt(np.mean(in_float64(case, x) ** 2)) < 10
