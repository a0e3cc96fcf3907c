"""Incomplete gamma and beta functions of real numbers, computed in f64.

Source: Numerical Recipes, 6.2 and 6.4; of large parameters N. Temme, "The asymptotic expansion of the incomplete gamma
functions", 1979 (DLMF 8.12).
"""

from __future__ import annotations

import math

from mlc.frontends.array.array import Array
from mlc.frontends.array.functions.elementwise import FUNCTIONS, apply_map, broadcast, where
from mlc.frontends.array.functions.reductions import any_
from mlc.frontends.array.functions.shaping import broadcast_to
from mlc.frontends.array.random.gamma import quantile_slope
from mlc.frontends.array.special.betas import betaln
from mlc.frontends.array.special.gammas import wide
from mlc.frontends.array.special.stirling import LEAST, correction, excess, horner, positive_gammaln, power_term
from mlc.frontends.array.transforms.control import while_loop
from mlc.frontends.array.transforms.custom import custom_jvp

MOST = 2000
"""Terms of a series: enough up to a = 100,000."""
FRACTIONS = 400
"""Levels of a continued fraction of the beta function: enough up to a, b = 40,000."""
TINY, EPSILON = 1e-300, 2e-16
LARGE = 1e5
"""From here on of an incomplete gamma function, the expansion by powers of 1 / a."""
TEMME = (
    (-0.3333333333333333, 0.08333333333333333, -0.014814814814814815, 0.0011574074074074073,
     0.0003527336860670194, -0.0001787551440329218, 3.919263178522438e-05, -2.185448510679992e-06,
     -1.85406221071516e-06, 8.296711340953087e-07, -1.7665952736826078e-07, 6.707853543401498e-09,),
    (-0.001851851851851852, -0.003472222222222222, 0.0026455026455026454, -0.0009902263374485596,
     0.00020576131687242798, -4.018775720164609e-07, -1.8098550334489977e-05, 7.64916091608111e-06,),
    (0.004133597883597883, -0.0026813271604938273, 0.0007716049382716049, 2.0093878600823047e-06,),
)  # fmt: skip
"""Of C_k(η) by powers of η."""


@custom_jvp
def _lower(a: Array, x: Array) -> Array:
    """P(a, x) of positive arguments."""
    large = a > LARGE
    a_, x_ = where(large, 1.0, a), where(large, 1.0, x)
    below = x_ < a_ + 1
    series = _series(a_, where(below, x_, a_))
    found = where(below, series, 1 - _fraction(a_, where(below, a_ + 2, x_)))
    return where(large, _of_large(where(large, a, LARGE), where(large, x, LARGE), -1), found)


