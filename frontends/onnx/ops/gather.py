"""Operators that read at computed positions: Gather*, OneHot."""

from __future__ import annotations

from mlc.dialects.dims import DimLike
from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.fold import at_least, symbolic
from mlc.frontends.onnx.node import Node, normalise_axis, onnx_op
from mlc.frontends.onnx.numbers import followed, values_of
from mlc.frontends.onnx.tensors import Tensor


def position(indices: Tensor, at: str, extent: DimLike) -> str:
    """A loaded index as an expression: negative ones count from the end. ``at`` is the load, such as ``x1[i0]``."""
    load = at if indices.element == "i64" else f"i64({at})"
    if indices.element.startswith("ui") or _from_the_start(indices):
        return load
    return f"where({load} < 0, {load} + ({extent}), {load})"


def _from_the_start(indices: Tensor) -> bool:
    """Whether it is known that no index is below 0."""
    if indices.known is None:
        return False
    if symbolic([indices.known]):
        return all(at_least(n, 0) for n in indices.known.flat)
    return bool((indices.known >= 0).all())


@onnx_op("Gather")
def gather(node: Node) -> Tensor:
    x, indices, build = node[0], node[1], node.build
    axis = normalise_axis(node.attr("axis", 0), x.rank)
    places = None if indices.known is None or symbolic([indices.known]) else indices.known
    if places is not None:
        if x.known is not None:
            return Tensor.from_known(x.known.take(places, axis), x.element)
        if indices.rank == 0:
            index = int(places)
            one = build.cut(x, axis, index if index >= 0 else x.shape[axis] + index, 1)
            return build.reshape(one, (*x.shape[:axis], *x.shape[axis + 1 :]))
    if indices.rank == 0 and _inside(indices, x.shape[axis]):
        turn = build.numbers.of(indices).item()
        if not values_of([turn]):
            return build.reshape(build.cut(x, axis, turn, 1), (*x.shape[:axis], *x.shape[axis + 1 :]))
    result = gathered(build, x, indices, axis)
    if places is not None and followed(result):
        result.trace = lambda: build.numbers.of(x).take(places, axis)
    return result


def _inside(indices: Tensor, extent: DimLike) -> bool:
    """Whether the range of whole numbers is known to be one of indices."""
    low, high = indices.range
    return None not in (low, high) and bool(at_least(low, 0) and at_least(extent - 1, high))  # type: ignore[arg-type]


def gathered(build: Builder, x: Tensor, indices: Tensor, axis: int) -> Tensor:
    """``x`` with dimension ``axis`` replaced by those of ``indices``, read there."""
    names = [f"i{n}" for n in range(x.rank - 1 + indices.rank)]
    at = ", ".join(names[axis : axis + indices.rank]) or "()"
    reads = [*names[:axis], position(indices, f"x1[{at}]", x.shape[axis]), *names[axis + indices.rank :]]
    shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    return build.compute(f"x0[{', '.join(reads)}]", [x, indices], shape)


@onnx_op("GatherElements", since=11)
def gather_elements(node: Node) -> Tensor:
    x, indices = node[0], node[1]
    axis = normalise_axis(node.attr("axis", 0), x.rank)
    names = [f"i{n}" for n in range(x.rank)]
    at = position(indices, f"x1[{', '.join(names)}]", x.shape[axis])
    reads = [at if n == axis else a for n, a in enumerate(names)]
    return node.build.compute(f"x0[{', '.join(reads)}]", [x, indices], indices.shape)


@onnx_op("GatherND", since=11)
def gather_nd(node: Node) -> Tensor:
    x, indices, batch = node[0], node[1], node.attr("batch_dims", 0)
    depth = indices.shape[-1]
    if not isinstance(depth, int):
        raise NotSupported("index tuples of symbolic length")
    outer = [f"i{n}" for n in range(indices.rank - 1)]
    inner = [f"i{len(outer) + n}" for n in range(x.rank - batch - depth)]
    tuple_ = [position(indices, f"x1[{', '.join([*outer, str(n)])}]", x.shape[batch + n]) for n in range(depth)]
    shape = (*indices.shape[:-1], *x.shape[batch + depth :])
    return node.build.compute(f"x0[{', '.join([*outer[:batch], *tuple_, *inner]) or '()'}]", [x, indices], shape)


@onnx_op("OneHot", since=9)
def one_hot(node: Node) -> Tensor:
    indices, values = node[0], node[2]
    depth = node.size(node.build.numbers.of(node.build.cast(node[1], "i64")).item(0), "depth")
    axis = normalise_axis(node.attr("axis", -1), indices.rank + 1)
    names = [f"i{n}" for n in range(indices.rank + 1)]
    at = f"i64(x0[{', '.join(n for k, n in enumerate(names) if k != axis) or '()'}])"
    hit = f"where({at} < 0, {at} + {depth}, {at}) == {names[axis]}"
    shape = (*indices.shape[:axis], depth, *indices.shape[axis:])
    return node.build.compute(f"x1[i64({hit})]", [indices, values], shape)
