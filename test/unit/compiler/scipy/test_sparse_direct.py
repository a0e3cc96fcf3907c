"""Sparse systems by elimination beside dense ones in NumPy, SciPy's factors and finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.scipy import sparse
from mlc.scipy.sparse.ordering import bandwidths, narrow_order

Known = np.ndarray[Any, Any]


def drawn(name: str) -> Known:
    """A matrix whose band, in some order, is narrow: with pivots of 0, in a random order; or a full one."""
    rng = np.random.default_rng()
    if name == "full":
        return rng.standard_normal((9, 9)) * (rng.random((9, 9)) < 0.4) + np.diag(1 + rng.random(9))
    n, reach = 40, {"tridiagonal": 1, "exchanges": 2, "shuffled": 1, "two parts": 1}[name]
    rows, columns = np.indices((n, n))
    a = np.where(np.abs(rows - columns) <= reach, rng.standard_normal((n, n)), 0)
    np.fill_diagonal(a, 1e-12 if name == "exchanges" else 4 + rng.random(n))
    if name == "two parts":
        a[20, 19] = a[19, 20] = 0
    order = rng.permutation(n) if name in ("shuffled", "two parts") else np.arange(n)
    return a[order][:, order]


MATRICES = ["full", "exchanges", "two parts"]


def near(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-9 * max(1, np.abs(wanted).max()))


@pytest.mark.parametrize("name", MATRICES)
def test_solutions_and_derivatives(name: str) -> None:
    dense, rng = drawn(name), np.random.default_rng()
    a, n = sparse.csr_array(dense), len(dense)
    b, weights, along = (
        rng.standard_normal(n),
        rng.standard_normal(n),
        (rng.standard_normal(a.nnz), rng.standard_normal(n)),
    )
    rows, columns = map(np.asarray, a.coords)
    solve = lambda values, b: sparse.linalg.spsolve(a.with_data(values), b)  # noqa: E731
    x, dual = np.linalg.solve(dense, b), np.linalg.solve(dense.T, weights)
    found, slopes = mlc.jit(lambda v, b: (solve(v, b), mlc.grad(lambda v, b: solve(v, b) @ weights, (0, 1))(v, b)))(
        a.data, b
    )
    near(found, x)
    near(slopes[0], -dual[rows] * x[columns])
    near(slopes[1], dual)
    change = np.zeros_like(dense)
    change[rows, columns] = along[0]
    near(mlc.jvp(solve, (a.data, mnp.asarray(b)), tuple(map(mnp.asarray, along)))[1],
         np.linalg.solve(dense, along[1] - change @ x))  # fmt: skip


def test_factors_solve_for_many_right_sides() -> None:
    dense, rng = drawn("shuffled"), np.random.default_rng()
    b = rng.standard_normal((40, 3))
    factors = sparse.linalg.splu(sparse.csc_array(dense))
    near(factors.solve(b), np.linalg.solve(dense, b))
    near(factors.solve(b, trans="T"), np.linalg.solve(dense.T, b))
    near(mlc.jit(lambda lu, b: lu.solve(b))(factors, b[:, 0]), np.linalg.solve(dense, b[:, 0]))
    near(mlc.vmap(sparse.linalg.factorized(sparse.csr_array(dense)))(b.T), np.linalg.solve(dense, b).T)
    values = np.stack([np.asarray(factors.data), 2 * np.asarray(factors.data)])
    kept = sparse.csc_array(dense)
    batch = mlc.vmap(lambda v: sparse.linalg.spsolve(kept.with_data(v), b[:, 0]))(values)
    near(batch[1] * 2, batch[0])


def test_second_derivatives_by_finite_differences() -> None:
    dense = drawn("tridiagonal")
    a, b = sparse.csr_array(dense), np.random.default_rng().standard_normal(40)

    def loss(scale: Any) -> Any:
        return mnp.sum(sparse.linalg.spsolve(a.with_data(a.data + scale * mnp.sin(a.data)), scale * b) ** 3)

    slope, h = mlc.jit(mlc.grad(loss)), 1e-5
    second = float(mlc.jit(mlc.grad(mlc.grad(loss)))(np.float64(0.7)))
    wanted = (float(slope(np.float64(0.7 + h))) - float(slope(np.float64(0.7 - h)))) / (2 * h)
    np.testing.assert_allclose(second, wanted, rtol=1e-6)
    np.testing.assert_allclose(
        slope(np.float64(0.7)), (float(loss(0.7 + h)) - float(loss(0.7 - h))) / (2 * h), rtol=1e-6
    )


def test_beside_scipy() -> None:
    linalg = pytest.importorskip("scipy.sparse.linalg")
    scipy_sparse = pytest.importorskip("scipy.sparse")
    grid = scipy_sparse.diags_array([-1.0, 2.1, -1.0], offsets=[-1, 0, 1], shape=(9, 9))
    whole = scipy_sparse.csc_array(scipy_sparse.kronsum(grid, grid))
    b = np.random.default_rng().standard_normal(81)
    near(sparse.linalg.spsolve(sparse.csc_array(whole), b), linalg.spsolve(whole, b))
    single = sparse.linalg.spsolve(sparse.csc_array(whole.astype(np.float32)), b.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, linalg.spsolve(whole, b), rtol=1e-3, atol=1e-4)


def test_the_order_of_a_shuffled_band_is_as_narrow_as_the_band() -> None:
    rows, columns = np.nonzero(drawn("shuffled"))
    assert bandwidths(narrow_order(rows, columns, 40), rows, columns) == (1, 1)
    assert max(bandwidths(np.arange(40), rows, columns)) > 10


def test_what_is_refused() -> None:
    square = sparse.csr_array(np.eye(3))
    with pytest.raises(InputError, match="no right side of shape \\[4\\]"):
        sparse.linalg.spsolve(square, np.ones(4))
    with pytest.raises(InputError, match="of shape \\[2, 3\\] has no sparse factors.*square"):
        sparse.linalg.splu(sparse.csr_array(np.ones((2, 3))))
    with pytest.raises(InputError, match="trans='X'"):
        sparse.linalg.splu(square).solve(np.ones(3), trans="X")
    with pytest.raises(InputError, match="not known while a function is traced"):
        mlc.jit(sparse.linalg.spsolve)(square, np.ones(3))
