"""Operators whose results have as many elements as the data say: NonZero, Compress, Unique, NonMaxSuppression.

Each computes a mask of what it takes; where the mask is true, and how often, the model finds out when it runs
(``Builder.positions``), unless the mask is known at import.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.dims import DimLike, product
from mlc.dialects.types import TEXT
from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.node import Node, normalise_axis, onnx_op
from mlc.frontends.onnx.ops.gather import gathered
from mlc.frontends.onnx.ops.order import order, running_sum
from mlc.frontends.onnx.ops.scatter import scattered
from mlc.frontends.onnx.tensors import Tensor


@onnx_op("NonZero", since=9)
def non_zero(node: Node) -> Tensor:
    """[rank, count]: the indices of what is not zero, in row-major order."""
    x, build = node[0], node.build
    if x.rank == 0:
        raise NotSupported("a scalar")
    mask = x if x.element == "i1" else build.map("x0 != 0", x)
    flat = build.positions(build.reshape(mask, (product(x.shape),)))
    return build.concat([build.reshape(index, (1, *flat.shape)) for index in _indices(build, flat, x.shape)], 0)


def _indices(build: Builder, flat: Tensor, shape: Sequence[DimLike]) -> list[Tensor]:
    """A row-major position in ``shape`` as an index a dimension."""
    whole = [f"x0[i0] // ({product(shape[n + 1 :])})" for n in range(len(shape))]
    texts = [whole[0], *(f"{text} % ({extent})" for text, extent in zip(whole[1:], shape[1:], strict=True))]
    return [build.compute(text, [flat], flat.shape) for text in texts]


@onnx_op("Compress", since=9)
def compress(node: Node) -> Tensor:
    x, condition, axis, build = node[0], node[1], node.attr("axis", None), node.build
    if axis is None:
        x, axis = build.reshape(x, (product(x.shape),)), 0
    return gathered(build, x, build.positions(condition), normalise_axis(axis, x.rank))


@onnx_op("Unique", since=11)
def unique(node: Node) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Slices that differ, the place of the first of each, which of them each slice is, and how often each comes.

    ONNX opset 11. In sorted order equal ones stand together, the first in front: a group begins where a slice is
    another than the one before.
    """
    x, axis, build = node[0], node.attr("axis", None), node.build
    if axis is None:
        x, axis = build.reshape(x, (product(x.shape),)), 0
    axis = normalise_axis(axis, x.rank)
    rows = _rows(build, build.text("order", x) if x.element == TEXT else x, axis)
    count, width = rows.shape
    places = _argsort(build, rows)
    differs = build.compute(
        "i64(x0[x1[i0], r0] != x0[x1[max(i0 - 1, 0)], r0])", [rows, places], (count,), (width,), "add"
    )
    begins = build.compute("(i0 == 0) | (x0[i0] > 0)", [differs], (count,))
    starts = build.positions(begins)
    found = starts.shape
    group = running_sum(build, build.cast(begins, "i64"))
    zeros = build.broadcast(build.constant(0, "i64"), (count,))
    inverse = scattered(build, zeros, places, build.map("x0 - 1", group), 1)
    ends = build.slice(build.concat([starts, Tensor.of_dims([count])], 0), [1], found)
    counts = build.map("x0 - x1", ends, starts)
    first = build.compute("x0[x1[i0]]", [places, starts], found)
    if not node.flag("sorted", 1):
        came = _argsort(build, first)
        first, counts = (build.compute("x0[x1[i0]]", [y, came], found) for y in (first, counts))
        inverse = build.compute("x0[x1[i0]]", [_argsort(build, came), inverse], (count,))
    return gathered(build, x, first, axis), first, inverse, counts


def _rows(build: Builder, x: Tensor, axis: int) -> Tensor:
    """[slices, elements of a slice]."""
    axes = [axis, *(n for n in range(x.rank) if n != axis)]
    return build.reshape(build.transpose(x, axes), (x.shape[axis], product(x.shape) // x.shape[axis]))


def _argsort(build: Builder, x: Tensor) -> Tensor:
    """[n]: the places of the rows of ``x`` [n] or [n, width] in order; of a permutation, its inverse."""
    count, width = x.shape[0], product(x.shape[1:])
    places = order(build, build.reshape(x, (1, count, width)), count)
    flat = build.reshape(places, (count,))
    flat.range = places.range
    return flat
