"""Norms, variances and searches on their edges, line by line and jitted: against NumPy, and known gradients."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp

INF, NAN = math.inf, math.nan
ROWS = np.float32([[0, 0, 0], [3, -4, 0], [INF, 1, 2], [NAN, 1, 2], [-INF, NAN, 0], [1e-3, 2, -5]])


def both(f: Callable[..., Any], *given: np.ndarray) -> list[np.ndarray]:
    """The result line by line, and of compiled code."""
    return [np.asarray(f(*map(mnp.asarray, given))), np.asarray(mlc.jit(f, wait=True)(*given))]


@pytest.mark.parametrize("order", [0, 1, 2, 3, 2.5, 0.5, INF, -INF, -1])
def test_vector_norm(order: float) -> None:
    with np.errstate(all="ignore"):
        expected = np.linalg.norm(ROWS.astype(np.float64), axis=1, ord=order)
    for found in both(lambda x: mnp.linalg.vector_norm(x, axis=1, ord=order), ROWS):
        np.testing.assert_allclose(found, expected, rtol=2e-6)
    if order >= 0:
        gradient = mlc.grad(lambda x: mnp.sum(mnp.linalg.vector_norm(x, axis=1, ord=order)))
        for found in both(gradient, ROWS[:1]):
            np.testing.assert_array_equal(found, 0)


@pytest.mark.parametrize("correction", [0, 1, 2, 3, 5, 0.5])
@pytest.mark.parametrize("name", ["var", "std"])
def test_variances_of_few_elements(name: str, correction: float) -> None:
    rows = np.float32([[1, 2, 4], [2, 2, 2], [0, -3, 7]])
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(rows, axis=1, ddof=correction)
    for found in both(lambda x: getattr(mnp, name)(x, axis=1, correction=correction), rows):
        np.testing.assert_allclose(found, expected, rtol=2e-6)


@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted(side: Any) -> None:
    line, values = np.float32([-INF, 0, 0, 1, INF, NAN, NAN]), np.float32([-INF, -1, 0, 0.5, 1, INF, NAN, -0.0])
    for found in both(lambda x, y: mnp.searchsorted(x, y, side=side), line, values):
        np.testing.assert_array_equal(found, np.searchsorted(line, values, side=side))


SINGULAR = {
    "ones": np.ones((4, 4), np.float32),
    "zeros": np.zeros((3, 3), np.float32),
    "one direction": np.float32([[1, 2], [2, 4], [3, 6]]),
    "equal values": np.eye(3, dtype=np.float32),
    "wide": np.float32([[1, 1, 0], [1, 1, 0]]),
}


@pytest.mark.parametrize("name", SINGULAR)
def test_gradients_of_singular_values_without_full_rank(name: str) -> None:
    """Of their sum it is U V', of the columns whose singular value is not 0."""
    x = SINGULAR[name]
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    expected = (u * (s > 1e-5)) @ vh
    for found in both(mlc.grad(lambda x: mnp.sum(mnp.linalg.svdvals(x))), x):
        np.testing.assert_allclose(found, expected, atol=2e-6)
    nuclear = mlc.grad(lambda x: mnp.linalg.matrix_norm(x, ord="nuc"))
    np.testing.assert_allclose(np.asarray(nuclear(x)), expected, atol=2e-6)


def test_second_derivatives_of_singular_values() -> None:
    x, along = np.random.default_rng().normal(size=(2, 4, 3))
    squares = mlc.hvp(lambda x: mnp.sum(mnp.linalg.svdvals(x) ** 2), (x,), (along,))
    np.testing.assert_allclose(np.asarray(squares), 2 * along, atol=1e-9)


def test_gradient_of_pseudoinverses() -> None:
    """Of matrices with equal singular values and of such without full rank, against differences at that rank."""
    random = np.random.default_rng()
    left, right, weights = random.normal(size=(4, 2)), random.normal(size=(2, 3)), random.normal(size=(3, 4))
    for x, along in ((np.eye(3, 4), random.normal(size=(3, 4))), (left @ right, left @ random.normal(size=(2, 3)))):
        w = weights if x.shape == (4, 3) else weights.T
        gradient = np.asarray(mlc.grad(lambda x, w=w: mnp.sum(mnp.linalg.pinv(x) * mnp.asarray(w)))(x))
        step = 1e-6 * along
        slope = np.sum((np.linalg.pinv(x + step) - np.linalg.pinv(x - step)) * w) / 2e-6
        np.testing.assert_allclose(np.sum(gradient * along), slope, rtol=1e-5)
