"""Distributions: moments of many numbers, equal numbers for equal keys, derivatives by parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc.frontends.array import evaluate
from mlc.frontends.array.random.gamma import digamma, lgamma, quantile_slope

R = mnp.random
COUNT = 4000

@pytest.fixture(autouse=True)
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluate, "compiler", [])


CASES: dict[str, tuple[Callable[[Any, Any], Any], float, float]] = {
    "exponential": (lambda k, n: R.exponential(k, n), 1, 1),
    "laplace": (lambda k, n: R.laplace(k, n), 0, 2),
    "logistic": (lambda k, n: R.logistic(k, n), 0, np.pi**2 / 3),
    "rayleigh": (lambda k, n: R.rayleigh(k, 2.0, n), 2 * np.sqrt(np.pi / 2), (4 - np.pi) / 2 * 4),
    "pareto": (lambda k, n: R.pareto(k, 5.0, n), 5 / 4, 5 / 16 / 3),
    "weibull": (lambda k, n: R.weibull_min(k, 2.0, 1.0, n), 2, 4),
    "lognormal": (lambda k, n: R.lognormal(k, 0.5, n), np.exp(0.125), (np.exp(0.25) - 1) * np.exp(0.25)),
    "truncated": (lambda k, n: R.truncated_normal(k, -1.0, 1.0, n), 0, 0.2911),
    "gamma below 1": (lambda k, n: R.gamma(k, 0.5, n), 0.5, 0.5),
    "gamma": (lambda k, n: R.gamma(k, 7.0, n), 7, 7),
    "beta": (lambda k, n: R.beta(k, 2.0, 3.0, n), 0.4, 0.04),
    "dirichlet": (lambda k, n: R.dirichlet(k, mnp.asarray([1.0, 2.0, 1.0]), n)[:, 1], 0.5, 0.05),
    "chisquare": (lambda k, n: R.chisquare(k, 4.0, n), 4, 8),
    "t": (lambda k, n: R.t(k, 9.0, n), 0, 9 / 7),
    "poisson of few": (lambda k, n: R.poisson(k, 3.0, n), 3, 3),
    "poisson of many": (lambda k, n: R.poisson(k, 50.0, n), 50, 50),
    "binomial": (lambda k, n: R.binomial(k, 10, 0.3, n), 3, 2.1),
    "geometric": (lambda k, n: R.geometric(k, 0.4, n), 2.5, 0.6 / 0.16),
    "rademacher": (lambda k, n: R.rademacher(k, n), 0, 1),
    "choice": (lambda k, n: R.choice(k, 5, n), 2, 2),
    "choice by p": (lambda k, n: R.choice(k, 3, n, p=mnp.asarray([0.2, 0.5, 0.3])), 1.1, 0.49),
}


@pytest.mark.parametrize("name", CASES)
def test_moments(name: str) -> None:
    f, mean, variance = CASES[name]
    key = R.key(int(np.random.default_rng().integers(1 << 30)))
    x, again = (np.asarray(f(key, (COUNT,)), float) for _ in range(2))
    np.testing.assert_array_equal(x, again)
    assert abs(x.mean() - mean) < 6 * np.sqrt(variance / COUNT)
    fourth = np.mean((x - mean) ** 4)
    assert abs(x.var() - variance) < 7 * np.sqrt((fourth - variance**2) / COUNT) + 1e-3
    assert not np.array_equal(x, np.asarray(f(R.split(key)[0], (COUNT,))))


def test_cauchy_and_normal_vectors() -> None:
    x = np.asarray(R.cauchy(R.key(5), (COUNT,)))
    np.testing.assert_allclose(np.quantile(x, [0.25, 0.5, 0.75]), [-1, 0, 1], atol=0.12)
    spread = np.array([[2.0, 0.5], [0.5, 1.0]])
    y = np.asarray(R.multivariate_normal(R.key(6), np.array([1.0, -1.0]), spread, (COUNT,)))
    np.testing.assert_allclose(np.cov(y.T), spread, atol=0.25)
    np.testing.assert_allclose(y.mean(0), [1, -1], atol=0.12)


def test_choices_without_replacement() -> None:
    for p in (None, mnp.asarray([0.5, 0.1, 0.1, 0.1, 0.2])):
        found = np.asarray(R.choice(R.key(2), mnp.arange(5) * 10, (2, 2), replace=False, p=p)).ravel()
        assert len(set(found.tolist())) == 4 and set(found.tolist()) <= {0, 10, 20, 30, 40}
    with pytest.raises(mlc.InputError, match="choice cannot take 4 out of 3"):
        R.choice(R.key(0), 3, (4,), replace=False)
    rows = R.choice(R.key(1), mnp.arange(12).reshape(3, 4), (5,), axis=1)
    assert rows.shape == (3, 5)


def test_gamma_derivative() -> None:
    """-(∂P/∂a) / p of the regularized incomplete gamma function, by mpmath."""
    for a, x in ((0.7, 0.2), (2.3, 4.0), (30.0, 22.0), (250.0, 270.0), (400.0, 380.0)):
        slope = mpmath.diff(lambda s, x=x: mpmath.gammainc(s, 0, x, regularized=True), a)
        wanted = -slope / (mpmath.mpf(x) ** (a - 1) * mpmath.exp(-x) / mpmath.gamma(a))
        found = quantile_slope(mnp.asarray(np.float64(a)), mnp.asarray(np.float64(x)))
        np.testing.assert_allclose(float(found), float(wanted), rtol=1e-7 if a < 300 else 1e-4)
        for ours, theirs in ((digamma, mpmath.digamma), (lgamma, mpmath.loggamma)):
            np.testing.assert_allclose(float(ours(mnp.asarray(np.float64(a)))), float(theirs(a)), rtol=1e-9)
    key = R.key(3)
    mean = mlc.grad(lambda a: mnp.mean(R.gamma(key, a, (500,), "float64")))(np.float64(2.0))
    np.testing.assert_allclose(float(mean), 1, atol=0.1)  # the mean is a
