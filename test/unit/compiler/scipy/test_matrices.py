"""Structured matrices and functions of matrices of ``mlc.scipy.linalg``: what defines each one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
import mlc.scipy.linalg as la
from mlc.errors import InputError

Array = np.ndarray[Any, Any]


def normal(*shape: int) -> Array:
    return np.random.default_rng().standard_normal(shape)


def positive(n: int) -> Array:
    x = normal(n, n)
    return x @ x.T + np.eye(n)


def test_matrices_by_their_elements() -> None:
    c, r = normal(4), normal(3)
    first = np.array([[c[i - j] if i >= j else r[j - i] for j in range(3)] for i in range(4)])
    np.testing.assert_array_equal(la.toeplitz(c, r), first)
    other = np.array([[c[i + j] if i + j < 4 else r[i + j - 3] for j in range(3)] for i in range(4)])
    np.testing.assert_array_equal(la.hankel(c, r), other)
    np.testing.assert_array_equal(la.circulant(c), [[c[(i - j) % 4] for j in range(4)] for i in range(4)])
    np.testing.assert_allclose(la.hilbert(3), 1 / (np.add.outer(np.arange(3), np.arange(3)) + 1), rtol=1e-6)
    signs = np.asarray(la.hadamard(8))
    np.testing.assert_array_equal(signs @ signs.T, 8 * np.eye(8))
    np.testing.assert_allclose(
        np.asarray(la.dft(5)) @ c.repeat(2)[:5], np.fft.fft(c.repeat(2)[:5]), rtol=1e-5, atol=1e-5
    )
    np.testing.assert_allclose(np.poly(np.asarray(la.companion(c))), c / c[0], rtol=1e-9)
    whole = np.asarray(la.block_diag(first, r, other))
    assert whole.shape == (9, 9)
    np.testing.assert_array_equal(whole[4], [0, 0, 0, *r, 0, 0, 0])
    with pytest.raises(InputError, match="power of two"):
        la.hadamard(6)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize(("size", "n"), [(3, 5), (5, 3), (4, 4)])
def test_convolution_matrix_times_a_vector(mode: str, size: int, n: int) -> None:
    a, x = normal(size), normal(n)
    np.testing.assert_allclose(np.asarray(la.convolution_matrix(a, n, mode)) @ x, np.convolve(a, x, mode), atol=1e-12)


def test_factors_and_functions() -> None:
    a, p, b = normal(4, 4), positive(4), normal(4, 2)
    u, h = map(np.asarray, la.polar(a))
    np.testing.assert_allclose(u @ h, a, atol=1e-12)
    np.testing.assert_allclose(u.T @ u, np.eye(4), atol=1e-12)
    root, log = np.asarray(la.sqrtm(p)), la.logm(p)
    np.testing.assert_allclose(root @ root, p, atol=1e-9)
    np.testing.assert_allclose(la.funm(log, mnp.exp), p, atol=1e-9)
    x = np.asarray(la.solve_sylvester(a, p, a @ p))
    np.testing.assert_allclose(a @ x + x @ p, a @ p, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(la.solve(np.triu(p), b, assume_a="pos"), np.linalg.solve(p, b), rtol=1e-9)
    values, vectors = map(np.asarray, la.eigh(p, p + np.eye(4)))
    np.testing.assert_allclose(p @ vectors, (p + np.eye(4)) @ vectors * values, atol=1e-9)
    np.testing.assert_allclose(np.asarray(la.cholesky(p)).T, np.linalg.cholesky(p), rtol=1e-9)
    d = normal(5)
    dense = np.diag(d) + np.diag(d[1:], 1) + np.diag(d[1:], -1)
    np.testing.assert_allclose(la.eigh_tridiagonal(d, d[1:], eigvals_only=True), np.linalg.eigvalsh(dense), atol=1e-12)


def test_gradient_of_a_square_root() -> None:
    """Of the trace of √A: half of its inverse."""
    p = positive(3)
    found = mlc.grad(lambda p: mnp.real(mnp.trace(la.sqrtm(p))))(mnp.asarray(p))
    root = np.asarray(la.sqrtm(p)).real
    np.testing.assert_allclose(found, 0.5 * np.linalg.inv(root).T, rtol=1e-6)
