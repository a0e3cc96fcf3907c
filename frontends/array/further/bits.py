"""Bits of bytes, exponents and spacings of floats, order of complex numbers. Source: NumPy 2."""

from __future__ import annotations

from typing import Any

from mlc.dialects.types import numpy_dtype
from mlc.errors import InputError
from mlc.frontends.array import dtypes
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.compositions.arranging import ravel
from mlc.frontends.array.functions.creation import arange, zeros
from mlc.frontends.array.functions.elementwise import FUNCTIONS, astype, convert, operands, where
from mlc.frontends.array.functions.floats import nextafter
from mlc.frontends.array.functions.reductions import sum
from mlc.frontends.array.functions.shaping import concat, moveaxis, reshape
from mlc.frontends.array.functions.sorting import argsort
from mlc.frontends.array.selecting.taking import take


def packbits(a: Any, /, axis: int | None = None, bitorder: str = "big") -> Array:
    """Eight elements, as bits (whether they are 0), in each byte along an axis; of the flat array for None.

    Raises:
        InputError: floats, or another ``bitorder``.
    """
    given = as_array(a)
    if dtypes.kind(given.element) > 1:
        raise InputError(f"packbits takes no {given.dtype}", hint="Give integers or booleans")
    moved = moveaxis(ravel(given) if axis is None else given, -1 if axis is None else axis, -1)
    missing = -moved.shape[-1] % 8
    set_ = convert(moved != 0, "ui8")
    whole = concat([set_, zeros((*set_.shape[:-1], missing), dtype="uint8")], axis=-1)
    octets = reshape(whole, (*whole.shape[:-1], whole.shape[-1] // 8, 8))
    found = convert(sum(convert(octets, "i32") << _shifts(bitorder), axis=-1), "ui8")
    return found if axis is None else moveaxis(found, -1, axis)


def unpackbits(a: Any, /, axis: int | None = None, count: int | None = None, bitorder: str = "big") -> Array:
    """The eight bits of each byte along an axis, the first ``count`` of them.

    Raises:
        InputError: other elements than uint8, or another ``bitorder``.
    """
    given = as_array(a)
    if given.element != "ui8":
        raise InputError(f"unpackbits takes no {given.dtype}", hint="Give uint8")
    moved = moveaxis(ravel(given) if axis is None else given, -1 if axis is None else axis, -1)
    bits = (convert(moved, "i32")[..., None] >> _shifts(bitorder)) & 1
    found = reshape(convert(bits, "ui8"), (*moved.shape[:-1], 8 * moved.shape[-1]))
    if count is not None:
        found = concat([found, zeros((*found.shape[:-1], count), dtype="uint8")], axis=-1)[..., :count]
    return found if axis is None else moveaxis(found, -1, axis)


def _shifts(bitorder: str) -> Array:
    if bitorder not in ("big", "little"):
        raise InputError(f"There is no bitorder {bitorder!r}", hint="Give big or little")
    return arange(8, dtype="int32") if bitorder == "little" else arange(7, -1, -1, dtype="int32")


def frexp(x: Any, /) -> tuple[Array, Array]:
    """The mantissa, of magnitude 1/2 to 1, and the exponent, int32, of ``x = mantissa 2^exponent``."""
    (given,) = operands(x, lowest=2)
    special = (given == 0) | (FUNCTIONS["abs"](given) == float("inf")) | (given != given)
    size = convert(FUNCTIONS["abs"](where(special, 1.0, given)), "f64")
    exponent = convert(FUNCTIONS["floor"](FUNCTIONS["log2"](size)), "i64") + 1
    mantissa = _scaled(size, -exponent)
    shift = where(mantissa >= 1, 1, where(mantissa < 0.5, -1, 0))
    mantissa, exponent = _scaled(mantissa, -shift), exponent + shift
    signed = convert(mantissa, given.element) * FUNCTIONS["sign"](given)
    return where(special, given, signed), convert(where(special, 0, exponent), "i32")


def _scaled(x: Array, n: Array) -> Array:
    """``x 2^n`` in float64, by two factors, which neither over- nor underflow."""
    half = n >> 1
    return x * FUNCTIONS["pow"](2.0, convert(half, "f64")) * FUNCTIONS["pow"](2.0, convert(n - half, "f64"))


def spacing(x: Any, /) -> Array:
    """The distance to the next float that is further from 0, negative of negative numbers."""
    (given,) = operands(x, lowest=2)
    away = where(given < 0, -float("inf"), float("inf"))
    finite = FUNCTIONS["abs"](given) < float("inf")
    return where(finite, nextafter(given, convert(away, given.element)) - given, float("nan"))


def sort_complex(a: Any, /) -> Array:
    """Sorted along the last axis, by real and then imaginary parts; complex."""
    given = as_array(a)
    wide = astype(given, "complex128" if numpy_dtype(given.element).itemsize > 4 else "complex64")
    wide = wide if dtypes.kind(given.element) != 3 else given
    order = argsort(FUNCTIONS["imag"](wide), axis=-1)
    if wide.ndim != 1:
        raise InputError(
            f"sort_complex takes vectors, not an array of shape {wide.shape}", hint="Sort each row by vmap"
        )
    by_imaginary = take(wide, order)
    return take(by_imaginary, argsort(FUNCTIONS["real"](by_imaginary), axis=-1))


PUBLIC = ("packbits", "unpackbits", "frexp", "spacing", "sort_complex")
