"""Elementwise functions of complex arrays in terms of their parts. Source: Array API 2025.12, C99 annex G.

Inverse functions are from Kahan, "Branch cuts for complex elementary functions" (1987); the quotient is Smith's (CACM
1962), in which no square overflows.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from mlc.errors import InputError
from mlc.frontends.array import dtypes
from mlc.frontends.array.array import Array
from mlc.frontends.array.complex.expressions import FORMULAS, REAL, Formula
from mlc.frontends.array.complex.pair import ComplexArray, by_parts, imaginary, real
from mlc.frontends.array.functions.elementwise import FUNCTIONS as F
from mlc.frontends.array.functions.elementwise import apply_map, convert
from mlc.frontends.array.functions.floats import copysign
from mlc.frontends.array.record import where_called


def elementwise(name: str, *operands: Array) -> Array:
    """Function ``name`` of complex operands, or of a complex and a real one.

    Raises:
        InputError: the standard has no such function of complex numbers.
    """
    element = dtypes.promote(*(x.element for x in operands))
    part = dtypes.PART[element]
    given = [as_complex(x, element) if isinstance(x, ComplexArray) else convert(x, part) for x in operands]
    if name in COMPOSED:
        return COMPOSED[name](*given)
    parts = [part for x in given for part in (real(x), imaginary(x))]
    if name in REAL:
        return apply_map(REAL[name], *parts)
    if name in FORMULAS:
        return _applied(FORMULAS[name], parts)
    raise InputError(f"{where_called()}: {name} of complex numbers is not defined", hint="Use real, imag or abs")


def _applied(formula: Formula, parts: list[Array]) -> Array:
    for step in formula.steps:
        parts = [*parts, apply_map(step, *parts)]
    return ComplexArray(apply_map(formula.re, *parts), apply_map(formula.im, *parts))


def as_complex(x: Array, element: str) -> Array:
    """``x`` in this complex type."""
    part = dtypes.PART[element]
    return ComplexArray(convert(real(x), part), convert(imaginary(x), part))


def bilinear(f: Callable[[Array, Array], Array], a: Array, b: Array) -> Array:
    """A product that is linear in both operands: four of the parts, two where one operand is real."""
    if isinstance(a, ComplexArray) and isinstance(b, ComplexArray):
        return ComplexArray(f(a.re, b.re) - f(a.im, b.im), f(a.re, b.im) + f(a.im, b.re))
    return by_parts(f, a, b)


def multiply(a: Array, b: Array) -> Array:
    """A product by a real number is one of each part."""
    both = isinstance(a, ComplexArray) and isinstance(b, ComplexArray)
    if not both:
        return by_parts(F["multiply"], a, b)
    return _applied(FORMULAS["multiply"], [real(a), imaginary(a), real(b), imaginary(b)])


def divide(a: Array, b: Array) -> Array:
    if not isinstance(b, ComplexArray):
        return by_parts(F["divide"], a, b)
    x, y = real(a), imaginary(a)
    steep = apply_map("abs(x0) < abs(x1)", b.re, b.im)
    large, small = (apply_map("where(x0, x1, x2)", steep, *pair) for pair in ((b.im, b.re), (b.re, b.im)))
    ratio = apply_map("where(x1 == 0, x1, x0 / x1)", small, large)
    below = apply_map("x0 + x1 * x2", large, small, ratio)
    re = apply_map("where(x0, x1 * x3 + x2, x1 + x2 * x3) / x4", steep, x, y, ratio, below)
    im = apply_map("where(x0, x2 * x3 - x1, x2 - x1 * x3) / x4", steep, x, y, ratio, below)
    return ComplexArray(re, im)


def reciprocal(x: Array) -> Array:
    return 1 / x


def log1p(x: Array) -> Array:
    """``log(1 + x)``, accurate near 0."""
    shifted = F["log"](ComplexArray(1 + real(x), imaginary(x)))
    near = "where(abs(x0) + abs(x1) < 0.5, 0.5 * log1p(x0 * (2 + x0) + x1 * x1), x2)"
    return ComplexArray(apply_map(near, real(x), imaginary(x), real(shifted)), imaginary(shifted))


def power(a: Array, b: Array) -> Array:
    """``exp(b log a)``; 0 to a power with a positive real part is 0, and to 0 it is 1."""
    found = F["exp"](multiply(b, F["log"](a)))
    zero, size = elementwise("equal", a, a * 0), real(b)
    re = apply_map(
        "where(x0, where(x1 > 0, x2 * 0, where(x1 == 0, x2 * 0 + 1, nan)), x3)", zero, size, size, real(found)
    )
    im = apply_map("where(x0, where(x1 >= 0, x1 * 0, nan), x2)", zero, size, imaginary(found))
    return ComplexArray(re, im)


def _roots(x: Array) -> tuple[Array, ...]:
    """The parts of the roots of 1 - x and of 1 + x."""
    below, above = ComplexArray(1 - real(x), -imaginary(x)), ComplexArray(1 + real(x), imaginary(x))
    return tuple(part(root) for root in (F["sqrt"](below), F["sqrt"](above)) for part in (real, imaginary))


_INFINITE = REAL["isinf"]


def asin(x: Array) -> Array:
    a, b, roots = real(x), imaginary(x), _roots(x)
    along, across = apply_map("x0 * x2 - x1 * x3", *roots), apply_map("x0 * x3 - x1 * x2", *roots)
    re = apply_map(f"where({_INFINITE}, atan2(x0, abs(x1)), where(x0 == 0, x0, atan2(x0, x2)))", a, b, along)
    im = apply_map(f"where({_INFINITE}, where(x1 < 0, -inf, inf), x2)", a, b, F["asinh"](across))
    return ComplexArray(re, im)


def acos(x: Array) -> Array:
    a, b, roots = real(x), imaginary(x), _roots(x)
    angle = f"where((x0 == 0) & isnan(x1), {math.pi / 2!r}, 2 * atan2(x2, x3))"
    re = apply_map(f"where({_INFINITE}, atan2(abs(x1), x0), {angle})", a, b, roots[0], roots[2])
    across = apply_map("x2 * x1 - x3 * x0", *roots)
    im = apply_map(f"where({_INFINITE}, where(x1 < 0, inf, -inf), x2)", a, b, F["asinh"](across))
    return ComplexArray(re, im)


def acosh(x: Array) -> Array:
    """i acos x or -i acos x, whichever is in the right half-plane."""
    found = acos(x)
    return ComplexArray(F["abs"](imaginary(found)), copysign(real(found), imaginary(x)))


def _swapped(f: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """-i f(i x): ``asinh`` of ``asin``, ``atan`` of ``atanh``, ``tan`` of ``tanh``."""

    def swapped(x: Array) -> Array:
        found = f(ComplexArray(-imaginary(x), real(x)))
        return ComplexArray(imaginary(found), -real(found))

    return swapped


COMPOSED: dict[str, Callable[..., Array]] = {
    "acos": acos,
    "acosh": acosh,
    "asin": asin,
    "asinh": _swapped(asin),
    "atan": _swapped(lambda x: elementwise("atanh", x)),
    "divide": divide,
    "log1p": log1p,
    "multiply": multiply,
    "pow": power,
    "reciprocal": reciprocal,
    "tan": _swapped(lambda x: elementwise("tanh", x)),
}
"""Functions that are not one formula of the parts, or that treat real operands in their own way."""
