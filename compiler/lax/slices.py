"""Slices at positions that are known when the program runs. Source: ``jax.lax``: a start is moved so that all fits."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.functions.creation import arange
from mlc.frontends.array.functions.elementwise import FUNCTIONS, convert, where
from mlc.frontends.array.functions.shaping import reshape
from mlc.frontends.array.selecting import updates


def dynamic_slice(operand: Any, start_indices: Any, slice_sizes: Sequence[int]) -> Array:
    """``slice_sizes`` elements along each axis, from ``start_indices`` on: an index an axis, negative from its end.

    Raises:
        InputError: another number of indices or sizes than axes, or a size over the extent.
    """
    x = as_array(operand)
    at = _positions(x, start_indices, slice_sizes)
    found: Array = x[tuple(at)]
    return found


def dynamic_update_slice(operand: Any, update: Any, start_indices: Any) -> Array:
    """``operand`` with ``update`` in place of the elements from ``start_indices`` on."""
    x, given = as_array(operand), as_array(update)
    positions = _positions(x, start_indices, given.shape)
    return updates.At(x, tuple(positions)).set(given, mode="promise_in_bounds")


def _positions(x: Array, start: Any, sizes: Sequence[Any]) -> list[Any]:
    """The positions along each axis, of shapes that broadcast to that of a block."""
    count = start.shape[0] if isinstance(start, Array) else len(start)
    starts = [start[n] for n in range(count)] if isinstance(count, int) else []
    if len(starts) != x.ndim or len(sizes) != x.ndim or any(s > d for s, d in zip(sizes, x.shape, strict=True)):
        what = f"An array of shape {x.shape} has no slice of sizes {tuple(sizes)} from {len(starts)} indices"
        raise InputError(what, hint="Give an index and a size of at most its extent for each axis")
    return [_along(x, n, starts[n], sizes[n]) for n in range(x.ndim)]


def _along(x: Array, axis: int, start: Any, size: int) -> Any:
    extent = x.shape[axis]
    at = convert(as_array(start), "i64")
    first = FUNCTIONS["clip"](where(at < 0, at + extent, at), 0, extent - size)
    return reshape(first + arange(size), (size, *[1] * (x.ndim - axis - 1)))


def dynamic_slice_in_dim(operand: Any, start_index: Any, slice_size: int, axis: int = 0) -> Array:
    """``slice_size`` elements along one axis."""
    x = as_array(operand)
    at, size = operator.index(axis) % x.ndim, operator.index(slice_size)
    starts = [start_index if n == at else 0 for n in range(x.ndim)]
    return dynamic_slice(x, starts, [size if n == at else d for n, d in enumerate(x.shape)])  # type: ignore[misc]


def dynamic_index_in_dim(operand: Any, index: Any, axis: int = 0, keepdims: bool = True) -> Array:
    """The slice at ``index`` along one axis, which stays as one of extent 1 with ``keepdims``."""
    found = dynamic_slice_in_dim(operand, index, 1, axis)
    at = operator.index(axis) % found.ndim
    return found if keepdims else reshape(found, [d for n, d in enumerate(found.shape) if n != at])


def dynamic_update_slice_in_dim(operand: Any, update: Any, start_index: Any, axis: int = 0) -> Array:
    """``operand`` with ``update`` in place of the elements from ``start_index`` on along one axis."""
    x = as_array(operand)
    at = operator.index(axis) % x.ndim
    return dynamic_update_slice(x, update, [start_index if n == at else 0 for n in range(x.ndim)])


def dynamic_update_index_in_dim(operand: Any, update: Any, index: Any, axis: int = 0) -> Array:
    """``operand`` with ``update`` as its slice at ``index`` along one axis."""
    x, given = as_array(operand), as_array(update)
    at = operator.index(axis) % x.ndim
    given = given if given.ndim == x.ndim else reshape(given, (*given.shape[:at], 1, *given.shape[at:]))
    return dynamic_update_slice_in_dim(x, given, index, at)


def slice_in_dim(
    operand: Any, start_index: int | None, limit_index: int | None, stride: int = 1, axis: int = 0
) -> Array:
    """The elements of one axis from a start to before a limit."""
    x = as_array(operand)
    at = operator.index(axis) % x.ndim
    found: Array = x[tuple(slice(start_index, limit_index, stride) if n == at else slice(None) for n in range(x.ndim))]
    return found


def index_in_dim(operand: Any, index: int, axis: int = 0, keepdims: bool = True) -> Array:
    """The slice at a known ``index`` along one axis."""
    return dynamic_index_in_dim(operand, operator.index(index), axis, keepdims)


PUBLIC = (
    *("dynamic_index_in_dim", "dynamic_slice", "dynamic_slice_in_dim", "dynamic_update_index_in_dim"),
    *("dynamic_update_slice", "dynamic_update_slice_in_dim", "index_in_dim", "slice_in_dim"),
)
