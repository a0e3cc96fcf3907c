"""Reductions that pass NaN over. Source: NumPy 2, ``jax.numpy``."""

from __future__ import annotations

import math
from typing import Any

from mlc.frontends.array import dtypes
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.functions import positions, reductions
from mlc.frontends.array.functions.elementwise import FUNCTIONS, convert, operands
from mlc.frontends.array.functions.elementwise import where as where_
from mlc.frontends.array.functions.reductions import Axis
from mlc.frontends.array.functions.running import cumprod, cumsum
from mlc.frontends.array.further import spreads


def _filled(x: Any, value: float) -> Array:
    given = as_array(x)
    return where_(FUNCTIONS["isnan"](given), value, given) if dtypes.kind(given.element) >= 2 else given


def _counted(x: Array, axis: Axis, keepdims: bool, mask: Any = None) -> Array:
    """The number of elements that are not NaN, among those for which a mask holds."""
    known = FUNCTIONS["logical_not"](FUNCTIONS["isnan"](x))
    return reductions.sum(known, axis=axis, keepdims=keepdims, where=mask)


def nansum(
    x: Any, /, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Array:
    """Sums of the elements that are not NaN."""
    return reductions.sum(_filled(x, 0), axis, dtype, keepdims=keepdims, initial=initial, where=where)


def nanprod(
    x: Any, /, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Array:
    """Products of the elements that are not NaN."""
    return reductions.prod(_filled(x, 1), axis, dtype, keepdims=keepdims, initial=initial, where=where)


def nanmean(x: Any, /, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False, where: Any = None) -> Array:
    """Means of the elements that are not NaN; NaN where all are."""
    given = _floats(x, dtype)
    total = nansum(given, axis, keepdims=keepdims, where=where)
    return total / convert(_counted(given, axis, keepdims, where), given.element)


def _floats(x: Any, dtype: Any) -> Array:
    (given,) = operands(x, lowest=2)  # sums of integers overflow
    return given if dtype is None else convert(given, dtypes.element(dtype))


def nanvar(
    x: Any, /, axis: Axis = None, dtype: Any = None, *, ddof: float = 0, correction: float = 0, keepdims: bool = False,
    where: Any = None, mean: Any = None,
) -> Array:  # fmt: skip
    """Variances of the elements that are not NaN, as ``var``; NaN where there are no more than ``ddof`` of them."""
    if dtypes.kind(as_array(x).element) < 2:  # none is NaN
        return spreads.var(x, axis, dtype, ddof=ddof, correction=correction, keepdims=keepdims, where=where, mean=mean)
    given = _floats(x, dtype)
    known = FUNCTIONS["logical_not"](FUNCTIONS["isnan"](given))
    known = known if where is None else FUNCTIONS["logical_and"](known, where)
    found = spreads.var(given, axis, ddof=ddof, correction=correction, keepdims=keepdims, where=known, mean=mean)
    few = reductions.sum(known, axis=axis, keepdims=keepdims) <= ddof + correction
    return where_(few, math.nan, found)


def nanstd(
    x: Any, /, axis: Axis = None, dtype: Any = None, *, ddof: float = 0, correction: float = 0, keepdims: bool = False,
    where: Any = None, mean: Any = None,
) -> Array:  # fmt: skip
    """Standard deviations of the elements that are not NaN: square roots of ``nanvar``."""
    found = nanvar(x, axis, dtype, ddof=ddof, correction=correction, keepdims=keepdims, where=where, mean=mean)
    return FUNCTIONS["sqrt"](found)


def nanmax(x: Any, /, axis: Axis = None, *, keepdims: bool = False, initial: Any = None, where: Any = None) -> Array:
    """The greatest elements that are not NaN; NaN where all are, and ``initial`` is not given."""
    return _extreme("max", -math.inf, x, axis, keepdims, initial, where)


def nanmin(x: Any, /, axis: Axis = None, *, keepdims: bool = False, initial: Any = None, where: Any = None) -> Array:
    """The least elements that are not NaN; NaN where all are, and ``initial`` is not given."""
    return _extreme("min", math.inf, x, axis, keepdims, initial, where)


def _extreme(name: str, value: float, x: Any, axis: Axis, keepdims: bool, initial: Any, mask: Any) -> Array:
    given = as_array(x)
    options = {"axis": axis, "keepdims": keepdims, "initial": initial, "where": mask}
    found = getattr(reductions, name)(_filled(given, value), **options)
    if dtypes.kind(given.element) < 2 or initial is not None:
        return found
    return where_(_counted(given, axis, keepdims) == 0, math.nan, found)


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
