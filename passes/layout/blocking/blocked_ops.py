"""Blocked forms of operators other than convolutions: each function returns the operator on the blocked layout, or None
to keep the plain layout.

Where it returns None, no operation that it created has a reader.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from xdsl.ir import Operation, SSAValue

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
from mlc.dialects.semantics.dims import DimLike, product
from mlc.dialects.semantics.expr import Expr, Index, Load, children, parse, substitute
from mlc.dialects.types import Shape, element_of, shape_of
from mlc.passes.layout.blocking.block_sizes import COPIED
from mlc.passes.layout.blocking.blocked_layout import Blocked, LayoutBuilder, padded, spares_channels
from mlc.passes.layout.blocking.padding_values import ANY, ZERO, PaddingValues, after_combine, after_map, union

if TYPE_CHECKING:
    from mlc.passes.layout.assign_layout import LayoutAssignment


def blocked_map(op: MapOp, layout: LayoutAssignment, builder: LayoutBuilder) -> Blocked | None:
    """Give all operands of a map the same blocks; an operand without channels gets a last dimension of extent 1."""
    shape = shape_of(op.result)
    lead = next((v for a in op.args if (v := layout.views.get(a)) and v.shape == shape), None)
    if lead is None or not all(_fits(shape_of(a), shape) for a in op.args):
        return None
    finite, values = True, ZERO
    if not lead.aligned:
        finite, values = after_map(op.scalar, _padding(op, lead, layout), [element_of(a) for a in op.args])
    if not finite:
        return None
    flat = lead.flat and all(_flattens(shape_of(a), shape) for a in op.args)
    args = [_map_operand(a, lead, flat, layout, builder) for a in op.args]
    return Blocked(builder.emit(MapOp(op.scalar, args)), lead.channels, lead.block, lead.spatial, values)


def _full(shape: Shape, rank: int) -> Shape:
    return (*[1] * (rank - len(shape)), *shape)


def _fits(shape: Shape, whole: Shape) -> bool:
    return _full(shape, len(whole))[1] in (1, whole[1])


def _flattens(shape: Shape, whole: Shape) -> bool:
    spatial = _full(shape, len(whole))[2:]
    return spatial == whole[2:] or all(d == 1 for d in spatial)


def _padding(op: MapOp, lead: Blocked, layout: LayoutAssignment) -> list[PaddingValues]:
    """Return the padding values of each operand: those of its blocked form, zeros if packing pads it, or the values
    that it broadcasts."""
    out: list[PaddingValues] = []
    for arg in op.args:
        view = layout.views.get(arg)
        if not _has_channels(arg, lead, layout):
            out.append(_scalars(arg))
        else:
            kept = view is not None and view.block == lead.block and len(shape_of(arg)) == len(lead.shape)
            out.append(view.padding if view is not None and kept else ZERO)
    return out


def _has_channels(arg: SSAValue, lead: Blocked, layout: LayoutAssignment) -> bool:
    """Return whether ``arg`` has an element for each channel. For a single channel, ``arg`` must be blocked."""
    channels = _full(shape_of(arg), len(lead.shape))[1]
    return channels == lead.channels and (
        channels != 1 or (arg in layout.views and len(shape_of(arg)) == len(lead.shape))
    )


def _scalars(value: SSAValue) -> PaddingValues:
    return frozenset(value.owner.array().astype(float).flat) if isinstance(value.owner, ConstantOp) else ANY


def _map_operand(
    arg: SSAValue, lead: Blocked, flat: bool, layout: LayoutAssignment, builder: LayoutBuilder
) -> SSAValue:
    own, rank = shape_of(arg), len(lead.shape)
    full = _full(own, rank)
    spatial = (product(full[2:]),) if flat else full[2:]
    if not _has_channels(arg, lead, layout):
        plain = layout.plain(arg, builder)
        return builder.reshape(plain, (*full[:2], *spatial, 1)) if own else plain
    if len(own) == rank:
        view = layout.blocked(arg, lead.block, builder)
    else:
        view = builder.block(builder.reshape(layout.plain(arg, builder), full), lead.block)
    return builder.reshape(view.value, (*shape_of(view.value)[:2], *spatial, view.block))


def blocked_pool(op: PoolOp, layout: LayoutAssignment, builder: LayoutBuilder) -> Blocked | None:
    """Pool over the spatial dimensions of the blocked operand."""
    x = layout.views[op.input]
    finite, values = after_combine(op.fn.data, x.padding)
    if not (finite or x.aligned) or len(ints_of(op.kernel)) != len(x.spatial):
        return None
    new = PoolOp(op.fn.data, builder.unflattened(x), ints_of(op.kernel), ints_of(op.strides), ints_of(op.dilations))
    return Blocked(builder.emit(new), x.channels, x.block, shape_of(op.result)[2:], values)


def blocked_pad(op: PadOp, layout: LayoutAssignment, builder: LayoutBuilder) -> Blocked | None:
    """Pad the blocked operand, unless channels are padded."""
    return padded(op, layout.views[op.input], builder) if spares_channels(op) else None


def blocked_concat(op: ConcatOp, layout: LayoutAssignment, builder: LayoutBuilder) -> Blocked | None:
    """Concatenate blocked operands: along channels if each operand consists of whole blocks, or along any other
    dimension."""
    axis = op.axis.value.data
    block = next(layout.views[a].block for a in op.args if a in layout.views)
    channels = [shape_of(a)[1] for a in op.args]
    if not all(isinstance(c, int) for c in channels) or axis == 1 and any(c % block for c in channels):
        return None
    views = [layout.blocked(a, block, builder) for a in op.args]
    flat = axis == 1 and all(v.flat for v in views)
    new = ConcatOp([builder.flattened(v) if flat else builder.unflattened(v) for v in views], axis)
    shape = shape_of(op.result)
    return Blocked(builder.emit(new), int(shape[1]), block, shape[2:], union([v.padding for v in views]))  # type: ignore[arg-type]


def concat(op: ConcatOp, layout: LayoutAssignment, builder: LayoutBuilder) -> Blocked | None:
    """Concatenate blocked operands, also along the channels within the one block of an NHWC image."""
    within = layout.sizes.whole and op.axis.value.data == 1
    return _concat_in_block(op, layout, builder) if within else blocked_concat(op, layout, builder)


def _concat_in_block(op: ConcatOp, layout: LayoutAssignment, builder: LayoutBuilder) -> Blocked | None:
    """Concatenate along the channels within blocks that have all channels, if no operand has padding channels."""
    shape, channels = shape_of(op.result), [shape_of(a)[1] for a in op.args]
    held = [layout.views[a] for a in op.args if a in layout.views]
    if not all(isinstance(c, int) and c % COPIED == 0 for c in channels) or not all(v.aligned for v in held):
        return None
    views = [layout.blocked(a, int(c), builder) for a, c in zip(op.args, channels, strict=True)]  # type: ignore[arg-type]
    args = [builder.flattened(v) if all(v.flat for v in views) else builder.unflattened(v) for v in views]
    new = builder.emit(ConcatOp(args, len(shape_of(args[0])) - 1))
    return Blocked(new, int(shape[1]), int(shape[1]), shape[2:], union([v.padding for v in views]))  # type: ignore[arg-type]


def blocked_slice(op: SliceOp, layout: LayoutAssignment, builder: LayoutBuilder) -> Blocked | None:
    """Slice a blocked operand: all channels, or whole blocks of channels. From a block with all channels, a part is
    sliced that consists of whole 16-byte chunks."""
    x, shape = layout.views[op.input], shape_of(op.result)
    starts, sizes, steps = list(dims_of(op.starts)), list(dims_of(op.sizes)), list(ints_of(op.steps))
    held, within = builder.unflattened(x), (0, x.block)
    part = layout.sizes.whole and sizes[1] != x.channels
    if part and _whole_blocks(starts[1], sizes[1], replace(x, block=COPIED)):
        within, starts[1], sizes[1] = (int(starts[1]), int(sizes[1])), 0, x.channels  # type: ignore[arg-type]
    if steps[1] != 1 or not _whole_blocks(starts[1], sizes[1], x):
        return None
    starts[1] //= x.block
    sizes[1] = shape_of(held)[1] if sizes[1] == x.channels else sizes[1] // x.block
    new = SliceOp(held, [*starts, within[0]], [*sizes, within[1]], [*steps, 1])
    return Blocked(builder.emit(new), int(shape[1]), within[1], shape[2:], x.padding)  # type: ignore[arg-type]


def _whole_blocks(start: DimLike, size: DimLike, x: Blocked) -> bool:
    everything = start == 0 and size == x.channels
    return everything or (isinstance(start, int) and isinstance(size, int) and start % x.block == size % x.block == 0)


def blocked_reduce(op: ReduceOp, layout: LayoutAssignment, builder: LayoutBuilder) -> Blocked | None:
    """Reduce a blocked operand over positions, or also over the batch if the reduction keeps this dimension."""
    x, axes, keep = layout.views[op.input], ints_of(op.axes), bool(op.keepdims)
    finite, values = after_combine(op.fn.data, x.padding)
    if 1 in axes or (0 in axes and not keep) or not (finite or x.aligned):
        return None
    if x.flat and set(range(2, len(x.spatial) + 2)) <= set(axes):
        axes = tuple(a for a in axes if a <= 2)
        value = x.value
    else:
        value = builder.unflattened(x)
    spatial = shape_of(op.result)[2:]
    return Blocked(builder.emit(ReduceOp(op.fn.data, value, axes, keep)), x.channels, x.block, spatial, values)


def blocked_compute(op: ComputeOp, layout: LayoutAssignment, builder: LayoutBuilder) -> Blocked | None:
    """Compute resizing and similar operators on blocks, if every blocked operand is read at [i0, i1, …] and nothing
    else depends on the channel i1."""
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
    args = [builder.unflattened(held[n]) if n in held else a for n, a in enumerate(op.args)]
    outer: tuple[Any, ...] = (shape[0], lead.channels // lead.block, *shape[2:], lead.block)
    new = ComputeOp(str(expr), args, outer, dims_of(op.reduce), op.monoid.data if op.monoid else None)
    return Blocked(builder.emit(new), lead.channels, lead.block, tuple(shape[2:]))


def _keeps_channels(expr: Expr, held: dict[int, Blocked]) -> bool:
    match expr:
        case Index(name="i1"):
            return False
        case Load(operand=n, index=(Index(name="i0"), Index(name="i1"), *rest)) if n in held:
            return all(_keeps_channels(e, held) for e in rest)
        case Load(operand=n) if n in held:
            return False
    return all(_keeps_channels(e, held) for e in children(expr))


HANDLERS: dict[type[Operation], Callable[[Any, Any, LayoutBuilder], Blocked | None]] = {
    MapOp: blocked_map,
    PoolOp: blocked_pool,
    PadOp: blocked_pad,
    ConcatOp: concat,
    SliceOp: blocked_slice,
    ReduceOp: blocked_reduce,
    ComputeOp: blocked_compute,
}
