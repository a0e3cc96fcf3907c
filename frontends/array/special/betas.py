"""Beta functions of real numbers and what follows from them, computed in f64. Source: A. DiDonato and A. Morris,
"Algorithm 708", 1992; SciPy's names."""

from __future__ import annotations

import math
from typing import Any

from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.functions.elementwise import FUNCTIONS, operands, where
from mlc.frontends.array.special.gammas import digamma, gammaln, gammasgn, wide
from mlc.frontends.array.special.stirling import LEAST, correction, log_quotient, positive_gammaln
from mlc.frontends.array.transforms.custom import custom_jvp

MOST = 20
"""Whole numbers up to which a binomial coefficient is a product."""


@wide
def beta(a: Array, b: Array) -> Array:
    """Γ(a) Γ(b) / Γ(a + b)."""
    return gammasgn(a) * gammasgn(b) * gammasgn(a + b) * FUNCTIONS["exp"](betaln(a, b))


@wide
def betaln(a: Array, b: Array) -> Array:
    """ln |B(a, b)|, without differences of large logarithms."""
    good = (a > 0) & (b > 0) & (FUNCTIONS["maximum"](a, b) >= LEAST) & (a + b < math.inf)
    p, q = where(good, a, 1.0), where(good, b, LEAST * 1.0)
    low, high = where(p < q, p, q), where(p < q, q, p)
    both = low >= LEAST
    one = positive_gammaln(where(both, 1.0, low)) + log_quotient(low, high)
    found = where(both, _of_large(where(both, low, LEAST * 1.0), high), one)
    small = [where(good, 1.0, each) for each in (a, b)]
    return where(good, found, gammaln(small[0]) + gammaln(small[1]) - gammaln(small[0] + small[1]))


def _of_large(a: Array, b: Array) -> Array:
    """Of ``10 <= a <= b``."""
    part = a / b
    logarithms = (a - 0.5) * FUNCTIONS["log"](part / (1 + part)) - b * FUNCTIONS["log1p"](part)
    constant = 0.5 * (math.log(2 * math.pi) - FUNCTIONS["log"](b))
    return constant + correction(a) + correction(b) - correction(a + b) + logarithms


@wide
def poch(z: Array, m: Array) -> Array:
    """Γ(z + m) / Γ(z)."""
    large = (z >= LEAST) & (m > 0)
    quotient = FUNCTIONS["exp"](-log_quotient(where(large, m, 1.0), where(large, z, LEAST * 1.0)))
    z_, m_ = where(large, 1.0, z), where(large, 1.0, m)
    signs = gammasgn(z_ + m_) * gammasgn(z_)
    found = where(large, quotient, signs * FUNCTIONS["exp"](gammaln(z_ + m_) - gammaln(z_)))
    return where(m == 0, 1.0, found)


@wide
def binom(n: Array, k: Array) -> Array:
    """The binomial coefficient of real numbers: 1 / ((n + 1) B(n - k + 1, k + 1))."""
    return _binom(n, k)


@custom_jvp
def _binom(n: Array, k: Array) -> Array:
    whole = FUNCTIONS["round"](k) == k
    below = whole & ((k < 0) | ((n == FUNCTIONS["floor"](n)) & (n >= 0) & (k > n)))
    few = whole & (k >= 0) & (k <= MOST)
    n_, k_ = where(below | few, 1.0, n), where(below | few, 1.0, k)
    signs = gammasgn(n_ + 1) * gammasgn(k_ + 1) * gammasgn(n_ - k_ + 1)
    found = signs * FUNCTIONS["exp"](-betaln(n_ - k_ + 1, k_ + 1)) / FUNCTIONS["abs"](n_ + 1)
    return where(below, 0.0, where(few, _product(where(few, n, 1.0), where(few, k, 1.0)), found))


@_binom.defjvp
def _binom_along(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    (n, k), (along_n, along_k) = primals, tangents
    found = _binom(n, k)
    inside = found != 0
    total, chosen, left = (digamma(where(inside, each, 1.0)) for each in (n + 1, k + 1, n - k + 1))
    return found, found * ((total - left) * along_n + (left - chosen) * along_k)


def _product(n: Array, k: Array) -> Array:
    total = as_array(1.0, n.element)
    for m in range(1, MOST + 1):
        total = where(k >= m, total * ((n - k + m) / m), total)
    return total


def comb(N: Any, k: Any, exact: bool = False, repetition: bool = False) -> Array:
    """How many ways there are to choose ``k`` of ``N``, as floats; 0 where ``k > N`` or one is negative."""
    if exact:
        raise InputError(
            "comb(exact=True) is not supported", hint="Use math.comb: arrays have no integers of any length"
        )
    n, m = operands(N, k, lowest=2)
    total = n + m - 1 if repetition else n
    return where((m < 0) | (n < 0) | (m > total), 0.0, binom(total, m))


PUBLIC = ("beta", "betaln", "poch", "binom", "comb")
