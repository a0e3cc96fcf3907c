"""Axes of one element: Squeeze and Unsqueeze."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from mlc.dialects.graph import SliceOp
from mlc.dialects.semantics.dims import Dim, DimLike, evaluate, symbols_of
from mlc.frontends.build.control.sides import is_local
from mlc.frontends.build.folding.prove import assuming, never_zero
from mlc.frontends.build.ops.shapes.axes import normalize_axis, with_axes, without_axes
from mlc.frontends.build.runtime_scalars import any_runtime
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.build.unify_dims import with_extent
from mlc.frontends.onnx.node import Node, onnx_op


@onnx_op("Squeeze")
def squeeze(node: Node) -> tuple[Tensor, ...]:
    x = node[0]
    if node.opset >= 13 and node.has(1) and any_runtime(scalars := node.runtime_scalars(1)):
        return (node.build.reshape(x, without_axes(node.build, x.shape, scalars)),)
    axes = node.attr("axes", None) if node.opset < 13 else node.ints(1) if node.has(1) else None
    if axes is None:
        return _without_ones(x, frozenset(), node)
    return (_without(node, x, {normalize_axis(a, x.rank) for a in axes}),)


def _without_ones(x: Tensor, others: Collection[DimLike], node: Node) -> tuple[Tensor, ...]:
    """``x`` without its axes of one element; ``others`` are extents that are not 1.

    Whether an open extent is 1 decides on the rank: each is a choice, to which the nodes that follow belong.
    """
    larger = [d - 2 for d in others if not is_local(d)]
    with assuming([*node.build.guards, *larger]):
        unknown = [d for d in x.shape if isinstance(d, Dim) and d not in others and not never_zero(d - 1)]
    if not unknown:
        return (_without(node, x, {n for n, d in enumerate(x.shape) if d == 1}),)
    extent, build = unknown[0], node.build
    is_one = build.map("x0 == x1", Tensor.of_dims([extent]), build.constant(1, "i64"))
    makes = [partial(_where_one, x, extent, others), partial(_without_ones, x, {*others, extent})]
    return node.choose(is_one, makes, usual=1)


def _where_one(x: Tensor, extent: DimLike, others: Collection[DimLike], node: Node) -> tuple[Tensor, ...]:
    """As ``_without_ones``, in a branch that runs only where ``extent`` is 1, so that no guard is needed."""
    known = {name: 1 for name in symbols_of([extent]) if Dim.symbol(name) == extent}
    shape = [1 if d == extent else evaluate(d, known) for d in x.shape]
    first = SliceOp(node.build.value(x), [0] * x.rank, shape, [1] * x.rank)
    return _without_ones(node.build.emit(first, x.element), others, node)


def _without(node: Node, x: Tensor, gone: Collection[int]) -> Tensor:
    for n in gone:
        if isinstance(d := x.shape[n], int) and d != 1:
            raise ValueError(f"dimension {n} has {d} elements, not 1")
        x = with_extent(node.build, x, n, 1)
    return node.build.reshape(x, [d for n, d in enumerate(x.shape) if n not in gone])


@onnx_op("Unsqueeze")
def unsqueeze(node: Node) -> Tensor:
    x = node[0]
    if node.opset >= 13 and any_runtime(scalars := node.runtime_scalars(1)):
        return node.build.reshape(x, with_axes(node.build, x.shape, scalars))
    axes = node.attr("axes") if node.opset < 13 else node.ints(1)
    rank = x.rank + len(axes)
    new, old = {normalize_axis(a, rank) for a in axes}, iter(x.shape)
    if len(new) != len(axes):
        raise ValueError(f"axes {list(axes)} name a dimension twice")
    return node.build.reshape(x, [1 if n in new else next(old) for n in range(rank)])
