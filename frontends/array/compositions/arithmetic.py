"""Elementwise functions of NumPy's beyond the standard's. Source: NumPy 2, ``jax.numpy``."""

from __future__ import annotations

import math
from typing import Any

from mlc.errors import InputError
from mlc.frontends.array import dtypes
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.functions.elementwise import FUNCTIONS, apply_map, convert, is_complex, operands, pow, where
from mlc.frontends.array.transforms.control import while_loop


def _floats(x: Any) -> Array:
    (given,) = operands(x, lowest=2)
    return given


def _real(name: str, *xs: Any, lowest: int = 0) -> list[Array]:
    """Operands in a common real type.

    Raises:
        InputError: complex numbers.
    """
    given = operands(*xs, lowest=lowest)
    if is_complex(*given):
        raise InputError(f"mlc.numpy.{name} takes no complex numbers", hint="Use abs, real or imag")
    return given


def round(x: Any, /, decimals: int = 0) -> Array:
    """Round to ``decimals`` decimal digits. Ties go to the even digit."""
    (given,), whole = operands(x), FUNCTIONS["round"]
    if not decimals or dtypes.kind(given.element) < 2 and decimals > 0:
        return whole(given)
    factor = 10.0 ** max(decimals, -decimals)
    wide = given * factor if decimals > 0 else given / factor
    found = whole(wide) / factor if decimals > 0 else whole(wide) * factor
    return convert(found, given.element)


def fabs(x: Any, /) -> Array:
    """Absolute values as floats."""
    return FUNCTIONS["abs"](*_real("fabs", x, lowest=2))


def cbrt(x: Any, /) -> Array:
    """Cube roots, from a power that one step of Newton's method improves."""
    (given,) = _real("cbrt", x, lowest=2)
    root = apply_map(f"where(x0 < 0, -((-x0) ** {1 / 3!r}), x0 ** {1 / 3!r})", given)  # its derivative at 0 is infinite
    whole = "(x0 == 0) | (abs(x0) == inf) | isnan(x0)"
    return apply_map(f"where({whole}, x1, x1 - (x1 - x0 / (x1 * x1)) / 3)", given, root)


def exp2(x: Any, /) -> Array:
    """``2 ** x``."""
    return pow(2.0, _floats(x))


def degrees(x: Any, /) -> Array:
    """Radians as degrees."""
    return _real("degrees", x, lowest=2)[0] * (180 / math.pi)


def radians(x: Any, /) -> Array:
    """Degrees as radians."""
    return _real("radians", x, lowest=2)[0] * (math.pi / 180)


def logaddexp2(x1: Any, x2: Any, /) -> Array:
    """The binary logarithm of ``2 ** x1 + 2 ** x2``."""
    a, b = (x * math.log(2) for x in _real("logaddexp2", x1, x2, lowest=2))
    return FUNCTIONS["logaddexp"](a, b) / math.log(2)


def fmax(x1: Any, x2: Any, /) -> Array:
    """The greater of two elements. Where one of them is NaN: the other one."""
    a, b = _real("fmax", x1, x2)
    floating = dtypes.kind(a.element) == 2
    return apply_map("where(isnan(x0), x1, where(isnan(x1), x0, max(x0, x1)))" if floating else "max(x0, x1)", a, b)


def fmin(x1: Any, x2: Any, /) -> Array:
    """The lesser of two elements. Where one of them is NaN: the other one."""
    a, b = _real("fmin", x1, x2)
    floating = dtypes.kind(a.element) == 2
    return apply_map("where(isnan(x0), x1, where(isnan(x1), x0, min(x0, x1)))" if floating else "min(x0, x1)", a, b)


def fmod(x1: Any, x2: Any, /) -> Array:
    """The remainder with the sign of ``x1``, as C's."""
    return apply_map("fmod(x0, x1)", *_real("fmod", x1, x2))


def heaviside(x1: Any, x2: Any, /) -> Array:
    """0 below 0, 1 above it, and ``x2`` at 0."""
    a, b = _real("heaviside", x1, x2, lowest=2)
    return apply_map("where(isnan(x0), x0, where(x0 < 0, 0, where(x0 > 0, 1, x1)))", a, b)


