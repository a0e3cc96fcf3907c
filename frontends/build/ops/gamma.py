"""The logarithm of the gamma function, and its derivatives: digamma and polygamma.

An argument is moved by steps of 1 to where the asymptotic series holds; one below 1/2 is reflected there. All of it is
computed in f64. Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 6.1.17, 6.1.40, 6.3.18, 6.4.
"""

from __future__ import annotations

import math
from fractions import Fraction

from mlc.frontends.build.builder import Builder
from mlc.frontends.build.tensors import Tensor

BERNOULLI = [Fraction(*each) for each in ((1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6))]
"""The numbers B2, B4, … of the series."""
STEPS = 9  # from where on the series has 16 digits
_FRACTION = "(x0 - round(x0))"
REFLECTED = "where(x0 < 0.5, 1 - x0, x0)"


def log_gamma(build: Builder, x: Tensor) -> Tensor:
    """``log |gamma(x)|`` of floats; infinity at 0, the negative integers and both infinities."""
    given = build.cast(x, "f64")
    y = build.map(REFLECTED, given)
    terms = [f"{float(b / (2 * n * (2 * n - 1)))!r} / x0 ** {2 * n - 1}" for n, b in enumerate(BERNOULLI, 1)]
    tail = f"(x0 - 0.5) * (log(x0) - 1) + {0.5 * math.log(2 * math.pi) - 0.5!r} + {' + '.join(terms)}"
    far = build.map(tail, build.map(f"where(x0 < {STEPS}, x0 + {STEPS}, x0)", y))
    product = " * ".join(f"(min(x0, {STEPS}) + {n})" for n in range(STEPS))
    positive = build.map(f"x1 - where(x0 < {STEPS}, log({product}), 0)", y, far)
    mirrored = f"log({math.pi!r} / abs(sin({math.pi!r} * {_FRACTION}))) - x1"
    text = f"where(abs(x0) == inf, inf, where(x0 < 0.5, {mirrored}, x1))"
    return build.cast(build.map(text, given, positive), x.element)


def digamma(build: Builder, x: Tensor) -> Tensor:
    """The derivative of ``log_gamma``: minus infinity at 0, infinity at -0.0, NaN at the negative integers."""
    given = build.cast(x, "f64")
    y = build.map(REFLECTED, given)
    near = " + ".join(f"1 / (x0 + {n})" for n in range(STEPS))
    terms = "".join(f" - {float(b / (2 * n))!r} / x0 ** {2 * n}" for n, b in enumerate(BERNOULLI, 1))
    positive = build.map(f"log(x0) - 0.5 / x0{terms}", build.map(f"where(x0 < {STEPS}, x0 + {STEPS}, x0)", y))
    positive = build.map(f"x1 - where(x0 < {STEPS}, {near}, 0)", y, positive)
    mirrored = f"x1 - {math.pi!r} / tan({math.pi!r} * {_FRACTION})"
    poles = f"where(x0 == 0, -1 / x0, where((x0 < 0) & (x0 == floor(x0)), nan, {mirrored}))"
    return build.cast(build.map(f"where(x0 < 0.5, {poles}, x1)", given, positive), x.element)


def polygamma(build: Builder, n: int, x: Tensor) -> Tensor:
    """Derivative ``n`` of ``digamma``; at 0 and the negative integers infinity, minus infinity of even ``n``."""
    if n == 0:
        return digamma(build, x)
    given = build.cast(x, "f64")
    positive = _of_positive(build, n, build.map(REFLECTED, given))
    cotangent = f"(1 / tan({math.pi!r} * {_FRACTION}))"
    powers = " + ".join(f"{c}.0 * {' * '.join([cotangent] * k or ['1'])}" for k, c in enumerate(_cotangents(n)) if c)
    mirrored = f"{'-' if n % 2 else ''}x1 - {math.pi ** (n + 1)!r} * ({powers})"
    pole = "inf" if n % 2 else "-inf"
    text = f"where(x0 < 0.5, where(x0 == floor(x0), {pole}, {mirrored}), x1)"
    return build.cast(build.map(text, given, positive), x.element)


def _of_positive(build: Builder, n: int, y: Tensor) -> Tensor:
    """(-1)^(n+1) n! times the sum of (y + k)^-(n+1) over all k from 0 on, by Euler and Maclaurin."""
    order = n + 1
    near = " + ".join(f"1 / (x0 + {k}) ** {order}" for k in range(STEPS))
    rising = [math.prod(range(order, order + 2 * j - 1)) for j in range(1, len(BERNOULLI) + 1)]
    pairs = zip(BERNOULLI, rising, range(1, len(BERNOULLI) + 1), strict=True)
    series = [f"{float(b * r / math.factorial(2 * j))!r} / x0 ** {order + 2 * j - 1}" for b, r, j in pairs]
    far = build.map(f"x0 + {STEPS}", y)
    tail = build.map(f"1 / ({n} * x0 ** {n}) + 0.5 / x0 ** {order} + {' + '.join(series)}", far)
    sign = 1 if n % 2 else -1
    return build.map(f"{float(sign * math.factorial(n))!r} * ({near} + x1)", y, tail)


def _cotangents(n: int) -> list[int]:
    """The coefficients of the polynomial in cot(pi x) that derivative ``n`` of it is, over pi ** n."""
    found = [0, 1]
    for _ in range(n):
        slopes = [k * c for k, c in enumerate(found)][1:]
        found = [-(a + b) for a, b in zip([*slopes, 0, 0], [0, 0, *slopes], strict=True)]
    return found
