"""Operators that need elements in order, one after the other: TopK, CumSum, CumProd."""

from __future__ import annotations

from mlc.dialects.dims import DimLike, product
from mlc.dialects.graph import OrderOp, ScanOp
from mlc.dialects.graph.library import COMPUTED
from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.fold import at_least
from mlc.frontends.onnx.node import Node, normalise_axis, onnx_op
from mlc.frontends.onnx.ops.at_run_time import around
from mlc.frontends.onnx.tensors import Tensor


def order(build: Builder, x: Tensor, count: DimLike, descending: bool = False) -> Tensor:
    """[rows, count] of i64: the places of the first elements of each row of ``x`` [rows, size, width] in order."""
    rows, size, _ = x.shape
    found = build.emit(OrderOp(build.value(computed(build, x)), count, descending))
    places = build.slice(found, [0, 0], [rows, count])
    places.range = (0, size - 1)
    return places


def computed(build: Builder, x: Tensor) -> Tensor:
    """The same numbers, of a type that functions compute with."""
    if x.element in COMPUTED:
        return x
    floating = x.element in ("f16", "bf16")
    return build.cast(x, "f32" if floating else "i64" if x.element == "ui32" else "i32")


def running_sum(build: Builder, x: Tensor) -> Tensor:
    """[n]: the sum of the elements of ``x`` [n] up to each one."""
    rows = build.value(computed(build, build.reshape(x, (1, *x.shape, 1))))
    return build.reshape(build.emit(ScanOp("add", rows, False, False)), x.shape)


@onnx_op("TopK")
def top_k(node: Node) -> tuple[Tensor, Tensor]:
    """The greatest (or least) elements along an axis in order, and their places; of equal ones the first comes first.

    ONNX opset 1, 10, 11, 24. ``sorted`` 0 leaves the order open, and gets the same.
    """
    x, build = node[0], node.build
    axis = normalise_axis(node.attr("axis", -1), x.rank)
    size = x.shape[axis]
    k = node.attr("k") if node.opset < 10 else node.size(node.number(1), "k", size)
    if at_least(k, size + 1):
        raise NotSupported(f"the {k} greatest of {size} elements")
    build.require(size, k)
    last = [*(n for n in range(x.rank) if n != axis), axis]
    moved = build.transpose(x, last)
    rows = build.reshape(moved, (product(moved.shape[:-1]), size, 1))
    places = order(build, rows, k, bool(node.flag("largest", 1)))
    values = build.compute("x0[i0, x1[i0, i1], 0]", [rows, places], places.shape)
    back = [last.index(n) for n in range(x.rank)]
    shape = (*moved.shape[:-1], k)
    return tuple(build.transpose(build.reshape(y, shape), back) for y in (values, places))  # type: ignore[return-value]


@onnx_op("CumSum", "CumProd")
def cumulative(node: Node) -> Tensor:
    """Sums or products of the elements up to each one. ONNX CumSum 11, 14; CumProd 26."""
    x, build = node[0], node.build
    before, size, behind = around(node, x.shape, node.number(1))
    rows = computed(build, build.reshape(x, (before, size, behind)))
    flags = node.flag("exclusive", 0), node.flag("reverse", 0)
    y = build.emit(ScanOp("add" if node.op == "CumSum" else "mul", build.value(rows), *map(bool, flags)))
    return build.reshape(build.cast(y, x.element), x.shape)