def divmod(x1: Any, x2: Any, /) -> tuple[Array, Array]:
    """``floor_divide`` and ``remainder``."""
    return FUNCTIONS["floor_divide"](x1, x2), FUNCTIONS["remainder"](x1, x2)


def modf(x: Any, /) -> tuple[Array, Array]:
    """The fraction and the whole part, both with the sign of ``x``."""
    (given,) = _real("modf", x, lowest=2)
    whole = FUNCTIONS["trunc"](given)
    return apply_map("where(abs(x0) == inf, 0 * sign(x0), x0 - x1)", given, whole), whole


def float_power(x1: Any, x2: Any, /) -> Array:
    """Powers as floats."""
    return pow(*operands(x1, x2, lowest=2))


def ldexp(x1: Any, x2: Any, /) -> Array:
    """``x1 * 2 ** x2``."""
    (given,) = _real("ldexp", x1, lowest=2)
    return given * exp2(convert(as_array(x2), given.element))


def sinc(x: Any, /) -> Array:
    """``sin(πx) / (πx)``, and 1 at 0."""
    (given,) = _real("sinc", x, lowest=2)
    safe = where(given == 0, 1.0, given) * math.pi
    return where(given == 0, 1 - given * given * (math.pi**2 / 6), FUNCTIONS["sin"](safe) / safe)


def angle(z: Any, /, deg: bool = False) -> Array:
    """The arguments of complex numbers in radians, or degrees."""
    given = _floats(z)
    found = FUNCTIONS["atan2"](FUNCTIONS["imag"](given), FUNCTIONS["real"](given))
    return degrees(found) if deg else found


def nan_to_num(x: Any, /, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Array:
    """Numbers in place of NaN and infinities: by default 0, the greatest and the least float of the type."""
    given = as_array(x)
    if dtypes.kind(given.element) < 2:
        return given
    if is_complex(given):
        parts = (nan_to_num(FUNCTIONS[part](given), copy, nan, posinf, neginf) for part in ("real", "imag"))
        re, im = parts
        return re + im * 1j
    limits = dtypes.limits(given.element)
    high, low = (float(limits.max) if posinf is None else posinf), (float(limits.min) if neginf is None else neginf)
    found = where(FUNCTIONS["isnan"](given), nan, given)
    return where(found == math.inf, high, where(found == -math.inf, low, found))


def bitwise_count(x: Any, /) -> Array:
    """How many bits of the absolute value of an integer are 1; uint8."""
    (given,) = _integers("bitwise_count", x)
    rest, found = FUNCTIONS["abs"](given), given * 0
    for _ in range(8 * given.itemsize):
        found, rest = found + (rest & 1), rest >> 1
    return convert(found, "ui8")


def gcd(x1: Any, x2: Any, /) -> Array:
    """The greatest common divisors of integers, by Euclid's algorithm."""
    a, b = (FUNCTIONS["abs"](x) for x in _integers("gcd", x1, x2))
    from mlc.frontends.array.functions.reductions import any_
    from mlc.frontends.array.functions.shaping import broadcast_arrays

    def step(state: tuple[Array, Array]) -> tuple[Array, Array]:
        x, y = state
        return where(y == 0, x, y), where(y == 0, y, x % where(y == 0, 1, y))

    return while_loop(lambda state: any_(state[1] != 0), step, broadcast_arrays(a, b))[0]


def lcm(x1: Any, x2: Any, /) -> Array:
    """The least common multiples of integers."""
    a, b = (FUNCTIONS["abs"](x) for x in _integers("lcm", x1, x2))
    common = gcd(a, b)
    return where(common == 0, 0, a // where(common == 0, 1, common) * b)


def _integers(name: str, *xs: Any) -> list[Array]:
    given = operands(*xs)
    if dtypes.kind(given[0].element) != 1:
        raise InputError(f"mlc.numpy.{name} takes integers, not {given[0].dtype}", hint="Give integers")
    return given


PUBLIC = (
    *(
        "round",
        "fabs",
        "cbrt",
        "exp2",
        "degrees",
        "radians",
        "logaddexp2",
        "fmax",
        "fmin",
        "fmod",
        "heaviside",
        "divmod",
    ),
    *("modf", "float_power", "ldexp", "sinc", "angle", "nan_to_num", "bitwise_count", "gcd", "lcm"),
)
