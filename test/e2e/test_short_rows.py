"""Elementwise kernels on rows shorter than a vector, which become one row, beside NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp


@pytest.mark.parametrize("shape", [(7, 5, 13, 3), (64, 12, 3, 3), (3, 401, 2), (1, 600, 1, 3), (19, 37, 1), (2, 3, 5)])
@pytest.mark.parametrize("threads", [1, 3])
def test_rows(shape: tuple[int, ...], threads: int) -> None:
    random = np.random.default_rng()
    x, y = (random.normal(size=shape).astype(np.float32) for _ in range(2))
    found = mlc.jit(lambda x, y: (x * 2 + y, mnp.maximum(x, y) - x), threads=threads)(x, y)
    np.testing.assert_allclose(found[0], x * 2 + y, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(found[1], np.maximum(x, y) - x)
