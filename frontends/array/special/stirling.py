"""Stirling's formula and what cancels in differences of its logarithms: for gamma and beta functions of large numbers.

Source: A. DiDonato and A. Morris, "Algorithm 708", 1992; N. Temme, "The asymptotic expansion of the incomplete
gamma functions", 1979 (DLMF 8.12).
"""

from __future__ import annotations

import math

from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.functions.elementwise import FUNCTIONS, where

CORRECTION = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
"""B(2k) / (2k (2k - 1)), of Bernoulli's numbers."""
TERMS = 11
LEAST = 10
"""From here on Stirling's series has 16 digits; smaller arguments are moved up by as much."""
NEAR_2 = (
    0.42278433509846713, 0.32246703342411326, -0.0673523010531981, 0.020580808427784546, -0.007385551028673986,
    0.0028905103307415234, -0.001192753911703261, 0.0005096695247430425, -0.00022315475845357936,
    9.945751278180853e-05, -4.492623673813314e-05, 2.0507212775670688e-05, -9.439488275268395e-06,
    4.374866789907487e-06, -2.039215753801366e-06, 9.55141213040742e-07, -4.492469198764566e-07,
    2.1207184805554667e-07, -1.00432248239681e-07, 4.769810169363981e-08, -2.2711094608943164e-08,
    1.0838659214896955e-08, -5.183475041970047e-09, 2.4836745438024785e-09, -1.1921401405860912e-09,
    5.731367241678862e-10,
)  # fmt: skip
"""Of ln Γ(2 + z) by powers of z from the first on: 1 - γ, and (ζ(n) - 1) (-1)^n / n."""
EULER = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)
"""B(2k) / 2k."""


def horner(coefficients: tuple[float, ...], x: Array) -> Array:
    """The polynomial of ``x`` whose constant comes first."""
    total = as_array(coefficients[-1], x.element)
    for each in reversed(coefficients[:-1]):
        total = total * x + each
    return total


def correction(z: Array) -> Array:
    """``ln Γ(z) - (z - 1/2) ln z + z - ln(2 π) / 2`` of numbers from 10 on."""
    return horner(CORRECTION, 1 / (z * z)) / z


def excess(u: Array) -> Array:
    """``u - ln(1 + u)``, with all digits of small ``u``, by the series of the logarithm in u / (2 + u)."""
    small = FUNCTIONS["abs"](u) < 0.3
    near, far = where(small, u, 0.0), where(small, 1.0, u)
    r = near / (2 + near)
    series = horner(tuple(1 / (2 * n + 3) for n in range(TERMS)), r * r)
    return where(small, near * r - 2 * r * r * r * series, far - FUNCTIONS["log1p"](far))


def power_term(a: Array, x: Array) -> Array:
    """``x^a exp(-x) / Γ(a)`` of ``a`` from 10 on."""
    spread = a * excess((x - a) / a)
    return FUNCTIONS["exp"](-spread - correction(a)) * FUNCTIONS["sqrt"](a / (2 * math.pi))


def risen(x: Array) -> tuple[Array, Array, Array]:
    """``z`` from 10 on, what ``x + 10`` was rounded by, and by what ``Γ(z)`` is divided."""
    small = x < LEAST
    below = where(small, x, 1.0)
    product = as_array(1.0, x.element)
    for n in range(LEAST):
        product = product * (below + n)
    z = where(small, x + LEAST, x)
    return z, where(small, below - (z - LEAST), 0.0), where(small, product, 1.0)


def positive_gamma(x: Array) -> Array:
    """Γ(x) of positive numbers."""
    z, lost, product = risen(x)
    half = FUNCTIONS["pow"](z, z / 2 - 0.25)
    found = math.sqrt(2 * math.pi) * FUNCTIONS["exp"](correction(z)) * half * FUNCTIONS["exp"](-z) * half
    return found * (1 + lost * FUNCTIONS["log"](z)) / product


def positive_gammaln(x: Array) -> Array:
    """ln Γ(x) of positive numbers, in their type; with all digits near 1 and 2, where it is 0."""
    z, lost, product = risen(x)
    logarithm = FUNCTIONS["log"](z)
    far = (z - 0.5) * logarithm - z + 0.5 * math.log(2 * math.pi) + correction(z) + lost * logarithm
    far = far - FUNCTIONS["log"](product)
    return where(x < 3.5, _near_2(where(x < 3.5, x, 2.0)), far)


def _near_2(x: Array) -> Array:
    """ln Γ(x) of numbers from 0 to 3.5: from the nearest whole number, by recurrence from 2 + z."""
    step = where(x < 0.5, 0.0, where(x < 1.5, 1.0, where(x < 2.5, 2.0, 3.0)))
    z = x - step
    series = z * horner(NEAR_2, z)
    below = series - FUNCTIONS["log1p"](z) - where(step == 0, FUNCTIONS["log"](where(step == 0, x, 1.0)), 0.0)
    return where(step < 2, below, where(step == 2, series, series + FUNCTIONS["log"](2 + z)))


def positive_digamma(x: Array) -> Array:
    """The derivative of ``positive_gammaln``."""
    small = x < LEAST
    below, shift = where(small, x, 1.0), as_array(0.0, x.element)
    for n in range(LEAST):
        shift = shift + 1 / (below + n)
    z = where(small, below + LEAST, x)
    inverse = 1 / (z * z)
    return FUNCTIONS["log"](z) - 0.5 / z - inverse * horner(EULER, inverse) - where(small, shift, 0.0)


def log_quotient(a: Array, b: Array) -> Array:
    """``ln(Γ(b) / Γ(a + b))`` of positive ``a`` and of ``b`` from 10 on."""
    turned = (a + b - 0.5) * FUNCTIONS["log1p"](a / b)
    return correction(b) - correction(a + b) - turned - a * (FUNCTIONS["log"](b) - 1)
