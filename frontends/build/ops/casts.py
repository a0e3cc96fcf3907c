"""Casts, to and from strings too, with saturation and rounding modes of 8-bit floats; bit casts. ONNX Cast 25."""

from __future__ import annotations

from mlc.dialects.types import STRING, bit_width, is_narrow, numpy_dtype
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.strings.conversion import from_string, to_string
from mlc.frontends.build.tensors import Tensor

# To round to a power of two: the increment of the bits of f32 before those of its mantissa are cut off, and the
# condition on which a number becomes 2 ** -127, which is subnormal in f32, so that cutting would not round to it.
ROUNDINGS = {"up": (0x7FFFFF, "x0 <= 1 * "), "down": (0, "x0 < 2 * "), "nearest": (0x400000, "x0 < 1.5 * ")}
LEAST, LARGEST = 2.0**-127, 2.0**127


def cast(build: Builder, x: Tensor, element: str, saturate: bool = True, round_mode: str = "up") -> Tensor:
    """``x`` as ``element``; ``saturate`` and ``round_mode`` (up, down, nearest) concern floats of 8 bits."""
    if x.element == STRING:
        return from_string(build, x, element)
    if element == STRING:
        return to_string(build, x)
    if element == x.element or element[:2] != "f8":
        return build.cast(x, element)
    wide = build.cast(x, "f32")
    if element == "f8e8m0":
        return build.cast(_power_of_two(build, wide, saturate, round_mode), element)
    return build.cast(_clamped(build, wide, element) if saturate else wide, element)


def _clamped(build: Builder, x: Tensor, element: str) -> Tensor:
    """``x`` clamped to the finite range of a narrow float; NaN stays."""
    import ml_dtypes  # which only frontends of narrow floats need

    largest = float(ml_dtypes.finfo(numpy_dtype(element)).max)
    return build.map(f"min(max(x0, {-largest}), {largest})", x)


def _power_of_two(build: Builder, x: Tensor, saturate: bool, round_mode: str) -> Tensor:
    """A power of two that f8e8m0 has, or NaN. Zero and negative numbers saturate to the smallest one."""
    if round_mode not in ROUNDINGS:
        raise NotSupported(f"round_mode '{round_mode}'")
    increment, lowest = ROUNDINGS[round_mode]
    inside = f"({LEAST!r} <= x0) & (x0 <= {LARGEST!r})"
    if saturate:
        x = build.map(f"min(max(x0, {LEAST!r}), {LARGEST!r})", x)
    else:
        x = build.map(f"where({inside}, x0, f32(nan))", x)
    rounded = f"as_f32((as_i32(x0) + {increment}) & {0x7F800000})"
    return build.map(f"where(isnan(x0), x0, where({lowest}{LEAST!r}, {LEAST!r}, {rounded}))", x)


def bit_cast(build: Builder, x: Tensor, element: str) -> Tensor:
    """The bits of ``x`` read as ``element``, a type of the same width. A predicate has the bits of its byte in
    memory.
    """
    x = build.cast(x, "ui8") if x.element == "i1" else x
    target = "ui8" if element == "i1" else element
    if bit_width(x.element) != bit_width(target):
        raise NotSupported(f"{bit_width(x.element)} bits of {x.element} as the {bit_width(target)} of {target}")
    same = x if x.element == target else build.map(f"as_{target}(x0)", x)
    return build.cast(same, element)


def widened(build: Builder, x: Tensor) -> Tensor:
    """``x``, or the value of a narrow float as f32, which holds all of them."""
    return build.cast(x, "f32") if is_narrow(x.element) else x
