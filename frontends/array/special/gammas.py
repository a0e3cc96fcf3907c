"""Gamma functions of real numbers, computed in f64. Source: Abramowitz and Stegun, chapter 6; SciPy's names.

Below 10 an argument is moved up by recurrence, from there on asymptotic series have 16 digits; negative ones are
reflected.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.functions.elementwise import FUNCTIONS, convert, is_complex, operands, where
from mlc.frontends.array.special.stirling import LEAST, positive_digamma, positive_gamma, positive_gammaln
from mlc.frontends.array.transforms.custom import custom_jvp

ZETA = (1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000, 1 / 74724249600)
"""B(2k) / (2k)!."""


def wide(f: Callable[..., Array]) -> Callable[..., Array]:
    """A function of real arrays that computes in f64, in the type of its arguments.

    Raises:
        InputError: complex numbers.
    """

    @functools.wraps(f)
    def narrowed(*xs: Any) -> Array:
        given = operands(*xs, lowest=2)
        if is_complex(*given):
            raise InputError(f"{f.__name__} takes no complex numbers", hint="Use real, imag or abs")
        return convert(f(*(convert(x, "f64") for x in given)), given[0].element)

    return narrowed


def _is_pole(x: Array) -> Array:
    return (x <= 0) & (x == FUNCTIONS["floor"](x))


def _fraction(x: Array) -> Array:
    """π times what ``x`` is above a whole number: the sine of π x but for its sign."""
    return math.pi * (x - FUNCTIONS["floor"](x))


@wide
def gammaln(x: Array) -> Array:
    """ln |Γ(x)|; infinite at 0 and negative integers, and at ±infinity."""
    return _gammaln(x)


@custom_jvp
def _gammaln(x: Array) -> Array:
    large, positive, pole = FUNCTIONS["abs"](x) == math.inf, x > 0, _is_pole(x)
    safe = where(large | pole, 1.0, x)
    found = positive_gammaln(where(positive, safe, 1 - safe))
    sine = FUNCTIONS["sin"](_fraction(where(positive | pole, 0.5, safe)))
    reflected = where(positive, found, math.log(math.pi) - FUNCTIONS["log"](FUNCTIONS["abs"](sine)) - found)
    return where(large | pole, math.inf, reflected)


@_gammaln.defjvp
def _gammaln_along(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    return _gammaln(*primals), digamma(*primals) * tangents[0]


@wide
def digamma(x: Array) -> Array:
    """The derivative of ``gammaln``: NaN at negative integers, infinite at 0."""
    positive, pole = x > 0, _is_pole(x)
    safe = where(pole | (x == -math.inf), 1.0, x)
    found = positive_digamma(where(x == math.inf, 1.0, where(positive, safe, 1 - safe)))
    angle = _fraction(where(positive | pole, 0.5, safe))
    reflected = where(positive, found, found - math.pi * FUNCTIONS["cos"](angle) / FUNCTIONS["sin"](angle))
    at_pole = where(x == 0, -1 / x, math.nan)
    return where(x == math.inf, math.inf, where(pole | (x == -math.inf), at_pole, reflected))


@wide
def gammasgn(x: Array) -> Array:
    """The sign of Γ(x): NaN at negative integers and -infinity, as SciPy 1.15."""
    below = FUNCTIONS["floor"](x)
    odd = below - 2 * FUNCTIONS["floor"](below / 2) != 0
    sign = where(x > 0, 1.0, where(odd, -1.0, 1.0))
    at_pole = where(x == 0, FUNCTIONS["sign"](1 / x), math.nan)
    return where(x != x, x, where(_is_pole(x) | (x == -math.inf), at_pole, sign))


@wide
def gamma(x: Array) -> Array:
    """Γ(x): NaN at negative integers, ±infinity at ±0."""
    return _gamma(x)


@custom_jvp
def _gamma(x: Array) -> Array:
    positive, pole = x > 0, _is_pole(x) | (x == -math.inf)
    safe = where(pole | (x == math.inf), 1.0, x)
    found = positive_gamma(where(positive, safe, 1 - safe))
    sine = FUNCTIONS["sin"](_fraction(where(positive | pole, 0.5, safe)))
    reflected = where(positive, found, gammasgn(safe) * (math.pi / (sine * found)))
    return where(x == math.inf, x, where(pole, where(x == 0, gammasgn(x) * math.inf, math.nan), reflected))


@_gamma.defjvp
def _gamma_along(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    found = _gamma(*primals)
    return found, found * digamma(*primals) * tangents[0]


def factorial(n: Any, exact: bool = False) -> Array:
    """n! as floats; 0 of negative numbers.

    Raises:
        InputError: ``exact``.
    """
    if exact:
        raise InputError(
            "factorial(exact=True) is not supported", hint="Use math.factorial: arrays have no integers of any length"
        )
    return _factorial(n)


@wide
def _factorial(x: Array) -> Array:
    return where(x < 0, 0.0, gamma(where(x < 0, 0.0, x) + 1))


def multigammaln(a: Any, d: int) -> Array:
    """The logarithm of the multivariate Γ of ``d`` dimensions."""
    (given,) = operands(a, lowest=2)
    total = as_array(d * (d - 1) / 4 * math.log(math.pi), given.element)
    for n in range(d):
        total = total + gammaln(given - n / 2)
    return total


@wide
def zeta(x: Array, q: Array) -> Array:
    """Hurwitz's Σ (q + k)^-x, by Euler and Maclaurin: infinite at x = 1, NaN of x < 1 and negative q."""
    good = (x > 1) & (q > 0)
    s, a = where(good, x, 2.0), where(good, q, 1.0)
    total = as_array(0.0, "f64")
    for k in range(LEAST):
        total = total + FUNCTIONS["pow"](a + k, -s)
    z = a + LEAST
    total = total + FUNCTIONS["pow"](z, 1 - s) / (s - 1) + 0.5 * FUNCTIONS["pow"](z, -s)
    factor = s * FUNCTIONS["pow"](z, -s - 1)
    for n, each in enumerate(ZETA):
        total = total + each * factor
        factor = factor * (s + 2 * n + 1) * (s + 2 * n + 2) / (z * z)
    pole = (q <= 0) & (q == FUNCTIONS["floor"](q))
    return where(good, total, where((x == 1) | ((x > 1) & pole), math.inf, math.nan))


def polygamma(n: Any, x: Any) -> Array:
    """The derivative of order n + 1 of ln Γ, of positive ``x``; ``digamma`` for n = 0."""
    order, at = operands(n, x, lowest=2)
    sign = 1 - 2 * FUNCTIONS["remainder"](order + 1, 2)
    further = sign * gamma(order + 1) * zeta(where(order == 0, 2.0, order + 1), at)
    return where(order == 0, digamma(at), further)


PUBLIC = ("gammaln", "digamma", "gammasgn", "gamma", "factorial", "multigammaln", "zeta", "polygamma")
