"""Reads at index arrays along one axis: take, take_along_axis. Source: NumPy 2, ``jax.numpy``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mlc.dialects.semantics.dims import DimLike
from mlc.errors import InputError
from mlc.frontends.array import dtypes
from mlc.frontends.array.array import Array, apply, as_array, linear
from mlc.frontends.array.functions.elementwise import FUNCTIONS, broadcast, where
from mlc.frontends.array.functions.indexing import checked_indices
from mlc.frontends.array.functions.reductions import axes_of
from mlc.frontends.array.functions.shaping import broadcast_to, reshape
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.ops.indexing.gather import gather, gather_elements
from mlc.frontends.build.tensors import Tensor


@linear
def taken(build: Builder, xs: Sequence[Tensor], axis: int) -> Tensor:
    return gather(build, xs[0], xs[1], axis)


def take(
    x: Any,
    indices: Any,
    /,
    axis: int | None = None,
    *,
    mode: str | None = None,
    fill_value: Any = None,
) -> Array:
    """The slices of ``x`` at ``indices`` along ``axis``; of the flat array for None.

    ``mode`` of indices outside: known ones are an error, others are clipped; ``clip``, ``wrap``, or ``fill`` by
    ``fill_value`` (NaN of floats, 0 of others).
    """
    given = reshape(as_array(x), (-1,)) if axis is None else as_array(x)
    (at,) = axes_of(given, 0 if axis is None else axis)
    asked = as_array(indices)
    within = asked if mode in (None, "raise") else inside(asked, given.shape[at], mode)
    where_ = checked_indices(within, given.shape[at])
    shape = (*given.shape[:at], *where_.shape, *given.shape[at + 1 :])
    found = apply(taken, [given, where_], (at,), given.element, shape)
    if mode != "fill":
        return found
    valid = is_inside(asked, given.shape[at])
    return filled_where(reshape(valid, (*valid.shape, *[1] * (given.ndim - at - 1))), found, fill_value)


MODES = ("clip", "wrap", "fill", "drop", "promise_in_bounds")


def inside(indices: Array, extent: DimLike, mode: str) -> Array:
    """Indices clipped or wrapped into a dimension, as the mode says.

    Raises:
        InputError: another mode.
    """
    if mode not in MODES:
        raise InputError(f"There is no mode '{mode}' for indices", hint=f"The modes are {', '.join(MODES)}")
    if dtypes.kind(indices.element) != 1:
        raise IndexError(f"an index of type {indices.dtype}; give integers or a mask")
    if mode == "wrap":
        return indices % extent
    low = 0 if mode == "clip" else -extent
    return FUNCTIONS["minimum"](FUNCTIONS["maximum"](indices, low), extent - 1)


def is_inside(indices: Array, extent: DimLike) -> Array:
    """Whether indices lie inside a dimension. Negative ones count from its end."""
    return (indices >= -extent) & (indices < extent)


def filled_where(valid: Array, found: Array, fill_value: Any) -> Array:
    """``fill_value`` where indices are not valid, by default NaN of floats and 0 of others."""
    default = math.nan if dtypes.kind(found.element) >= 2 else 0
    return where(valid, found, default if fill_value is None else fill_value)


@linear
def taken_along(build: Builder, xs: Sequence[Tensor], axis: int) -> Tensor:
    return gather_elements(build, xs[0], xs[1], axis)


def take_along_axis(x: Any, indices: Any, /, axis: int | None = -1) -> Array:
    """One element for each index, whose other coordinates are those of the index."""
    given, at_index = as_array(x), as_array(indices)
    given, axis = (reshape(given, (-1,)), 0) if axis is None else (given, axis)
    (at,) = axes_of(given, axis)
    if given.ndim != at_index.ndim:
        what = f"Indices of shape {at_index.shape} for an array of shape {given.shape}: the shapes do not fit"
        raise InputError(what)
    others = [1 if n == at else d for n, d in enumerate(given.shape)]
    shape = broadcast(others, tuple(1 if n == at else d for n, d in enumerate(at_index.shape)))
    own = broadcast_to(given, [given.shape[at] if n == at else d for n, d in enumerate(shape)])
    at_ = broadcast_to(
        checked_indices(at_index, given.shape[at]), [at_index.shape[at] if n == at else d for n, d in enumerate(shape)]
    )
    return apply(taken_along, [own, at_], (at,), given.element, at_.shape)
