"""Gamma and beta functions of large numbers beside mpmath with 60 digits."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc.scipy import special

M = mpmath.mp
EXACT: dict[str, Callable[..., Any]] = {
    "gamma": M.gamma,
    "gammaln": M.loggamma,
    "betaln": lambda a, b: M.loggamma(a) + M.loggamma(b) - M.loggamma(a + b),
    "beta": M.beta,
    "poch": M.rf,
    "binom": M.binomial,
}
SMALL, LARGE, HUGE = (-2, 1), (1, 15), (9, 18)
"""Powers of ten between which operands are drawn."""


@pytest.mark.parametrize(
    ("name", "ranges", "limit"),
    [
        ("gamma", [(-2, 2.2)], 4e-15),
        ("gammaln", [(-2, 0)], 4e-15),
        ("gammaln", [LARGE], 4e-15),
        ("betaln", [SMALL, LARGE], 1e-13),
        ("betaln", [HUGE, LARGE], 4e-15),
        ("beta", [SMALL, HUGE], 2e-13),
        ("poch", [LARGE, SMALL], 1e-13),
        ("binom", [HUGE, SMALL], 1e-13),
    ],
)
def test_large_arguments_keep_their_digits(name: str, ranges: list[tuple[float, float]], limit: float) -> None:
    rng = np.random.default_rng()
    columns = [10.0 ** rng.uniform(low, high, 40) for low, high in ranges]
    found = np.asarray(getattr(special, name)(*map(mnp.asarray, columns)))
    with M.workdps(60):
        rows = zip(*columns, strict=True)
        wanted = np.array([float(EXACT[name](*(M.mpf(float(x)) for x in row))) for row in rows])
    np.testing.assert_allclose(found, wanted, rtol=limit)


@pytest.mark.parametrize("a", [1e6, 1e9, 1e15])
def test_incomplete_gamma_functions_of_large_parameters(a: float) -> None:
    """Beside the normal distribution with Edgeworth's first terms, whose error is that of a^-3/2."""
    z = np.array([-3.0, -1.0, 0.0, 0.5, 2.5])
    x = a + z * math.sqrt(a)
    below = np.array([0.5 * math.erfc(-(v - a) / math.sqrt(2 * a)) for v in x])
    z = (x - a) / math.sqrt(a)
    density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    first = -(z * z - 1) / (3 * math.sqrt(a))
    second = -((z**3 - 3 * z) / 4 + (z**5 - 10 * z**3 + 15 * z) / 18) / a
    wanted = below + density * (first + second)
    lower, upper = (np.asarray(f(a, mnp.asarray(x))) for f in (special.gammainc, special.gammaincc))
    np.testing.assert_allclose(lower, wanted, rtol=30 * a**-1.5 + 1e-12)
    np.testing.assert_allclose(lower + upper, 1, rtol=1e-15)


def test_derivatives_at_large_arguments() -> None:
    a = mnp.asarray(1e9, dtype="float64")
    by_x = float(np.asarray(mlc.grad(lambda x: special.gammainc(a, x))(a)))
    assert math.isclose(by_x, 1 / math.sqrt(2 * math.pi * 1e9), rel_tol=1e-9)
    by_b = float(np.asarray(mlc.grad(lambda b: special.betaln(mnp.asarray(0.5, dtype="float64"), b))(a)))
    assert math.isclose(by_b, -0.5 / 1e9, rel_tol=1e-8)


@pytest.mark.parametrize("name", ["gammaln", "gamma"])
def test_derivative_is_that_of_digamma_at_edges(name: str) -> None:
    x: Any = mnp.asarray([-1.0, math.inf, 2.5], dtype="float64")
    found = np.asarray(mlc.grad(lambda x: mnp.sum(getattr(special, name)(x)))(x))
    slope = np.asarray(special.digamma(x))
    wanted = slope if name == "gammaln" else np.asarray(special.gamma(x)) * slope
    np.testing.assert_allclose(found, wanted, rtol=1e-14)
