"""Operators that write to computed places, and others that move what lies along an axis."""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.dims import DimLike, floordiv, product
from mlc.dialects.graph import ScatterOp
from mlc.dialects.graph.scatter import REDUCTIONS
from mlc.dialects.types import TEXT
from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.node import Node, normalise_axis, onnx_op
from mlc.frontends.onnx.ops.gather import position
from mlc.frontends.onnx.ops.order import computed
from mlc.frontends.onnx.tensors import Tensor


@onnx_op("Scatter", "ScatterElements")
def scatter_elements(node: Node) -> Tensor:
    """data[.., index[.., r, ..], ..] = update[.., r, ..] for every r; the last of equal indices wins.

    ONNX Scatter 9, 11; ScatterElements 11, 13, 16, 18.
    """
    x, indices = node[0], node[1]
    axis = normalise_axis(node.attr("axis", 0), x.rank)
    names = [f"i{n}" for n in range(x.rank)]
    at = [position(indices, f"x0[{', '.join(names)}]", x.shape[axis]) if n == axis else i for n, i in enumerate(names)]
    return _scattered(node, _linear(at, x.shape), [indices], indices.shape, 1)


@onnx_op("ScatterND", since=11)
def scatter_nd(node: Node) -> Tensor:
    """data[index[r]] = update[r] for every row r of the indices; the last of equal rows wins. ONNX 11, 13, 16, 18."""
    x, indices, build = node[0], node[1], node.build
    depth = indices.shape[-1]
    if not isinstance(depth, int):
        raise NotSupported("index tuples of symbolic length")
    flat = build.reshape(indices, (product(indices.shape[:-1]), depth))
    at = [position(flat, f"x0[i0, {n}]", x.shape[n]) for n in range(depth)]
    return _scattered(node, _linear(at, x.shape[:depth]), [flat], flat.shape[:1], product(x.shape[depth:]))


def _linear(at: Sequence[str], shape: Sequence[DimLike]) -> str:
    """The row-major place of an element, or of what its leading indices name; -1 where one of them is outside."""
    place = "0"
    for index, extent in zip(at, shape, strict=True):
        place = f"({place}) * ({extent}) + {index}"
    outside = " | ".join(f"({i} < 0) | ({i} >= {extent})" for i, extent in zip(at, shape, strict=True))
    return f"where({outside}, -1, i64({place}))" if outside else "i64(0)"


def _scattered(node: Node, place: str, xs: Sequence[Tensor], shape: Sequence[DimLike], width: DimLike) -> Tensor:
    x, build = node[0], node.build
    places = build.reshape(build.compute(place, xs, shape), (product(shape),))
    return scattered(build, x, places, node[2], width, node.attr("reduction", "none"))


def scattered(
    build: Builder, x: Tensor, places: Tensor, updates: Tensor, width: DimLike, reduction: str = "none"
) -> Tensor:
    """``x`` with the updates in their places (of ``width`` elements each), or combined with what is there."""
    if reduction not in ("none", *REDUCTIONS):
        raise NotSupported(f"reduction {reduction!r}; there are none, {', '.join(REDUCTIONS)}")
    if updates.element != x.element:
        raise NotSupported(f"updates of {updates.element} for data of {x.element}")
    count = product(updates.shape)
    if count != places.shape[0] * width:
        raise NotSupported(f"{places.shape[0]} places of {width} elements for updates of {count} elements")
    data = build.reshape(x, (floordiv(product(x.shape), width) if width != 0 else 0, width))
    rows = build.reshape(updates, (places.shape[0], width))
    if reduction != "none":
        data, rows = computed(build, data), computed(build, rows)
    y = build.emit(ScatterOp(reduction, *build.values(data, places, rows)), TEXT if x.element == TEXT else None)
    return build.reshape(build.cast(y, x.element), x.shape)


@onnx_op("ReverseSequence", since=10)
def reverse_sequence(node: Node) -> Tensor:
    x, lengths = node[0], node[1]
    time, batch = node.attr("time_axis", 0), node.attr("batch_axis", 1)
    names = [f"i{n}" for n in range(x.rank)]
    length = f"x1[i{batch}]"
    back = f"where(i{time} < {length}, {length} - 1 - i{time}, i{time})"
    return node.build.compute(
        f"x0[{', '.join(back if n == time else a for n, a in enumerate(names))}]", [x, lengths], x.shape
    )


@onnx_op("TensorScatter", since=24)
def tensor_scatter(node: Node) -> Tensor:
    """A cache with ``update`` along ``axis`` from each batch's index on; a circular one goes on at its start."""
    cache, update, starts, build = node[0], node[1], node.get(2), node.build
    axis = normalise_axis(node.attr("axis", -2), cache.rank)
    circular = {"linear": False, "circular": True}[node.attr("mode", "linear")]
    if axis == 0:
        raise NotSupported("axis 0, which is the batch")
    step = f"i{axis}" if starts is None else f"(i{axis} - x2[i0])"
    step = f"({step} % {cache.shape[axis]})" if circular else step
    row = f"min(max({step}, 0), {update.shape[axis]} - 1)"
    names = [f"i{n}" for n in range(cache.rank)]
    at = ", ".join(row if n == axis else a for n, a in enumerate(names))
    inside = f"({step} >= 0) & ({step} < {update.shape[axis]})"
    operands = [cache, update] if starts is None else [cache, update, build.cast(starts, "i64")]
    return build.compute(f"where({inside}, x1[{at}], x0[{', '.join(names)}])", operands, cache.shape)
