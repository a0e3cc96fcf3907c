"""Data movement: slices, concatenations, repetitions, padding, windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlc.dialects.semantics.dims import DimLike, floordiv
from mlc.frontends.build.folding.comparisons import at_least
from mlc.frontends.build.ops.shapes import rearrange
from mlc.frontends.build.ops.shapes import reshape as shapes
from mlc.frontends.build.ops.shapes.axes import normalize_axis
from mlc.frontends.build.ops.shapes.pad import pad_constant, pad_with_elements
from mlc.frontends.build.ops.shapes.slices import slices
from mlc.frontends.build.runtime_scalars import any_runtime
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.ops.tensors.views import unsqueeze
from mlc.frontends.torch.registry import Call, aten

END = 1 << 62


@aten("repeat")
def repeat(call: Call, x: Tensor, repeats: Sequence[DimLike]) -> Tensor:
    whole = call.build.reshape(x, (*[1] * (len(repeats) - x.rank), *x.shape))
    return rearrange.tile(call.build, whole, repeats)


@aten("cat", "concat")
def concat(call: Call, xs: Sequence[Tensor], dim: int = 0) -> Tensor:
    """A concatenation. As in torch, an empty vector fits operands of any rank."""
    rank = max(x.rank for x in xs)
    fitting = call.tensors(*(x for x in xs if x.rank == rank))
    return call.build.concat(fitting, normalize_axis(dim, rank))


@aten("stack")
def stack(call: Call, xs: Sequence[Tensor], dim: int = 0) -> Tensor:
    axis = normalize_axis(dim, xs[0].rank + 1)
    return call.build.concat([unsqueeze(call, x, axis) for x in call.tensors(*xs)], axis)


@aten("split", "split_copy")
def split(call: Call, x: Tensor, size: Any, dim: int = 0) -> list[Tensor]:
    axis = normalize_axis(dim, x.rank)
    if isinstance(size, list | tuple):
        return rearrange.split(call.build, x, axis, size)
    parts = len(call.node.meta["val"])
    return rearrange.split(call.build, x, axis, [*[size] * (parts - 1), x.shape[axis] - size * (parts - 1)])


@aten("split_with_sizes", "split_with_sizes_copy")
def split_with_sizes(call: Call, x: Tensor, sizes: Sequence[DimLike], dim: int = 0) -> list[Tensor]:
    return rearrange.split(call.build, x, normalize_axis(dim, x.rank), sizes)


@aten("unbind", "unbind_copy")
def unbind(call: Call, x: Tensor, dim: int = 0) -> list[Tensor]:
    return [select(call, x, dim, n) for n in range(len(call.node.meta["val"]))]


@aten("slice", "slice_copy")
def slice_(
    call: Call, x: Tensor, dim: int = 0, start: DimLike | None = None, end: DimLike | None = None, step: int = 1
) -> Tensor:
    return slices(call.build, x, [0 if start is None else start], [END if end is None else end], [dim], [step])


@aten("select", "select_copy")
def select(call: Call, x: Tensor, dim: int, index: DimLike) -> Tensor:
    axis = normalize_axis(dim, x.rank)
    at = index + x.shape[axis] if at_least(index, 0) is False else index
    return call.build.reshape(call.build.cut(x, axis, at, 1), (*x.shape[:axis], *x.shape[axis + 1 :]))


@aten("narrow_copy")
def narrow(call: Call, x: Tensor, dim: int, start: DimLike, length: DimLike) -> Tensor:
    first = start + x.shape[dim] if at_least(start, 0) is False else start
    return call.build.cut(x, normalize_axis(dim, x.rank), first, length)


@aten("slice_scatter")
def slice_scatter(
    call: Call,
    x: Tensor,
    source: Tensor,
    dim: int = 0,
    start: DimLike | None = None,
    end: DimLike | None = None,
    step: int = 1,
) -> Tensor:
    """``x`` with a slice of it replaced."""
    build, axis = call.build, normalize_axis(dim, x.rank)
    extent, first = x.shape[axis], 0 if start is None else start
    first = first + extent if at_least(first, 0) is False else first
    size = source.shape[axis]
    if step == 1 and not any_runtime((first, size, extent)):
        parts = [build.cut(x, axis, 0, first), source, build.cut(x, axis, first + size, extent - first - size)]
        return build.concat([part for part in parts if part.shape[axis] != 0], axis)
    at = f"((i{axis} - ({first})) // {step})"
    hit = f"(i{axis} >= {first}) & ((i{axis} - ({first})) % {step} == 0) & ({at} < {size})"
    names = [f"i{n}" for n in range(x.rank)]
    read = ", ".join(f"min(max({at}, 0), ({size}) - 1)" if n == axis else a for n, a in enumerate(names))
    return build.compute(f"where({hit}, x1[{read}], x0[{', '.join(names)}])", [x, source], x.shape)


@aten("select_scatter")
def select_scatter(call: Call, x: Tensor, source: Tensor, dim: int, index: DimLike) -> Tensor:
    return slice_scatter(call, x, unsqueeze(call, source, normalize_axis(dim, x.rank)), dim, index)


@aten("flip")
def flip(call: Call, x: Tensor, dims: Sequence[int]) -> Tensor:
    axes = {normalize_axis(d, x.rank) for d in dims}
    starts = [d - 1 if n in axes else 0 for n, d in enumerate(x.shape)]
    return call.build.slice(x, starts, x.shape, [-1 if n in axes else 1 for n in range(x.rank)])


@aten("roll")
def roll(call: Call, x: Tensor, shifts: Sequence[DimLike] | DimLike, dims: Sequence[int] | int = ()) -> Tensor:
    if any(d == 0 for d in x.shape):
        return x
    amounts = list(shifts) if isinstance(shifts, Sequence) else [shifts]
    axes = [dims] if isinstance(dims, int) else list(dims)
    if not axes:
        return call.build.reshape(roll(call, shapes.reshape(call.build, x, [-1]), amounts, [0]), x.shape)
    for amount, dim in zip(amounts, axes, strict=True):
        axis = normalize_axis(dim, x.rank)
        x = _rolled(call, x, axis, amount)
    return x


def _rolled(call: Call, x: Tensor, axis: int, amount: DimLike) -> Tensor:
    extent = x.shape[axis]
    if not isinstance(amount, int):
        read = [f"(i{n} - ({amount})) % ({extent})" if n == axis else f"i{n}" for n in range(x.rank)]
        return call.build.compute(f"x0[{', '.join(read)}]", [x], x.shape)
    shift = amount % extent if isinstance(extent, int) and extent else amount
    tail = shift if shift >= 0 else extent + shift
    if isinstance(tail, int) and tail == 0:
        return x
    parts = [call.build.cut(x, axis, extent - tail, tail), call.build.cut(x, axis, 0, extent - tail)]
    return call.build.concat(parts, axis)


@aten("constant_pad_nd")
def pad(call: Call, x: Tensor, amounts: Sequence[DimLike], value: float = 0) -> Tensor:
    low, high = _ends(x, amounts)
    return pad_constant(call.build, x, low, high, value)


def _ends(x: Tensor, amounts: Sequence[DimLike]) -> tuple[list[DimLike], list[DimLike]]:
    """Amounts before and after each dimension; torch names the last dimension first."""
    rest = [0] * (x.rank - len(amounts) // 2)
    return [*rest, *reversed(amounts[::2])], [*rest, *reversed(amounts[1::2])]


@aten("reflection_pad1d", "reflection_pad2d", "reflection_pad3d")
@aten("replication_pad1d", "replication_pad2d", "replication_pad3d")
def pad_elements(call: Call, x: Tensor, amounts: Sequence[int]) -> Tensor:
    mode = "reflect" if call.op.startswith("reflection") else "edge"
    return pad_with_elements(call.build, x, *_ends(x, amounts), mode)


@aten("pixel_shuffle", "pixel_unshuffle")
def pixel_shuffle(call: Call, x: Tensor, factor: int) -> Tensor:
    images = shapes.reshape(call.build, x, [-1, *x.shape[-3:]], zero_copies=False)
    move = rearrange.depth_to_space if call.op == "pixel_shuffle" else rearrange.space_to_depth
    y = move(call.build, images, factor, channels_first=True)
    return call.build.reshape(y, (*x.shape[:-3], *y.shape[1:]))


@aten("tril", "triu")
def triangle(call: Call, x: Tensor, diagonal: DimLike = 0) -> Tensor:
    return rearrange.triangle(call.build, x, diagonal, call.op == "triu")


@aten("unfold", "unfold_copy")
def unfold(call: Call, x: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Windows of one dimension, whose elements are a new last one."""
    axis = normalize_axis(dimension, x.rank)
    count = floordiv(x.shape[axis] - size, step) + 1
    read = ", ".join(f"i{n} * {step} + i{x.rank}" if n == axis else f"i{n}" for n in range(x.rank))
    shape = [*(count if n == axis else d for n, d in enumerate(x.shape)), size]
    return call.build.compute(f"x0[{read}]", [x], shape)
