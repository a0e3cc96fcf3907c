"""Selection with data-dependent counts: nonzero, compress, unique. Source: ONNX NonZero 13, Compress 11, Unique 11.

Each computes a mask of what it selects; where the mask is true, and how often, is known at run time
(``Builder.nonzero``), unless the mask is known at import.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mlc.dialects.semantics.dims import DimLike, product
from mlc.dialects.types import STRING
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.comparisons import smaller
from mlc.frontends.build.ops.indexing.gather import gather_at
from mlc.frontends.build.ops.indexing.scatter import scatter_at
from mlc.frontends.build.ops.indexing.sorting import argsort, prefix_sum
from mlc.frontends.build.ops.shapes.axes import normalize_axis
from mlc.frontends.build.tensors import Tensor


def nonzero(build: Builder, x: Tensor) -> Tensor:
    """[rank, count] of i64: the indices of the elements that are not zero, in row-major order."""
    if x.rank == 0:
        raise NotSupported("a scalar")
    mask = x if x.element == "i1" else build.map("x0 != 0", x)
    flat = build.nonzero(build.reshape(mask, (product(x.shape),)))
    return build.concat([build.reshape(index, (1, *flat.shape)) for index in _indices(build, flat, x.shape)], 0)


def _indices(build: Builder, flat: Tensor, shape: Sequence[DimLike]) -> list[Tensor]:
    """The index in each dimension of ``shape`` for a row-major offset (unravel)."""
    whole = [f"x0[i0] // ({product(shape[n + 1 :])})" for n in range(len(shape))]
    indices = [whole[0], *(f"{text} % ({extent})" for text, extent in zip(whole[1:], shape[1:], strict=True))]
    return [build.compute(text, [flat], flat.shape) for text in indices]


def compress(build: Builder, x: Tensor, condition: Tensor, axis: int | None) -> Tensor:
    """The slices of ``x`` along ``axis`` (without one: the elements) where ``condition``, a vector of i1, is true. What
    of it is beyond ``x`` says nothing."""
    x, axis = _along(build, x, axis)
    if condition.rank == 1:
        condition = build.cut(condition, 0, 0, smaller(condition.shape[0], x.shape[axis]))
    return gather_at(build, x, build.nonzero(condition), axis)


def _along(build: Builder, x: Tensor, axis: int | None) -> tuple[Tensor, int]:
    """``x`` and its axis. Without an axis: ``x`` flattened, and axis 0."""
    return (build.reshape(x, (product(x.shape),)), 0) if axis is None else (x, normalize_axis(axis, x.rank))


def unique(build: Builder, x: Tensor, axis: int | None, in_order: bool = True) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """(slices along ``axis`` that differ, the first index of each, which of them each slice is, how often each is).

    ``in_order``: sorted, else by first occurrence. Equal slices are neighbours in sorted order, the first one first: a
    group begins where a slice differs from the one before.
    """
    x, axis = _along(build, x, axis)
    if x.shape[axis] == 0:
        none = build.constant(np.zeros(0), "i64")
        return x, none, none, none
    rows = _rows(build, build.string_routine("order", x) if x.element == STRING else x, axis)
    count, width = rows.shape
    order = _argsort(build, rows)
    before = build.concat([build.constant(np.zeros(1), "i64"), order], 0)  # the first has none; there may be no first
    differs = build.compute("i64(x0[x1[i0], r0] != x0[x2[i0], r0])", [rows, order, before], (count,), (width,), "add")
    starts, group, counts = _runs(build, differs)
    found = starts.shape
    zeros = build.broadcast(build.constant(0, "i64"), (count,))
    inverse = scatter_at(build, zeros, order, group, 1)
    first = build.compute("x0[x1[i0]]", [order, starts], found)
    if not in_order:
        by_first = _argsort(build, first)
        first, counts = (build.compute("x0[x1[i0]]", [y, by_first], found) for y in (first, counts))
        inverse = build.compute("x0[x1[i0]]", [_argsort(build, by_first), inverse], (count,))
    return gather_at(build, x, first, axis), first, inverse, counts


def unique_consecutive(build: Builder, x: Tensor, axis: int | None) -> tuple[Tensor, Tensor, Tensor]:
    """For runs of equal slices along ``axis``: (the first slice of each run, the run of each slice, the length of each
    run).
    """
    x, axis = _along(build, x, axis)
    if x.shape[axis] == 0:
        none = build.constant(np.zeros(0), "i64")
        return x, none, none
    rows = _rows(build, x, axis)
    count, width = rows.shape
    differs = build.compute("i64(x0[i0, r0] != x0[max(i0 - 1, 0), r0])", [rows], (count,), (width,), "add")
    starts, group, counts = _runs(build, differs)
    return gather_at(build, x, starts, axis), group, counts


def _runs(build: Builder, differs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(the begin of each run, the run of each element, the length of each run). ``differs`` [n] is above 0 where an
    element differs from the one before.
    """
    count = differs.shape[0]
    begins = build.compute("(i0 == 0) | (x0[i0] > 0)", [differs], (count,))
    starts = build.nonzero(begins)
    group = build.map("x0 - 1", prefix_sum(build, build.cast(begins, "i64")))
    ends = build.slice(build.concat([starts, Tensor.of_dims([count])], 0), [1], starts.shape)
    return starts, group, build.map("x0 - x1", ends, starts)


def _rows(build: Builder, x: Tensor, axis: int) -> Tensor:
    """``x`` as a matrix [slices, elements of a slice]."""
    axes = [axis, *(n for n in range(x.rank) if n != axis)]
    return build.reshape(build.transpose(x, axes), (x.shape[axis], product(x.shape[n] for n in axes[1:])))


def _argsort(build: Builder, x: Tensor) -> Tensor:
    """[n]: the indices of the rows of ``x`` [n] or [n, width] in order; of a permutation, its inverse."""
    count, width = x.shape[0], product(x.shape[1:])
    order = argsort(build, build.reshape(x, (1, count, width)), count)
    flat = build.reshape(order, (count,))
    flat.range = order.range
    return flat
