"""Operators that move elements: reshape, transpose, slice, concat, split, pad, tile, expand, space/depth."""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.dims import Dim, DimLike, floordiv, product
from mlc.dialects.graph.sizes import sizes_of
from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.fold import at_least, larger, smaller
from mlc.frontends.onnx.node import Node, normalise_axis, onnx_op
from mlc.frontends.onnx.ops.at_run_time import (
    any_open,
    chosen,
    dropped,
    expanded,
    inserted,
    reshaped,
    sliced,
)
from mlc.frontends.onnx.tensors import Tensor


@onnx_op("Reshape")
def reshape(node: Node) -> Tensor:
    x = node[0]
    wanted = node.attr("shape") if node.opset < 5 else node.numbers(1)
    if any_open(wanted):
        return reshaped(node, x, wanted, bool(node.attr("allowzero", 0)))
    if not node.attr("allowzero", 0):
        wanted = [x.shape[n] if d == 0 and n < x.rank else d for n, d in enumerate(wanted)]
    return node.build.reshape(x, filled(x.shape, wanted))


def filled(shape: Sequence[DimLike], wanted: Sequence[DimLike]) -> list[DimLike]:
    """``wanted`` with its -1 replaced by what is left of the elements of ``shape``."""
    if list(wanted).count(-1) > 1:
        raise NotSupported(f"a shape with two unknown dimensions: {list(wanted)}")
    rest = product(d for d in wanted if d != -1)
    return [(floordiv(product(shape), rest) if rest != 0 else 0) if d == -1 else d for d in wanted]


@onnx_op("Flatten")
def flatten(node: Node) -> Tensor:
    x, axis = node[0], node.attr("axis", 1)
    axis = axis + x.rank if axis < 0 else axis
    return node.build.reshape(x, (product(x.shape[:axis]), product(x.shape[axis:])))


@onnx_op("Transpose")
def transpose(node: Node) -> Tensor:
    return node.build.transpose(node[0], node.attr("perm", None) or list(reversed(range(node[0].rank))))


@onnx_op("Squeeze")
def squeeze(node: Node) -> Tensor:
    x = node[0]
    if node.opset >= 13 and node.has(1) and any_open(places := node.numbers(1)):
        return node.build.reshape(x, dropped(node, x.shape, places))
    axes = node.attr("axes", None) if node.opset < 13 else node.ints(1) if node.has(1) else None
    gone = {n for n, d in enumerate(x.shape) if d == 1} if axes is None else {normalise_axis(a, x.rank) for a in axes}
    return node.build.reshape(x, [d for n, d in enumerate(x.shape) if n not in gone])


@onnx_op("Unsqueeze")
def unsqueeze(node: Node) -> Tensor:
    x = node[0]
    if node.opset >= 13 and any_open(places := node.numbers(1)):
        return node.build.reshape(x, inserted(node, x.shape, places))
    axes = node.attr("axes") if node.opset < 13 else node.ints(1)
    rank = x.rank + len(axes)
    new, old = {normalise_axis(a, rank) for a in axes}, iter(x.shape)
    if len(new) != len(axes):
        raise ValueError(f"axes {list(axes)} name a dimension twice")
    return node.build.reshape(x, [1 if n in new else next(old) for n in range(rank)])


@onnx_op("Expand", since=8)
def expand(node: Node) -> Tensor:
    return expanded(node, node[0], node.numbers(1))


@onnx_op("Tile")
def tile(node: Node) -> Tensor:
    """Repeat: a broadcast along a new dimension before each repeated one."""
    x, repeats = node[0], node.dims(1)
    split = [d for n, r in zip(x.shape, repeats, strict=True) for d in (([1] if r != 1 else []) + [n])]
    wide = [d for n, r in zip(x.shape, repeats, strict=True) for d in (([r] if r != 1 else []) + [n])]
    repeated = node.build.broadcast(node.build.reshape(x, split), wide)
    return node.build.reshape(repeated, [n * r for n, r in zip(x.shape, repeats, strict=True)])


FAR = 1 << 62  # an end that is none


@onnx_op("Slice")
def slice_1(node: Node) -> Tensor:
    starts, ends = node.attr("starts"), node.attr("ends")
    return slices(node.build, node[0], starts, ends, node.attr("axes", None), None)


@onnx_op("Slice", since=10)
def slice_10(node: Node) -> Tensor:
    x, starts, ends = node[0], node.numbers(1), node.numbers(2)
    axes, steps = (node.numbers(n) if node.has(n) else None for n in (3, 4))
    if not any_open((*starts, *ends, *(axes or ()), *(steps or ()))):
        return slices(node.build, x, starts, ends, *(node.ints(n) if node.has(n) else None for n in (3, 4)))
    axes, steps = axes or list(range(len(starts))), steps or [1] * len(starts)
    if not any_open(axes):
        return sliced(node, x, starts, ends, [normalise_axis(int(a), x.rank) for a in axes], steps)  # type: ignore[arg-type]
    each = [
        [chosen(n, x.rank, axes, numbers, default) for n in range(x.rank)]
        for numbers, default in ((starts, 0), (ends, FAR), (steps, 1))
    ]
    return sliced(node, x, each[0], each[1], list(range(x.rank)), each[2])


