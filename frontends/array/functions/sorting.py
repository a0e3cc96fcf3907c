"""Sorting and searching in sorted arrays. Source: Array API 2025.12. NaN comes last, after infinity, as in NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlc.dialects.semantics.dims import product
from mlc.errors import InputError
from mlc.frontends.array import dtypes
from mlc.frontends.array.array import Array, apply, as_array
from mlc.frontends.array.functions.elementwise import FUNCTIONS, apply_map, operands, where
from mlc.frontends.array.functions.reductions import axes_of
from mlc.frontends.array.functions.shaping import broadcast_to, moveaxis, reshape
from mlc.frontends.array.selecting.taking import take, take_along_axis
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.ops.functions import inserted_after
from mlc.frontends.build.ops.indexing import sorting
from mlc.frontends.build.tensors import Tensor


def ordering(build: Builder, xs: Sequence[Tensor], descending: bool) -> Tensor:
    """The stable order of the elements along the last axis, as indices."""
    (x,) = xs
    rows = build.reshape(x, (product(x.shape[:-1]), x.shape[-1], 1))
    return build.reshape(sorting.argsort(build, rows, x.shape[-1], descending), x.shape)


def argsort(x: Any, /, axis: int | None = -1, *, descending: bool = False, stable: bool = True) -> Array:
    """The indices, int64, that sort along ``axis``, or the flat array for None; equal elements keep their order."""
    given, axis = (reshape(as_array(x), (-1,)), -1) if axis is None else (as_array(x), axis)
    if dtypes.kind(given.element) == 3:
        raise InputError("Complex numbers have no order", hint="Sort by abs, real or imag")
    (at,) = axes_of(given, axis)
    rows = moveaxis(given, at, -1)
    return moveaxis(apply(ordering, [rows], (bool(descending),), "i64", rows.shape), -1, at)


def sort(x: Any, /, axis: int | None = -1, *, descending: bool = False, stable: bool = True) -> Array:
    """The elements along ``axis`` in order; of the flat array for None."""
    given, axis = (reshape(as_array(x), (-1,)), -1) if axis is None else (as_array(x), axis)
    return take_along_axis(given, argsort(given, axis=axis, descending=descending), axis=axis)


def searchsorted(x1: Any, x2: Any, /, side: str = "left", sorter: Any = None) -> Array:
    """Where each element of ``x2`` is inserted into the sorted vector ``x1``: before equal ones, or after (right).

    Binary search of all elements at once.

    Raises:
        InputError: ``x1`` is no vector, or another ``side``.
    """
    line, values = operands(x1, x2)
    if line.ndim != 1 or side not in ("left", "right"):
        what = f"searchsorted cannot search an array of shape {line.shape} on side '{side}'"
        raise InputError(what, hint="Give a vector, and left or right")
    line = line if sorter is None else take(line, sorter)
    extent = line.shape[0]
    low = broadcast_to(as_array(0), values.shape)
    high = FUNCTIONS["add"](low, extent)
    test = inserted_after(side, line.element)
    for _ in range(extent.bit_length() if isinstance(extent, int) else 63):
        middle = apply_map("x0 + (x1 - x0) // 2", low, high)
        after = apply_map(test, take(line, reshape(middle, (-1,))), reshape(values, (-1,)))
        after = reshape(after, values.shape) & (low < high)
        low, high = where(after, middle + 1, low), where(after, high, middle)
    return low


PUBLIC = ("argsort", "searchsorted", "sort")
