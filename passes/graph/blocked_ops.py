"""Operators other than convolutions on the blocked layout: each answers with its blocked form, or with None where
the plain one serves.

An answer of None leaves no operation behind that anything reads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from xdsl.ir import Operation, SSAValue

from mlc.dialects.dims import DimLike, product
from mlc.dialects.expr import Expr, Index, Load, children, parse, substitute
from mlc.dialects.graph import (
    ComputeOp,
    ConcatOp,
    ConstantOp,
    MapOp,
    PadOp,
    PoolOp,
    ReduceOp,
    SliceOp,
    dims_of,
    ints_of,
)
from mlc.dialects.types import Shape, shape_of
from mlc.passes.graph.lanes import ANY, ZERO, Lanes, after_combine, after_map, union
from mlc.passes.graph.layout import Blocked, Emitter, padded, spares_channels

if TYPE_CHECKING:
    from mlc.passes.graph.assign_layout import Layout


def blocked_map(op: MapOp, layout: Layout, emitter: Emitter) -> Blocked | None:
    """All operands blocked alike, those without channels with a last dimension of 1 instead."""
    shape = shape_of(op.result)
    lead = next((v for a in op.args if (v := layout.views.get(a)) and v.shape == shape), None)
    if lead is None or not all(_fits(shape_of(a), shape) for a in op.args):
        return None
    finite, lanes = (True, ZERO) if lead.aligned else after_map(op.scalar, _lanes(op, lead, layout))
    if not finite:
        return None
    flat = lead.flat and all(_flattens(shape_of(a), shape) for a in op.args)
    args = [_map_operand(a, lead, flat, layout, emitter) for a in op.args]
    return Blocked(emitter.emit(MapOp(op.scalar, args)), lead.channels, lead.block, lead.spatial, lanes)


def _full(shape: Shape, rank: int) -> Shape:
    return (*[1] * (rank - len(shape)), *shape)


def _fits(shape: Shape, whole: Shape) -> bool:
    return _full(shape, len(whole))[1] in (1, whole[1])


def _flattens(shape: Shape, whole: Shape) -> bool:
    spatial = _full(shape, len(whole))[2:]
    return spatial == whole[2:] or all(d == 1 for d in spatial)


def _lanes(op: MapOp, lead: Blocked, layout: Layout) -> list[Lanes]:
    """What each operand puts into padding lanes: its own, zeros where it is filled up, else what it broadcasts."""
    out: list[Lanes] = []
    for arg in op.args:
        view = layout.views.get(arg)
        if not _has_channels(arg, lead, layout):
            out.append(_scalars(arg))
        else:
            kept = view is not None and view.block == lead.block and len(shape_of(arg)) == len(lead.shape)
            out.append(view.lanes if view is not None and kept else ZERO)
    return out


def _has_channels(arg: SSAValue, lead: Blocked, layout: Layout) -> bool:
    """Whether ``arg`` has a number for each channel (of a single channel: whether it is held blocked)."""
    channels = _full(shape_of(arg), len(lead.shape))[1]
    return channels == lead.channels and (
        channels != 1 or (arg in layout.views and len(shape_of(arg)) == len(lead.shape))
    )


def _scalars(value: SSAValue) -> Lanes:
    return frozenset(value.owner.array().astype(float).flat) if isinstance(value.owner, ConstantOp) else ANY


def _map_operand(arg: SSAValue, lead: Blocked, flat: bool, layout: Layout, emitter: Emitter) -> SSAValue:
    own, rank = shape_of(arg), len(lead.shape)
    full = _full(own, rank)
    spatial = (product(full[2:]),) if flat else full[2:]
    if not _has_channels(arg, lead, layout):
        plain = layout.plain(arg, emitter)
        return emitter.reshape(plain, (*full[:2], *spatial, 1)) if own else plain
    if len(own) == rank:
        view = layout.blocked(arg, lead.block, emitter)
    else:
        view = emitter.block(emitter.reshape(layout.plain(arg, emitter), full), lead.block)
    return emitter.reshape(view.value, (*shape_of(view.value)[:2], *spatial, view.block))


def blocked_pool(op: PoolOp, layout: Layout, emitter: Emitter) -> Blocked | None:
    """Windows slide over the same dimensions."""
    x = layout.views[op.input]
    finite, lanes = after_combine(op.fn.data, x.lanes)
    if not (finite or x.aligned) or len(ints_of(op.kernel)) != len(x.spatial):
        return None
    new = PoolOp(op.fn.data, emitter.deep(x), ints_of(op.kernel), ints_of(op.strides), ints_of(op.dilations))
    return Blocked(emitter.emit(new), x.channels, x.block, shape_of(op.result)[2:], lanes)


def blocked_pad(op: PadOp, layout: Layout, emitter: Emitter) -> Blocked | None:
    """Padding of anything but channels."""
    return padded(op, layout.views[op.input], emitter) if spares_channels(op) else None


def blocked_concat(op: ConcatOp, layout: Layout, emitter: Emitter) -> Blocked | None:
    """Along channels where each part is whole blocks; along any other dimension."""
    axis = op.axis.value.data
    block = next(layout.views[a].block for a in op.args if a in layout.views)
    channels = [shape_of(a)[1] for a in op.args]
    if not all(isinstance(c, int) for c in channels) or axis == 1 and any(c % block for c in channels):
        return None
    views = [layout.blocked(a, block, emitter) for a in op.args]
    flat = axis == 1 and all(v.flat for v in views)
    new = ConcatOp([emitter.flat(v) if flat else emitter.deep(v) for v in views], axis)
    shape = shape_of(op.result)
    return Blocked(emitter.emit(new), int(shape[1]), block, shape[2:], union([v.lanes for v in views]))  # type: ignore[arg-type]


def blocked_slice(op: SliceOp, layout: Layout, emitter: Emitter) -> Blocked | None:
    """All channels or whole blocks of them."""
    x, shape = layout.views[op.input], shape_of(op.result)
    starts, sizes, steps = list(dims_of(op.starts)), list(dims_of(op.sizes)), list(ints_of(op.steps))
    if steps[1] != 1 or not _whole_blocks(starts[1], sizes[1], x):
        return None
    held = emitter.deep(x)
    starts[1] //= x.block
    sizes[1] = shape_of(held)[1] if sizes[1] == x.channels else sizes[1] // x.block
    new = SliceOp(held, [*starts, 0], [*sizes, x.block], [*steps, 1])
    return Blocked(emitter.emit(new), int(shape[1]), x.block, shape[2:], x.lanes)  # type: ignore[arg-type]


def _whole_blocks(start: DimLike, size: DimLike, x: Blocked) -> bool:
    everything = start == 0 and size == x.channels
    return everything or (isinstance(start, int) and isinstance(size, int) and start % x.block == size % x.block == 0)


def blocked_reduce(op: ReduceOp, layout: Layout, emitter: Emitter) -> Blocked | None:
    """Over positions; over the batch where the dimension stays."""
    x, axes, keep = layout.views[op.input], ints_of(op.axes), bool(op.keepdims)
    finite, lanes = after_combine(op.fn.data, x.lanes)
    if 1 in axes or (0 in axes and not keep) or not (finite or x.aligned):
        return None
    if x.flat and set(range(2, len(x.spatial) + 2)) <= set(axes):
        axes = tuple(a for a in axes if a <= 2)
        value = x.value
    else:
        value = emitter.deep(x)
    spatial = shape_of(op.result)[2:]
    return Blocked(emitter.emit(ReduceOp(op.fn.data, value, axes, keep)), x.channels, x.block, spatial, lanes)


def blocked_compute(op: ComputeOp, layout: Layout, emitter: Emitter) -> Blocked | None:
    """Resizing and the like: blocked operands are read at [i0, i1, …], and nothing else looks at the channel."""
    shape, held = dims_of(op.shape), {n: layout.views[a] for n, a in enumerate(op.args) if a in layout.views}
    lead = next(iter(held.values()))
    lane = Index(f"i{len(shape)}")
    uniform = all(v.aligned and v.block == lead.block and v.channels == lead.channels for v in held.values())
    expr = parse(op.expr.data)
    if not uniform or len(shape) < 2 or shape[1] != lead.channels or not _keeps_channels(expr, held):
        return None
    expr = substitute(
        expr, lambda load: Load(load.operand, (*(load.index or ()), lane)) if load.operand in held else load
    )
    args = [emitter.deep(held[n]) if n in held else a for n, a in enumerate(op.args)]
    outer: tuple[Any, ...] = (shape[0], lead.channels // lead.block, *shape[2:], lead.block)
    new = ComputeOp(str(expr), args, outer, dims_of(op.reduce), op.monoid.data if op.monoid else None)
    return Blocked(emitter.emit(new), lead.channels, lead.block, tuple(shape[2:]))


def _keeps_channels(expr: Expr, held: dict[int, Blocked]) -> bool:
    match expr:
        case Index(name="i1"):
            return False
        case Load(operand=n, index=(Index(name="i0"), Index(name="i1"), *rest)) if n in held:
            return all(_keeps_channels(e, held) for e in rest)
        case Load(operand=n) if n in held:
            return False
    return all(_keeps_channels(e, held) for e in children(expr))


HANDLERS: dict[type[Operation], Callable[[Any, Any, Emitter], Blocked | None]] = {
    MapOp: blocked_map,
    PoolOp: blocked_pool,
    PadOp: blocked_pad,
    ConcatOp: blocked_concat,
    SliceOp: blocked_slice,
    ReduceOp: blocked_reduce,
    ComputeOp: blocked_compute,
}