@_lower.defjvp
def _lower_along(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    (a, x), (along_a, along_x) = primals, tangents
    return _lower(a, x), _power(a, x) / x * (along_x - quantile_slope(a, x) * along_a)


def _power(a: Array, x: Array) -> Array:
    """``x^a exp(-x) / Γ(a)``."""
    small = a < LEAST
    a_, x_ = where(small, a, 1.0), where(small, x, 1.0)
    direct = FUNCTIONS["exp"](a_ * FUNCTIONS["log"](x_) - x_ - positive_gammaln(a_))
    return where(small, direct, power_term(where(small, LEAST * 1.0, a), where(small, LEAST * 1.0, x)))


def _of_large(a: Array, x: Array, sign: int) -> Array:
    """Q(a, x) by Temme's uniform expansion; P(a, x) for the sign -1."""
    distance = excess((x - a) / a)
    eta = FUNCTIONS["sign"](x - a) * FUNCTIONS["sqrt"](2 * distance)
    inner = FUNCTIONS["clip"](eta, -1.0, 1.0)
    series = horner(TEMME[0], inner) + (horner(TEMME[1], inner) + horner(TEMME[2], inner) / a) / a
    rest = FUNCTIONS["exp"](-a * distance) * series / FUNCTIONS["sqrt"](2 * math.pi * a)
    return 0.5 * apply_map("erfc(x0)", sign * eta * FUNCTIONS["sqrt"](a / 2)) + sign * rest


def _series(a: Array, x: Array) -> Array:
    """``x^a exp(-x) / Γ(a) Σ x^n / (a … (a + n))``."""

    def step(state: tuple[Array, ...]) -> tuple[Array, ...]:
        place, term, total = state
        term = term * x / (place + 1)
        return place + 1, term, total + term

    start = (a, 1 / a, 1 / a)
    left = lambda state: any_(state[1] > EPSILON * state[2])  # noqa: E731
    return while_loop(left, step, start, max_iterations=MOST)[2] * _power(a, x)


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
    return while_loop(left, step, start, max_iterations=MOST)[4] * _power(a, x)


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
    large = a > LARGE
    found = _fraction(where(large, 1.0, a), where(large, 3.0, x))
    return where(large, _of_large(where(large, a, LARGE), where(large, x, LARGE), 1), found)


@_upper.defjvp
def _upper_along(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    (a, x), (along_a, along_x) = primals, tangents
    return _upper(a, x), -_power(a, x) / x * (along_x - quantile_slope(a, x) * along_a)


@wide
def betainc(a: Array, b: Array, x: Array) -> Array:
    """The regularized incomplete beta function I(x; a, b) of x in [0, 1]; NaN of others, and of a or b below 0."""
    good = (a > 0) & (b > 0) & (x > 0) & (x < 1)
    a_, b_, x_ = (where(good, each, 0.5) for each in (a, b, x))
    swap = x_ > (a_ + 1) / (a_ + b_ + 2)
    first, second, at = where(swap, b_, a_), where(swap, a_, b_), where(swap, 1 - x_, x_)
    part = _beta_power(first, second, at) * _beta_fraction(first, second, at) / first
    edge = where((x == 0) & (a > 0) & (b > 0), 0.0, where((x == 1) & (a > 0) & (b > 0), 1.0, math.nan))
    return where(good, where(swap, 1 - part, part), edge)


def _beta_power(a: Array, b: Array, x: Array) -> Array:
    """``x^a (1 - x)^b / B(a, b)``; of large parameters by how far ``x`` is from a / (a + b)."""
    large = (a >= LEAST) & (b >= LEAST)
    p, q = where(large, a, LEAST * 1.0), where(large, b, LEAST * 1.0)
    total = p + q
    apart = where(large, x, 0.5) * total - p
    spread = p * excess(apart / p) + q * excess(-apart / q)
    series = correction(total) - correction(p) - correction(q) - spread
    wide_ones = FUNCTIONS["exp"](series) * FUNCTIONS["sqrt"](p * (q / total) / (2 * math.pi))
    a_, b_, x_ = where(large, 1.0, a), where(large, 1.0, b), where(large, 0.5, x)
    logarithm = a_ * FUNCTIONS["log"](x_) + b_ * FUNCTIONS["log1p"](-x_) - betaln(a_, b_)
    return where(large, wide_ones, FUNCTIONS["exp"](logarithm))


def _beta_fraction(a: Array, b: Array, x: Array) -> Array:
    def step(state: tuple[Array, ...]) -> tuple[Array, ...]:
        n, c, d, h, _ = state
        before = h
        for factor in (
            n * (b - n) * x / ((a + 2 * n - 1) * (a + 2 * n)),
            -(a + n) * (a + b + n) * x / ((a + 2 * n) * (a + 2 * n + 1)),
        ):
            d, c = 1 / _not_0(1 + factor * d), _not_0(1 + factor / c)
            h = h * d * c
        return n + 1, c, d, h, h / before - 1

    first = 1 / _not_0(1 - (a + b) * x / (a + 1))
    one = first * 0 + 1
    left = lambda state: any_(FUNCTIONS["abs"](state[4]) > 3 * EPSILON)  # noqa: E731
    return while_loop(left, step, (one, one, first, first, one), max_iterations=FRACTIONS)[3]


PUBLIC = ("gammainc", "gammaincc", "betainc")
