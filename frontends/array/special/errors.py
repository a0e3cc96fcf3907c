"""The error function, its relatives, and the normal distribution. Computed in f64 but for ``erf``."""

from __future__ import annotations

import math
from typing import Any

from mlc.frontends.array.array import Array
from mlc.frontends.array.functions.elementwise import FUNCTIONS, apply_map, where
from mlc.frontends.array.random import distributions
from mlc.frontends.array.special.gammas import wide
from mlc.frontends.array.transforms.custom import custom_jvp

ROOT = math.sqrt(2)
MIDDLE = (
    (-3.969683028665376e01, 2.209460984245205e02, -2.759285104469687e02, 1.383577518672690e02, -3.066479806614716e01,
     2.506628277459239e00),
    (-5.447609879822406e01, 1.615858368580409e02, -1.556989798598866e02, 6.680131188771972e01, -1.328068155288572e01,
     1.0),
)  # fmt: skip
TAIL = (
    (-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e00, -2.549732539343734e00,
     4.374664141464968e00, 2.938163982698783e00),
    (7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e00, 3.754408661907416e00, 1.0),
)  # fmt: skip
"""Rational functions of nine digits for the quantile of the normal distribution (P. Acklam, 2003)."""
BEGINS = 0.02425


def erf(x: Any) -> Array:
    """The error function."""
    return FUNCTIONS["erf"](x)


@wide
def erfc(x: Array) -> Array:
    """``1 - erf(x)``, to the smallest numbers."""
    return apply_map("erfc(x0)", x)


@wide
def erfcx(x: Array) -> Array:
    """``exp(x^2) erfc(x)``, also where the factors over- and underflow."""
    far = x > 20
    near = where(far, 0.0, x)
    inverse = 1 / (2 * where(far, x, 20.0) ** 2)
    series = 1 - inverse * (1 - 3 * inverse * (1 - 5 * inverse * (1 - 7 * inverse)))
    return where(far, series / (x * math.sqrt(math.pi)), FUNCTIONS["exp"](near * near) * apply_map("erfc(x0)", near))


@wide
def ndtr(x: Array) -> Array:
    """The distribution function of normal numbers."""
    return 0.5 * apply_map("erfc(x0)", -x / ROOT)


@wide
def log_ndtr(x: Array) -> Array:
    """The logarithm of ``ndtr``, also where that is 0."""
    far, high = x < -30, x > 5
    middle = FUNCTIONS["log"](0.5 * apply_map("erfc(x0)", -where(far | high, 0.0, x) / ROOT))
    above = FUNCTIONS["log1p"](-0.5 * apply_map("erfc(x0)", where(high, x, 5.0) / ROOT))
    low = where(far, x, -30.0)
    inverse = 1 / (low * low)
    series = FUNCTIONS["log1p"](-inverse * (1 - 3 * inverse * (1 - 5 * inverse * (1 - 7 * inverse))))
    below = -0.5 * low * low - FUNCTIONS["log"](-low) - 0.5 * math.log(2 * math.pi) + series
    return where(far, below, where(high, above, middle))


@custom_jvp
def _quantile(p: Array) -> Array:
    """Of probabilities up to 1/2: a rational function, and a step of Halley's method."""
    tail = p < BEGINS
    q = where(tail, 0.0, p) - 0.5
    middle = q * _ratio(MIDDLE, q * q)
    found = where(tail, _ratio(TAIL, FUNCTIONS["sqrt"](-2 * FUNCTIONS["log"](where(tail, p, BEGINS)))), middle)
    error = 0.5 * apply_map("erfc(x0)", -found / ROOT) - p
    step = error * math.sqrt(2 * math.pi) * FUNCTIONS["exp"](found * found / 2)
    return found - step / (1 + found * step / 2)


@_quantile.defjvp
def _quantile_along(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    found = _quantile(primals[0])
    return found, tangents[0] * (math.sqrt(2 * math.pi) * FUNCTIONS["exp"](found * found / 2))


def _ratio(parts: tuple[tuple[float, ...], tuple[float, ...]], x: Array) -> Array:
    above, below = x * 0, x * 0
    for each in parts[0]:
        above = above * x + each
    for each in parts[1]:
        below = below * x + each
    return above / below


@wide
def ndtri(p: Array) -> Array:
    """The quantile of normal numbers, the inverse of ``ndtr``: infinite at 0 and 1, NaN beyond."""
    inside, high = (p > 0) & (p < 1), p > 0.5
    least = where(inside, where(high, 1 - p, p), 0.5)
    found = _quantile(least)
    edge = where(p == 0, -math.inf, where(p == 1, math.inf, math.nan))
    return where(inside, where(high, -found, found), edge)


@custom_jvp
def _erfinv(x: Array) -> Array:
    """Of numbers between 0 and 1: by a polynomial, and by the quantile near 1."""
    near = x > 0.5
    middle = distributions.erfinv(where(near, 0.0, x))
    return where(near, _quantile(0.5 * where(near, 1 - x, 1.0)) / -ROOT, middle)


@_erfinv.defjvp
def _erfinv_along(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    found = _erfinv(primals[0])
    return found, tangents[0] * (math.sqrt(math.pi) / 2 * FUNCTIONS["exp"](found * found))


@wide
def erfinv(x: Array) -> Array:
    """The inverse of ``erf``: infinite at ±1, NaN beyond."""
    size, sign = FUNCTIONS["abs"](x), where(x < 0, -1.0, 1.0)
    edge = where(size == 1, sign * math.inf, math.nan)
    return where(size < 1, sign * _erfinv(where(size < 1, sign * x, 0.0)), edge)


PUBLIC = ("erf", "erfc", "erfcx", "erfinv", "ndtr", "log_ndtr", "ndtri")
