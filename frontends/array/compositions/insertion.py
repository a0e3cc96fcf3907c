"""Elements put around, between and out of others: pad, append, insert, delete. Source: NumPy 2, ``jax.numpy``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mlc.dialects.semantics.dims import DimLike
from mlc.errors import InputError
from mlc.frontends.array import dtypes
from mlc.frontends.array.array import Array, as_array, from_numpy
from mlc.frontends.array.compositions.arranging import ravel
from mlc.frontends.array.functions import reductions
from mlc.frontends.array.functions.creation import full
from mlc.frontends.array.functions.elementwise import FUNCTIONS, convert, where
from mlc.frontends.array.functions.reductions import axes_of
from mlc.frontends.array.functions.shaping import broadcast_to, concat, expand_dims, flip, moveaxis
from mlc.frontends.array.selecting.taking import take

BY_INDEX = ("edge", "reflect", "symmetric", "wrap")
BY_VALUE: dict[str, Callable[..., Array]] = {
    "maximum": reductions.max,
    "mean": reductions.mean,
    "minimum": reductions.min,
}
"""Modes of ``pad`` that repeat elements, and those that repeat one value of each line."""


def pad(
    x: Any,
    /,
    pad_width: Any,
    mode: str | Callable[..., Any] = "constant",
    constant_values: Any = 0,
    *,
    end_values: Any = 0,
) -> Array:
    """``x`` with more elements before and after each axis: a number, a pair (before, after), or a pair an axis.

    ``mode``: ``constant`` (``constant_values``, with pairs as ``pad_width``), ``edge``, ``linear_ramp`` (from the edge
    to ``end_values``), ``reflect``, ``symmetric``, ``wrap``, ``maximum``, ``mean``, ``minimum`` or ``empty`` (zeros).

    Raises:
        InputError: another mode, or negative widths.
    """
    given = as_array(x)
    widths = _pairs(pad_width, given.ndim)
    if mode not in ("constant", "empty", "linear_ramp", *BY_INDEX, *BY_VALUE) or any(
        n < 0 for pair in widths for n in pair
    ):
        hint = f"Modes are constant, empty, linear_ramp, {', '.join((*BY_INDEX, *BY_VALUE))}; widths are from 0 on"
        raise InputError(f"mlc.numpy.pad cannot pad by {pad_width} in mode {mode!r}", hint=hint)
    given_values = {"empty": 0, "linear_ramp": end_values}.get(str(mode), constant_values)
    values = _pairs(given_values, given.ndim)
    for axis, (low, high) in enumerate(widths):
        if low or high:
            given = _padded(given, axis, low, high, str(mode), values[axis])
    return given


def _pairs(given: Any, rank: int) -> list[tuple[Any, Any]]:
    """The amounts as a pair (before, after) for each axis."""
    if isinstance(given, dict):
        return [_pairs(given.get(n, given.get(n - rank, 0)), 1)[0] for n in range(rank)]
    if isinstance(given, list | tuple | np.ndarray):
        rows = [tuple(each) if isinstance(each, list | tuple | np.ndarray) else each for each in given]
        if not any(isinstance(each, tuple) for each in rows):
            return [(rows[0], rows[-1])] * rank
        pairs = [(each[0], each[-1]) if isinstance(each, tuple) else (each, each) for each in rows]
        return pairs * rank if len(pairs) == 1 else pairs
    return [(given, given)] * rank


def _padded(x: Array, axis: int, low: int, high: int, mode: str, values: tuple[Any, Any]) -> Array:
    if mode in BY_INDEX:
        at = np.pad(np.arange(_fixed(x, axis)), (low, high), mode)  # type: ignore[call-overload]
        return take(x, from_numpy(at), axis=axis)
    sides = [*zip((low, high), values, strict=True)]
    if mode in BY_VALUE:
        value = convert(BY_VALUE[mode](x, axis=axis, keepdims=True), x.element)
        parts = [broadcast_to(value, _extended(x, axis, n)) for n, _ in sides]
    elif mode == "linear_ramp":
        edges = take(x, from_numpy(np.array([0, -1])), axis=axis)
        parts = [_ramp(take(edges, as_array([side]), axis=axis), axis, *sides[side]) for side in (0, 1)]
        parts[0] = flip(parts[0], axis=axis)
    else:
        parts = [full(_extended(x, axis, n), value, dtype=x.dtype) for n, value in sides]
    return concat([parts[0], x, parts[1]], axis=axis)


def _ramp(edge: Array, axis: int, count: int, end: Any) -> Array:
    """``count`` numbers from beside ``edge`` to ``end``; integers are rounded down, as NumPy's."""
    part = np.arange(1, count + 1).reshape([-1 if n == axis else 1 for n in range(edge.ndim)]) / max(count, 1)
    element = edge.element if dtypes.kind(edge.element) >= 2 else "f64"
    start, stop, along = (convert(as_array(each), element) for each in (edge, end, from_numpy(part)))
    line = where(along == 1, stop, start + along * (stop - start))
    return line if element == edge.element else convert(FUNCTIONS["floor"](line), edge.element)


