"""Compiled factors and triangular systems of matrices of any size, beside those of NumPy in f64: blocks, leaves and
what is left of both. One program serves all sizes of a type."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
import mlc.scipy

SIZES = [(3, 1, 1), (2, 7, 1), (1, 8, 5), (2, 9, 2), (1, 17, 33), (1, 40, 70), (1, 130, 1), (1, 150, 140)]
EXACT = {"float32": 2e-4, "float64": 1e-11}
dtypes = pytest.mark.parametrize("dtype", EXACT)


def random(dtype: str, *shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng().standard_normal(shape).astype(dtype)


def close(found: Any, wanted: np.ndarray[Any, Any], dtype: str) -> None:
    scale = np.abs(wanted).max(initial=1e-30)
    np.testing.assert_allclose(found.numpy() / scale, wanted / scale, rtol=0, atol=EXACT[dtype])


@dtypes
def test_solve_and_determinants(dtype: str) -> None:
    @mlc.jit(shapes={"a": ("count", "n", "n"), "b": ("count", "n", "m")}, wait=True)
    def both(a: Any, b: Any) -> Any:
        return mnp.linalg.solve(a, b), mnp.linalg.slogdet(a)

    for count, n, m in SIZES:
        a, b = random(dtype, count, n, n), random(dtype, count, n, m)
        x, (sign, logarithm) = both(a, b)
        wide = a.astype(float)
        residual = np.abs(wide @ x.numpy() - b) / (np.abs(wide) @ np.abs(x.numpy()) + np.abs(b))
        assert residual.max() < EXACT[dtype]
        wanted = np.linalg.slogdet(wide)
        np.testing.assert_array_equal(sign.numpy(), wanted[0])
        np.testing.assert_allclose(logarithm.numpy(), wanted[1], rtol=1e-3 if dtype == "float32" else 1e-9)


@dtypes
def test_cholesky_and_both_triangles(dtype: str) -> None:
    @mlc.jit(shapes={"a": ("count", "n", "n"), "b": ("count", "n", "m")}, wait=True)
    def every(a: Any, b: Any) -> Any:
        factor = mnp.linalg.cholesky(a)
        each = [(factor, True), (mnp.matrix_transpose(factor), False)]
        return factor, [
            mlc.scipy.linalg.solve_triangular(x, b, lower=lower, trans=trans, unit_diagonal=unit)
            for x, lower in each for trans in (0, 1) for unit in (False, True)
        ]  # fmt: skip

    for count, n, m in SIZES:
        root, b = random(dtype, count, n, n), random(dtype, count, n, m)
        a = root @ root.swapaxes(1, 2) / n + np.eye(n, dtype=dtype)
        factor, solutions = every(a, b)
        lower = np.linalg.cholesky(a.astype(float))
        close(factor, lower, dtype)
        diagonal = np.einsum("...ii->...i", lower)[:, None] * np.eye(n)
        unit = lower - diagonal + np.eye(n)
        upper, upper_unit = lower.swapaxes(1, 2), unit.swapaxes(1, 2)
        wanted = [lower, unit, upper, upper_unit, upper, upper_unit, lower, unit]
        for found, matrix in zip(solutions, wanted, strict=True):
            close(found, np.linalg.solve(matrix, b.astype(float)), dtype)


@dtypes
@pytest.mark.parametrize("n", [3, 40])
def test_what_is_not_positive_definite_is_nan_below_the_diagonal(dtype: str, n: int) -> None:
    a = np.stack([np.eye(n, dtype=dtype)] * 3)
    a[1, -1, -1] = -1
    found = mlc.jit(mnp.linalg.cholesky, wait=True)(a).numpy()
    np.testing.assert_array_equal(found[::2], a[::2])
    np.testing.assert_array_equal(found[1], np.where(np.tri(n, dtype=bool), np.nan, 0))


@pytest.mark.parametrize("n", [5, 60])
def test_singular_matrices_have_the_determinant_0(n: int) -> None:
    a = random("float64", n, n)
    a[:, n // 2] = 0
    sign, logarithm = mlc.jit(mnp.linalg.slogdet, wait=True)(a)
    assert (float(sign), float(logarithm)) == (0, -np.inf)
    assert float(mlc.jit(mnp.linalg.det, wait=True)(a)) == 0
