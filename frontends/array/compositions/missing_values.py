"""Reductions that pass NaN over. Source: NumPy 2, ``jax.numpy``."""

from __future__ import annotations

import math
from typing import Any

from mlc.frontends.array import dtypes
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.functions import positions, reductions
from mlc.frontends.array.functions.elementwise import FUNCTIONS, operands, where
from mlc.frontends.array.functions.reductions import Axis
from mlc.frontends.array.functions.running import cumprod, cumsum


def _filled(x: Any, value: float) -> Array:
    given = as_array(x)
    return where(FUNCTIONS["isnan"](given), value, given) if dtypes.kind(given.element) >= 2 else given


def _counted(x: Array, axis: Axis, keepdims: bool) -> Array:
    """How many elements are not NaN."""
    return reductions.sum(FUNCTIONS["logical_not"](FUNCTIONS["isnan"](x)), axis=axis, keepdims=keepdims)


def nansum(x: Any, /, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False) -> Array:
    """Sums of the elements that are not NaN."""
    return reductions.sum(_filled(x, 0), axis=axis, dtype=dtype, keepdims=keepdims)


def nanprod(x: Any, /, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False) -> Array:
    """Products of the elements that are not NaN."""
    return reductions.prod(_filled(x, 1), axis=axis, dtype=dtype, keepdims=keepdims)


def nanmean(x: Any, /, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """Means of the elements that are not NaN; NaN where all are."""
    (given,) = operands(x, lowest=2)  # sums of integers overflow
    return nansum(given, axis, keepdims=keepdims) / _counted(given, axis, keepdims)


def nanvar(x: Any, /, axis: Axis = None, ddof: float = 0, *, keepdims: bool = False) -> Array:
    """Variances of the elements that are not NaN."""
    (given,) = operands(x, lowest=2)
    distance = given - nanmean(given, axis, keepdims=True)
    return nansum(distance * distance, axis, keepdims=keepdims) / (_counted(given, axis, keepdims) - ddof)


def nanstd(x: Any, /, axis: Axis = None, ddof: float = 0, *, keepdims: bool = False) -> Array:
    """Standard deviations of the elements that are not NaN."""
    return FUNCTIONS["sqrt"](nanvar(x, axis, ddof, keepdims=keepdims))


def nanmax(x: Any, /, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """The greatest elements that are not NaN; NaN where all are."""
    return _extreme("max", -math.inf, x, axis, keepdims)


def nanmin(x: Any, /, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """The least elements that are not NaN; NaN where all are."""
    return _extreme("min", math.inf, x, axis, keepdims)


def _extreme(name: str, value: float, x: Any, axis: Axis, keepdims: bool) -> Array:
    given = as_array(x)
    found = getattr(reductions, name)(_filled(given, value), axis=axis, keepdims=keepdims)
    if dtypes.kind(given.element) < 2:
        return found
    return where(_counted(given, axis, keepdims) == 0, math.nan, found)


def nanargmax(x: Any, /, axis: int | None = None, *, keepdims: bool = False) -> Array:
    """The index of the greatest element that is not NaN."""
    return positions.argmax(_filled(x, -math.inf), axis=axis, keepdims=keepdims)


def nanargmin(x: Any, /, axis: int | None = None, *, keepdims: bool = False) -> Array:
    """The index of the least element that is not NaN."""
    return positions.argmin(_filled(x, math.inf), axis=axis, keepdims=keepdims)


def nancumsum(x: Any, /, axis: int | None = None, dtype: Any = None) -> Array:
    """``cumsum`` with 0 in place of NaN."""
    return cumsum(_filled(x, 0), axis, dtype)


def nancumprod(x: Any, /, axis: int | None = None, dtype: Any = None) -> Array:
    """``cumprod`` with 1 in place of NaN."""
    return cumprod(_filled(x, 1), axis, dtype)


PUBLIC = (
    *("nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin", "nanargmax", "nanargmin", "nancumsum"),
    "nancumprod",
)