def _fixed(x: Array, axis: int) -> int:
    """An extent that must be a number.

    Raises:
        InputError: it is an open dimension.
    """
    found = x.shape[axis]
    if not isinstance(found, int):
        what = f"Elements of the open dimension '{found}' at known indices: it is not known whether they are there"
        raise InputError(what, hint="Fix the dimension")
    return found


def _extended(x: Array, axis: int, extent: DimLike) -> list[DimLike]:
    return [extent if n == axis else d for n, d in enumerate(x.shape)]


def append(x: Any, values: Any, /, axis: int | None = None) -> Array:
    """``values`` after ``x`` along ``axis``; both flat for None."""
    return concat([as_array(x), as_array(values)], axis=axis)


def insert(x: Any, obj: Any, values: Any, /, axis: int | None = None) -> Array:
    """``x`` with ``values`` inserted before the elements at known indices along ``axis``. None: along the flattened
    array.
    """
    given, at = (ravel(x), 0) if axis is None else (as_array(x), axes_of(as_array(x), axis)[0])
    extent, where_ = len(moveaxis(given, at, 0)), _known("insert", obj)
    more = convert(as_array(values, given.element), given.element)
    positions = np.atleast_1d(where_)
    if where_.ndim == 0 and more.ndim > 1:  # the first axis of values is the one of the insertion, as in NumPy
        more = moveaxis(more, 0, at)
    elif where_.ndim == 0 and more.ndim == given.ndim - 1:
        more = expand_dims(more, at)
    if len(positions) == 1 and more.ndim == given.ndim:
        positions = np.repeat(positions, more.shape[at])  # type: ignore[arg-type]
    count = len(positions)
    new = broadcast_to(more, _extended(given, at, count))
    order = np.insert(np.arange(extent), positions, extent + np.arange(count))
    return take(concat([given, new], axis=at), from_numpy(order), axis=at)


def delete(x: Any, obj: Any, /, axis: int | None = None) -> Array:
    """``x`` without the elements at known indices, a slice or a mask along ``axis``; of the flat array for None."""
    given, at = (ravel(x), 0) if axis is None else (as_array(x), axes_of(as_array(x), axis)[0])
    kept = np.delete(np.arange(_fixed(given, at)), obj if isinstance(obj, slice) else _known("delete", obj))
    return take(given, from_numpy(kept), axis=at)


def _known(name: str, obj: Any) -> Any:
    """Indices whose values are known.

    Raises:
        TraceError: they are traced.
    """
    if isinstance(obj, slice):
        raise InputError(f"mlc.numpy.{name} takes no slice", hint="Give integers")
    return np.asarray(as_array(obj).numpy())


def trim_zeros(x: Any, /, trim: str = "fb") -> Array:
    """A vector of known elements without zeros at its front (``f``) and back (``b``)."""
    given = as_array(x)
    found = np.flatnonzero(given.numpy())
    first, last = (found[0], found[-1] + 1) if len(found) else (len(given), len(given))
    return given[int(first) if "f" in trim.lower() else 0 : int(last) if "b" in trim.lower() else len(given)]


PUBLIC = ("pad", "append", "insert", "delete", "trim_zeros")
