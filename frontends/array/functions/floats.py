"""Functions of the representation of floats: signs and neighbours. Source: Array API 2025.12."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlc.errors import InputError
from mlc.frontends.array import dtypes
from mlc.frontends.array.array import Array, apply, as_array
from mlc.frontends.array.functions.elementwise import apply_map, broadcast, convert, operands
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.ops import functions
from mlc.frontends.build.tensors import Tensor

BITS = {"f32": "i32", "f64": "i64"}


def unwidened(build: Builder, xs: Sequence[Tensor], expr: str) -> Tensor:
    """An expression on the bits of its operands. Halves stay halves here, while other formulas compute them in
    float32.
    """
    return build.map(expr, *xs)


def signbit(x: Any, /) -> Array:
    """Whether a float has its sign set, as -0 has; whether an integer is negative."""
    given = as_array(x)
    if dtypes.kind(given.element) == 3:
        raise InputError(f"{given.dtype} has no signbit", hint="Use real or imag")
    if dtypes.kind(given.element) < 2:
        return convert(given, "i64") < 0 if given.element != "ui64" else given != given
    return apply(unwidened, [given], (functions.signbit(given.element),), "i1", given.shape)


def copysign(x1: Any, x2: Any, /) -> Array:
    """``x1`` with the sign of ``x2``."""
    a, b = operands(x1, x2, lowest=2)
    return apply(unwidened, [a, b], (functions.copysign(a.element),), a.element, broadcast(a.shape, b.shape))


def nextafter(x1: Any, x2: Any, /) -> Array:
    """The next float from ``x1`` towards ``x2``: one more or less as integers. Of float32 and float64."""
    a, b = operands(x1, x2, lowest=2)
    if a.element not in ("f32", "f64"):
        raise InputError(f"nextafter is not defined on {a.dtype}", hint="Convert to float32 by astype")
    bits, least = BITS[a.element], f"as_{a.element}({BITS[a.element]}(1))"
    step = f"where((x0 < x1) == (x0 > 0), {bits}(1), {bits}(-1))"
    moved = f"where(x0 == 0, where(x1 > 0, {least}, -{least}), as_{a.element}(as_{bits}(x0) + {step}))"
    return apply_map(f"where(isnan(x0) | isnan(x1), x0 + x1, where(x0 == x1, x1, {moved}))", a, b)


PUBLIC = ("copysign", "nextafter", "signbit")
