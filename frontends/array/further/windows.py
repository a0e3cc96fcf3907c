"""Kaiser's window, and the Bessel function of which it is made. Source: NumPy 2."""

from __future__ import annotations

from typing import Any

from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.functions.creation import arange, ones
from mlc.frontends.array.functions.elementwise import FUNCTIONS, convert
from mlc.frontends.array.special.bessel import i0


def kaiser(M: int, beta: Any, /) -> Array:
    """[M]: ``i0(β √(1 - r²)) / i0(β)`` for r from -1 to 1; all of ``M < 1`` is nothing."""
    shape = as_array(beta, "f32")
    if M < 2:
        return ones((max(M, 0),), dtype=shape.dtype)
    middle = (M - 1) / 2
    r = (convert(arange(M), "f64") - middle) / middle
    inner = FUNCTIONS["sqrt"](FUNCTIONS["maximum"](1 - r * r, 0.0))
    wide = convert(shape, "f64")
    return convert(i0(wide * inner) / i0(wide), shape.element)


PUBLIC = ("i0", "kaiser")
