"""Banded systems beside dense ones in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.scipy.linalg import solve_banded, solveh_banded

Known = np.ndarray[Any, Any]


def drawn(n: int, lower: int, upper: int) -> tuple[Known, Known]:
    """A band without a large diagonal, so that rows are exchanged, and the matrix."""
    ab = np.random.default_rng().standard_normal((lower + upper + 1, n))
    return ab, dense(ab, lower, upper)


def dense(ab: Known, lower: int, upper: int) -> Known:
    n = ab.shape[1]
    rows, columns = np.indices((n, n))
    at = upper + rows - columns
    inside = (at >= 0) & (at <= lower + upper)
    return np.where(inside, ab[np.clip(at, 0, lower + upper), columns], 0)


SIZES = [(9, 1, 1), (8, 2, 1), (8, 0, 2), (7, 3, 0), (6, 0, 0), (3, 2, 2), (1, 0, 0)]


@pytest.mark.parametrize("n, lower, upper", SIZES)
def test_solutions_are_those_of_the_dense_system(n: int, lower: int, upper: int) -> None:
    ab, a = drawn(n, lower, upper)
    b = np.random.default_rng().standard_normal((n, 3))
    found = mlc.jit(lambda ab, b: solve_banded((lower, upper), ab, b))(ab, b)
    np.testing.assert_allclose(found, np.linalg.solve(a, b), rtol=1e-7, atol=1e-9)
    one = solve_banded((lower, upper), ab, b[:, 0])
    np.testing.assert_allclose(one, np.linalg.solve(a, b[:, 0]), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("lower", [True, False])
def test_symmetric_bands(lower: bool) -> None:
    ab = np.random.default_rng().standard_normal((3, 7))
    ab[0 if lower else 2] += 6
    half = dense(ab, 2, 0) if lower else dense(ab, 0, 2)
    a = half + half.T - np.diag(half.diagonal())
    b = np.random.default_rng().standard_normal(7)
    np.testing.assert_allclose(solveh_banded(ab, b, lower=lower), np.linalg.solve(a, b), rtol=1e-10, atol=1e-12)


def test_gradients_and_batches() -> None:
    ab, a = drawn(6, 1, 2)
    b = np.random.default_rng().standard_normal(6)
    by_band, by_b = mlc.jit(mlc.grad(lambda ab, b: mnp.sum(solve_banded((1, 2), ab, b) ** 2), (0, 1)))(ab, b)
    x = np.linalg.solve(a, b)
    dual = np.linalg.solve(a.T, 2 * x)
    np.testing.assert_allclose(by_b, dual, rtol=1e-7, atol=1e-9)
    full = -np.outer(dual, x)
    inside = dense(np.ones_like(ab), 1, 2) != 0
    np.testing.assert_allclose(dense(np.asarray(by_band), 1, 2), np.where(inside, full, 0), rtol=1e-7, atol=1e-9)
    bands = np.stack([ab, 2 * ab])
    batch = mlc.vmap(lambda ab: solve_banded((1, 2), ab, b))(bands)
    np.testing.assert_allclose(batch, [x, x / 2], rtol=1e-7, atol=1e-9)


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match="ab \\[l \\+ u \\+ 1, n\\]"):
        solve_banded((1, 1), np.ones((2, 4)), np.ones(4))
