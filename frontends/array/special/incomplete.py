"""Incomplete gamma and beta functions of real numbers, computed in f64. Source: Numerical Recipes, 6.2 and 6.4."""

from __future__ import annotations

import math

from mlc.frontends.array.array import Array
from mlc.frontends.array.functions.elementwise import FUNCTIONS, broadcast, where
from mlc.frontends.array.functions.reductions import any_
from mlc.frontends.array.functions.shaping import broadcast_to
from mlc.frontends.array.random.gamma import quantile_slope
from mlc.frontends.array.special.gammas import positive_gammaln, wide
from mlc.frontends.array.transforms.control import fori_loop, while_loop
from mlc.frontends.array.transforms.custom import custom_jvp

MOST = 2000
"""Terms of a series: enough up to a = 100,000."""
FRACTIONS = 200
"""Levels of a continued fraction of the beta function: enough up to a, b = 10,000."""
TINY, EPSILON = 1e-300, 2e-16


@custom_jvp
def _lower(a: Array, x: Array) -> Array:
    """P(a, x) of positive arguments."""
    below = x < a + 1
    series = _series(a, where(below, x, a))
    return where(below, series, 1 - _fraction(a, where(below, a + 2, x)))


@_lower.defjvp
def _lower_along(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    (a, x), (along_a, along_x) = primals, tangents
    density = FUNCTIONS["exp"](_logarithm(a, x)) / x
    return _lower(a, x), density * (along_x - quantile_slope(a, x) * along_a)


def _logarithm(a: Array, x: Array) -> Array:
    return a * FUNCTIONS["log"](x) - x - positive_gammaln(a)


def _series(a: Array, x: Array) -> Array:
    """``x^a exp(-x) / Γ(a) Σ x^n / (a … (a + n))``."""

    def step(state: tuple[Array, ...]) -> tuple[Array, ...]:
        place, term, total = state
        term = term * x / (place + 1)
        return place + 1, term, total + term

    start = (a, 1 / a, 1 / a)
    left = lambda state: any_(state[1] > EPSILON * state[2])  # noqa: E731
    return while_loop(left, step, start, max_iterations=MOST)[2] * FUNCTIONS["exp"](_logarithm(a, x))


def _fraction(a: Array, x: Array) -> Array:
    """Q(a, x) by Lentz's method."""

    def step(state: tuple[Array, ...]) -> tuple[Array, ...]:
        n, b, c, d, h, _ = state
        an, b = -n * (n - a), b + 2
        d, c = 1 / _not_0(an * d + b), _not_0(b + an / c)
        return n + 1, b, c, d, h * d * c, d * c

    b = x + 1 - a
    start = (b * 0 + 1, b, b * 0 + 1 / TINY, 1 / b, 1 / b, b * 0)
    left = lambda state: any_(FUNCTIONS["abs"](state[5] - 1) > 3 * EPSILON)  # noqa: E731
    return while_loop(left, step, start, max_iterations=MOST)[4] * FUNCTIONS["exp"](_logarithm(a, x))


def _not_0(x: Array) -> Array:
    return where(FUNCTIONS["abs"](x) < TINY, TINY, x)


@wide
def gammainc(a: Array, x: Array) -> Array:
    """The regularized lower incomplete gamma function P(a, x): 0 at x = 0; NaN of negative numbers."""
    good = (a > 0) & (x > 0) & (x < math.inf) & (a < math.inf)
    inner = _lower(*_both(where(good, a, 1.0), where(good, x, 1.0)))
    edge = where((a == 0) & (x > 0), 1.0, where(x == 0, 0.0, where(a == math.inf, 0.0, 1.0)))
    bad = (a < 0) | (x < 0) | (a != a) | (x != x) | ((a == 0) & (x == 0)) | ((a == math.inf) & (x == math.inf))
    return where(good, inner, where(bad, math.nan, edge))


@wide
def gammaincc(a: Array, x: Array) -> Array:
    """The regularized upper incomplete gamma function Q(a, x) = 1 - P(a, x)."""
    good = (a > 0) & (x > 0) & (x < math.inf) & (a < math.inf) & (x >= a + 1)
    upper = _upper(*_both(where(good, a, 1.0), where(good, x, 3.0)))
    return where(good, upper, 1 - gammainc(a, x))


def _both(a: Array, x: Array) -> tuple[Array, Array]:
    shape = broadcast(a.shape, x.shape)
    return broadcast_to(a, shape), broadcast_to(x, shape)


@custom_jvp
def _upper(a: Array, x: Array) -> Array:
    return _fraction(a, x)


@_upper.defjvp
def _upper_along(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    (a, x), (along_a, along_x) = primals, tangents
    density = FUNCTIONS["exp"](_logarithm(a, x)) / x
    return _upper(a, x), -density * (along_x - quantile_slope(a, x) * along_a)


@wide
def betainc(a: Array, b: Array, x: Array) -> Array:
    """The regularized incomplete beta function I(x; a, b) of x in [0, 1]; NaN of others, and of a or b below 0."""
    good = (a > 0) & (b > 0) & (x > 0) & (x < 1)
    a_, b_, x_ = (where(good, each, 0.5) for each in (a, b, x))
    swap = x_ > (a_ + 1) / (a_ + b_ + 2)
    first, second, at = where(swap, b_, a_), where(swap, a_, b_), where(swap, 1 - x_, x_)
    logarithm = first * FUNCTIONS["log"](at) + second * FUNCTIONS["log1p"](-at)
    logarithm = logarithm + positive_gammaln(a_ + b_) - positive_gammaln(a_) - positive_gammaln(b_)
    part = FUNCTIONS["exp"](logarithm) * _beta_fraction(first, second, at) / first
    edge = where((x == 0) & (a > 0) & (b > 0), 0.0, where((x == 1) & (a > 0) & (b > 0), 1.0, math.nan))
    return where(good, where(swap, 1 - part, part), edge)


def _beta_fraction(a: Array, b: Array, x: Array) -> Array:
    def step(m: Array, state: tuple[Array, ...]) -> tuple[Array, ...]:
        n, c, d, h = state
        for factor in (
            n * (b - n) * x / ((a + 2 * n - 1) * (a + 2 * n)),
            -(a + n) * (a + b + n) * x / ((a + 2 * n) * (a + 2 * n + 1)),
        ):
            d, c = 1 / _not_0(1 + factor * d), _not_0(1 + factor / c)
            h = h * d * c
        return n + 1, c, d, h

    first = 1 / _not_0(1 - (a + b) * x / (a + 1))
    one = first * 0 + 1
    return fori_loop(0, FRACTIONS, step, (one, one, first, first))[3]


PUBLIC = ("gammainc", "gammaincc", "betainc")