def slices(
    build: Builder,
    x: Tensor,
    starts: Sequence[DimLike],
    ends: Sequence[DimLike],
    axes: Sequence[int] | None,
    steps: Sequence[int] | None,
) -> Tensor:
    """NumPy's slices on some axes; ends out of range are clamped."""
    first: list[DimLike] = [0] * x.rank
    size, step = list(x.shape), [1] * x.rank
    for n, axis in enumerate(range(len(starts)) if axes is None else axes):
        axis = normalise_axis(axis, x.rank)
        step[axis] = 1 if steps is None else steps[n]
        first[axis], size[axis] = _extent(build, x.shape[axis], starts[n], ends[n], step[axis])
    return build.slice(x, first, size, step)


def _extent(build: Builder, d: DimLike, start: DimLike, end: DimLike, step: int) -> tuple[DimLike, DimLike]:
    """(first element, number of elements) of a slice of a dimension of extent ``d``."""
    low, high = (0, d) if step > 0 else (0, d - 1)
    start = _clamped(build, d, start, low, high)
    end = _clamped(build, d, end, *((0, d) if step > 0 else (-1, d - 1)))
    if step < 0:
        return start, larger(floordiv(start - end - step - 1, -step), 0)
    return start, larger(floordiv(end - start + step - 1, step), 0)


def _clamped(build: Builder, d: DimLike, at: DimLike, low: DimLike, high: DimLike) -> DimLike:
    """A position counted from the end where negative, and moved into [low, high].

    A symbolic position is taken to lie inside: x[:seq] of a table of 512 rows requires seq <= 512.
    """
    if isinstance(at, Dim):
        at = at + d if at_least(at, 0) is False else at
        if at_least(high, at) is None and isinstance(high, int):
            build.require(high, at)
            return larger(at, low)
        return smaller(larger(at, low), high)
    if at < -(1 << 30):
        return low
    return smaller(larger(at + d if at < 0 else at, low), high) if at < (1 << 30) else high


@onnx_op("Concat")
def concat(node: Node) -> Tensor:
    axis = normalise_axis(node.attr("axis", 1), node[0].rank)
    return node.build.concat(node.tensors(), axis)


@onnx_op("Split")
def split(node: Node) -> tuple[Tensor, ...]:
    x = node[0]
    axis = normalise_axis(node.attr("axis", 0), x.rank)
    extent = x.shape[axis]
    given = node.attr("split", None) if node.opset < 13 else node.dims(1, extent) if node.has(1) else None
    if given and sizes_of(given):
        node.check(f"-abs({extent - sum(given)})", f"the parts {given} are not the {extent} elements of axis {axis}")
    parts = node.attr("num_outputs", node.outputs)
    if not given and parts != node.outputs:
        raise ValueError(f"num_outputs is {parts}, but the node has {node.outputs} outputs")
    sizes = given or _even(extent, parts)
    at: DimLike = 0
    pieces = []
    for size in sizes:
        pieces.append(node.build.cut(x, axis, at, size))
        at = at + size
    return tuple(pieces)


def _even(extent: DimLike, parts: int) -> list[DimLike]:
    """Equal parts, the last one smaller where they do not divide."""
    size = floordiv(extent + parts - 1, parts)
    return [size] * (parts - 1) + [extent - size * (parts - 1)]


@onnx_op("DepthToSpace")
def depth_to_space(node: Node) -> Tensor:
    x, b = node[0], node.attr("blocksize")
    n, c, h, w = x.shape
    if node.attr("mode", "DCR") == "DCR":
        split_, perm = (n, b, b, c // (b * b), h, w), [0, 3, 4, 1, 5, 2]
    else:
        split_, perm = (n, c // (b * b), b, b, h, w), [0, 1, 4, 2, 5, 3]
    moved = node.build.transpose(node.build.reshape(x, split_), perm)
    return node.build.reshape(moved, (n, c // (b * b), h * b, w * b))


@onnx_op("SpaceToDepth")
def space_to_depth(node: Node) -> Tensor:
    x, b = node[0], node.attr("blocksize")
    n, c, h, w = x.shape
    perm = [0, 3, 5, 1, 2, 4] if node.attr("mode", "DCR") == "DCR" else [0, 1, 3, 5, 2, 4]
    moved = node.build.transpose(node.build.reshape(x, (n, c, h // b, b, w // b, b)), perm)
    return node.build.reshape(moved, (n, c * b * b, h // b, w // b))


@onnx_op("Trilu", since=14)
def trilu(node: Node) -> Tensor:
    x, k = node[0], node.number(1)
    keep = ">=" if node.attr("upper", 1) else "<="
    names = [f"i{n}" for n in range(x.rank)]
    zero = "False" if x.element == "i1" else f"{x.element}(0)"
    return node.build.compute(
        f"where({names[-1]} - {names[-2]} {keep} {k}, x0[{', '.join(names)}], {zero})", [x], x.shape
    )
