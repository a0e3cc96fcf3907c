"""The gamma distribution and those that are made of it: beta, Dirichlet, chi-squared, Student's t.

Samples are by Marsaglia and Tsang, "A simple method for generating gamma variables" (2000). The derivative of one by
its parameter is that of the quantile (implicit reparameterization): -(∂P/∂a) / p of the distribution function P, whose
power series has a derivative in closed form.
"""

from __future__ import annotations

import math
from typing import Any

from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.functions.elementwise import FUNCTIONS, apply_map, broadcast, convert, where
from mlc.frontends.array.functions.reductions import all as every
from mlc.frontends.array.functions.reductions import sum
from mlc.frontends.array.functions.shapes import Extents, extents
from mlc.frontends.array.functions.shaping import broadcast_to
from mlc.frontends.array.random.distributions import float_element, normal, uniform
from mlc.frontends.array.random.threefry import split
from mlc.frontends.array.transforms.control import fori_loop, while_loop
from mlc.frontends.array.transforms.custom import custom_jvp

TERMS = 512
"""Of the series, which is used up to LARGE: enough for 6 deviations above the mean."""
LARGE = 300.0


def gamma(key: Any, a: Any, shape: Extents | None = None, dtype: Any = float) -> Array:
    """Numbers with the density ``x^(a - 1) exp(-x) / Γ(a)``; derivatives by ``a``."""
    element = float_element(dtype)
    given = convert(as_array(a, element), element)
    whole = broadcast_to(given, given.shape if shape is None else extents(shape))
    first, second = (split(key)[n] for n in range(2))
    sample = _boosted(first, whole + where(whole < 1, 1.0, 0.0))
    power = FUNCTIONS["pow"](1 - uniform(second, whole.shape, dtype), 1 / where(whole < 1, whole, 1.0))
    return where(whole < 1, sample * power, sample)


def _boosted(key: Array, a: Array) -> Array:
    """Gamma variates for parameters of at least 1."""

    @custom_jvp
    def sample(a: Array) -> Array:
        return _accepted(key, a)

    @sample.defjvp
    def rule(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
        (given,), (along,) = primals, tangents
        value = sample(given)
        return value, quantile_slope(given, value) * along

    found: Array = sample(a)
    return found


def _accepted(key: Array, a: Array) -> Array:
    """``d v`` of ``v = (1 + c n)^3`` of normal n, drawn again where it is not accepted."""
    d = a - 1 / 3
    c = 1 / FUNCTIONS["sqrt"](9 * d)

    def draw(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        key, done, found = state
        keys = split(key, 3)
        n, u = normal(keys[1], a.shape, a.dtype), 1 - uniform(keys[2], a.shape, a.dtype)
        v = (1 + c * n) ** 3
        good = apply_map("x0 > 0", v)
        bound = 0.5 * n * n + d * (1 - v + FUNCTIONS["log"](where(good, v, 1.0)))
        good = good & (FUNCTIONS["log"](u) < bound)
        return keys[0], done | good, where(done | FUNCTIONS["logical_not"](good), found, d * v)

    start = (key, a != a, a)
    return while_loop(lambda state: FUNCTIONS["logical_not"](every(state[1])), draw, start)[2]


def quantile_slope(a: Array, x: Array) -> Array:
    """How the quantile ``x`` of a probability moves with ``a``."""
    wide, at = convert(a, "f64"), convert(x, "f64")
    small = where(wide > LARGE, 1.0, wide)
    return convert(
        where(wide > LARGE, _slope_of_large(wide, at), _slope_of_series(small, where(wide > LARGE, 1.0, at))), a.element
    )


def _slope_of_series(a: Array, x: Array) -> Array:
    """``P = x^a exp(-x) S / Γ(a)`` with the sum ``S = Σ x^n / (a … (a + n))``, term by term with its derivative."""

    def term(n: Array, state: tuple[Array, ...]) -> tuple[Array, ...]:
        last, total, slope, logarithm = state
        place = a + convert(n, "f64")
        logarithm = logarithm - 1 / place
        last = last * x / place
        return last, total + last, slope + last * logarithm, logarithm

    start = (1 / a, 1 / a, -1 / (a * a), -1 / a)
    _, total, slope, _ = fori_loop(1, TERMS, term, start)
    return -x * ((FUNCTIONS["log"](x) - digamma(a)) * total + slope)


def _slope_of_large(a: Array, x: Array) -> Array:
    """Of Wilson's and Hilferty's approximation ``x = a (1 - 1/(9 a) + n / (3 √a))^3`` with the normal number n."""
    root = FUNCTIONS["pow"](x / a, 1 / 3)
    return root**3 + 3 * a * root**2 * (1 / (9 * a * a) - (root - 1 + 1 / (9 * a)) / (2 * a))


def digamma(a: Array) -> Array:
    """The logarithmic derivative of Γ, by recurrence to 8 and more and the asymptotic series."""
    shift = as_array(0.0, a.element)
    for n in range(8):
        shift = shift + 1 / (a + n)
    z = a + 8
    inverse = 1 / (z * z)
    series = inverse * (1 / 12 - inverse * (1 / 120 - inverse * (1 / 252 - inverse * (1 / 240 - inverse / 132))))
    return FUNCTIONS["log"](z) - 0.5 / z - series - shift


def lgamma(a: Array) -> Array:
    """The logarithm of Γ of positive numbers, by recurrence to 8 and more and Stirling's series."""
    product = a
    for n in range(1, 8):
        product = product * (a + n)
    z = a + 8
    inverse = 1 / (z * z)
    series = (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse / 1680))) / z
    return (z - 0.5) * FUNCTIONS["log"](z) - z + 0.5 * math.log(2 * math.pi) + series - FUNCTIONS["log"](product)


def beta(key: Any, a: Any, b: Any, shape: Extents | None = None, dtype: Any = float) -> Array:
    """Numbers with the density ``x^(a - 1) (1 - x)^(b - 1) / B(a, b)``."""
    whole = broadcast(as_array(a).shape, as_array(b).shape) if shape is None else extents(shape)
    first, second = (split(key)[n] for n in range(2))
    x, y = gamma(first, a, whole, dtype), gamma(second, b, whole, dtype)
    return x / (x + y)


def dirichlet(key: Any, alpha: Any, shape: Extents | None = None, dtype: Any = float) -> Array:
    """[shape…, n]: n numbers with the sum 1, as parts of gamma numbers of ``alpha`` [n]."""
    given = as_array(alpha)
    outer = given.shape[:-1] if shape is None else extents(shape)
    parts = gamma(key, given, (*outer, given.shape[-1]), dtype)
    return parts / sum(parts, axis=-1, keepdims=True)


def chisquare(key: Any, df: Any, shape: Extents | None = None, dtype: Any = float) -> Array:
    """The distribution of the sum of squares of ``df`` normal numbers."""
    return 2 * gamma(key, FUNCTIONS["divide"](df, 2), shape, dtype)


def t(key: Any, df: Any, shape: Extents | None = None, dtype: Any = float) -> Array:
    """Student's distribution of ``df`` degrees of freedom."""
    first, second = (split(key)[n] for n in range(2))
    spread = gamma(second, FUNCTIONS["divide"](df, 2), shape, dtype)
    half = convert(FUNCTIONS["divide"](df, 2), spread.element)
    return normal(first, spread.shape, dtype) * FUNCTIONS["sqrt"](half / spread)


PUBLIC = ("gamma", "beta", "dirichlet", "chisquare", "t")
