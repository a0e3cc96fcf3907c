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
    behind = [product(shape[n + 1 :]) for n in range(len(shape))]
    texts = [f"x0[i0] // ({step}) % ({extent})" for step, extent in zip(behind, shape, strict=True)]
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

    Every slice is compared with every other, so it takes time in the square of their number.
    """
    x, axis, build = node[0], node.attr("axis", None), node.build
    if axis is None:
        x, axis = build.reshape(x, (product(x.shape),)), 0
    axis = normalise_axis(axis, x.rank)
    rows = _rows(build, build.text("order", x) if x.element == TEXT else x, axis)
    count = rows.shape[0]
    difference = _difference(build, rows)
    last = rows.shape[1] - 1
    equal, there = f"x1[i0, r0] > {last}", f"min(x1[i0, r0], {last})"
    first = build.compute(f"where({equal}, r0, {count})", [rows, difference], (count,), (count,), "min")
    taken = build.compute("x0[i0] == i0", [first], (count,))
    before = "(r0 < x2[i0])"  # in the order in which they come, or sorted
    if node.flag("sorted", 1):
        before = f"(x1[i0, r0] <= {last}) & (x0[r0, {there}] < x0[i0, {there}])"
    rank = build.compute(f"i64(x3[r0] & {before})", [rows, difference, first, taken], (count,), (count,), "add")
    found = build.positions(taken).shape
    place = build.compute("where(x1[r0] & (x0[r0] == i0), r0, 0)", [rank, taken], found, (count,), "add")
    counts = build.compute("i64(x0[r0] == i0)", [rank], found, (count,), "add")
    return gathered(build, x, place, axis), place, rank, counts


def _rows(build: Builder, x: Tensor, axis: int) -> Tensor:
    """[slices, elements of a slice]."""
    order = [axis, *(n for n in range(x.rank) if n != axis)]
    return build.reshape(build.transpose(x, order), (x.shape[axis], product(x.shape) // x.shape[axis]))


def _difference(build: Builder, rows: Tensor) -> Tensor:
    """[i, j]: the first element in which the rows i and j differ; behind the last where they are equal."""
    count, width = rows.shape
    return build.compute(
        f"where(x0[i0, r0] != x0[i1, r0], r0, {width})", [rows], (count, count), (width,), "min"
    )
