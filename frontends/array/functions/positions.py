"""The positions of extreme elements. Source: Array API 2025.12."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlc.frontends.array.array import Array, apply, as_array
from mlc.frontends.array.functions.reductions import axes_of, not_empty, reduced_shape, refuse_empty
from mlc.frontends.array.functions.shaping import reshape
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.ops import reduction
from mlc.frontends.build.tensors import Tensor


def position(build: Builder, operands: Sequence[Tensor], fn: str, axis: int) -> Tensor:
    refuse_empty(build, operands[0], [axis])
    return reduction.arg_extreme(build, fn, operands[0], axis)


def _position(fn: str, x: Any, axis: int | None, keepdims: bool) -> Array:
    given = as_array(x)
    flat = reshape(given, (-1,)) if axis is None else given
    (at,) = axes_of(not_empty(flat, axis), 0 if axis is None else axis)
    found = apply(position, [flat], (fn, at), "i64", reduced_shape(flat, (at,), False))
    return reshape(found, reduced_shape(given, axes_of(given, axis), keepdims)) if keepdims else found


def argmax(x: Any, /, axis: int | None = None, *, keepdims: bool = False) -> Array:
    """The index of the greatest element along ``axis``, the first of several, of NaN where there is one; int64."""
    return _position("max", x, axis, keepdims)


def argmin(x: Any, /, axis: int | None = None, *, keepdims: bool = False) -> Array:
    """The index of the least element along ``axis``, the first of several, of NaN where there is one; int64."""
    return _position("min", x, axis, keepdims)


PUBLIC = ("argmax", "argmin")
