"""Padding with zeros, and cropping."""

from __future__ import annotations

from mlc.frontends.array.array import Array
from mlc.frontends.array.functions.creation import zeros
from mlc.frontends.array.functions.shaping import concat


def padded(x: Array, axis: int, extent: int) -> Array:
    """``x`` with this extent along ``axis``: with zeros at the end, or cut."""
    at, size = axis % x.ndim, x.shape[axis]
    if size == extent:
        return x
    if isinstance(size, int) and size > extent:
        return x[(*(slice(None),) * at, slice(extent))]
    rest = zeros([extent - size if n == at else d for n, d in enumerate(x.shape)], dtype=x.dtype)
    return concat([x, rest], axis=at)
