"""Open dimensions of traced functions, under any name."""

from __future__ import annotations

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp


@pytest.mark.parametrize("name", ["n", "k", "m", "c", "i0", "int", "dim", "size0", "batch"])
def test_a_dimension_may_have_any_name(name: str) -> None:
    """Letters of products and iterators, words of C, names of run-time dimensions."""

    @mlc.jit(shapes={"x": (name, None)}, wait=True)
    def f(x, w):  # type: ignore[no-untyped-def]
        return mnp.tanh(x @ w), mlc.grad(lambda v: mnp.sum(mnp.tanh(x @ v)))(w), mnp.roll(x, 1, axis=0)

    random = np.random.default_rng()
    w = random.standard_normal((3, 2)).astype(np.float32)
    for rows in (4, 7):
        x = random.standard_normal((rows, 3)).astype(np.float32)
        y, gradient, rolled = map(np.asarray, f(x, w))
        np.testing.assert_allclose(y, np.tanh(x @ w), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(gradient, x.T @ (1 - np.tanh(x @ w) ** 2), rtol=1e-4, atol=1e-5)
        np.testing.assert_array_equal(rolled, np.roll(x, 1, 0))
    assert len(f.programs) == 1
