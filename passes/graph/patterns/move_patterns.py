"""Canonical forms of data movement: operators that move nothing are removed, and two are merged where one suffices."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from mlc.dialects.graph import (
    BroadcastOp,
    ConcatOp,
    ContractOp,
    ConvOp,
    PadOp,
    ReduceOp,
    ReshapeOp,
    SliceOp,
    TransposeOp,
    dims_of,
    ints_of,
    source_nodes,
    with_nodes,
)
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.types import Shape, shape_of
from mlc.passes.graph.patterns.contract_patterns import (
    contract_moved,
    contract_transposed,
    contract_unstretched,
    transposed_contract,
)
from mlc.passes.graph.patterns.regroup import merge_transposes
from mlc.passes.rewriter import Pattern, Rewrite, producer


def drop_identity(op: ReshapeOp | BroadcastOp) -> Rewrite:
    """Remove a reshape or broadcast to the shape of its operand, unless it is a barrier."""
    return op.input if op.input.type == op.result.type and not getattr(op, "barrier", None) else None


def merge_reshapes(op: ReshapeOp) -> Rewrite:
    """reshape(reshape(x)) → reshape(x)"""
    inner = producer(op.input, ReshapeOp)
    merged = inner is not None and inner.barrier is None and op.barrier is None
    return [ReshapeOp(inner.input, shape_of(op.result))] if inner and merged else None


def transpose_without_units(op: ReshapeOp) -> Rewrite:
    """reshape(transpose(reshape(x))) → transpose(x), where the reshapes only insert and drop dimensions of extent 1."""
    move = producer(op.input, TransposeOp)
    split = producer(move.input, ReshapeOp) if move and op.input.has_one_use() else None
    if move is None or split is None or op.barrier is not None or split.barrier is not None:
        return None
    source, middle, target = shape_of(split.input), shape_of(split.result), shape_of(op.result)
    of_source, of_middle, of_target = (_wide(shape) for shape in (source, middle, target))
    order = [of_middle.index(p) for p in ints_of(move.perm) if middle[p] != 1]
    inserts = [source[a] for a in of_source] == [middle[a] for a in of_middle]
    drops = [middle[of_middle[n]] for n in order] == [target[a] for a in of_target]
    if not inserts or not drops or len(source) != len(target):
        return None
    units, wide = iter(a for a in range(len(source)) if a not in of_source), (of_source[n] for n in order)
    return [TransposeOp(split.input, [next(wide if a in of_target else units) for a in range(len(target))])]


def _wide(shape: Shape) -> list[int]:
    """The dimensions of an extent other than 1."""
    return [n for n, d in enumerate(shape) if d != 1]


def transpose_to_reshape(op: TransposeOp) -> Rewrite:
    """Replace a transposition that moves only dimensions of extent 1 by a reshape, or by its operand."""
    shape, perm = shape_of(op.input), ints_of(op.perm)
    moved = [p for p in perm if shape[p] != 1]
    if moved != sorted(moved):
        return None
    return op.input if list(perm) == sorted(perm) else [ReshapeOp(op.input, shape_of(op.result))]


def compose_transposes(op: TransposeOp) -> Rewrite:
    """transpose(transpose(x)) → transpose(x), also through a reshape that splits and merges whole dimensions."""
    inner = producer(op.input, TransposeOp)
    if inner:
        first = ints_of(inner.perm)
        return [TransposeOp(inner.input, [first[p] for p in ints_of(op.perm)])]
    middle = producer(op.input, ReshapeOp)
    inner = producer(middle.input, TransposeOp) if middle and middle.barrier is None else None
    return merge_transposes(inner, middle, op) if inner and middle else None


def drop_slice(op: SliceOp) -> Rewrite:
    """Remove a slice that takes all elements in order."""
    steps = zip(ints_of(op.steps), shape_of(op.input), strict=True)
    whole = op.input.type == op.result.type and all(s == 1 or d == 1 for s, d in steps)
    return op.input if whole and all(s == 0 for s in dims_of(op.starts)) else None


def merge_slices(op: SliceOp) -> Rewrite:
    """slice(slice(x)) → slice(x)"""
    inner = producer(op.input, SliceOp)
    if inner is None:
        return None
    steps = ints_of(inner.steps)
    starts = [a + b * s for a, b, s in zip(dims_of(inner.starts), dims_of(op.starts), steps, strict=True)]
    return [
        SliceOp(inner.input, starts, dims_of(op.sizes), [s * t for s, t in zip(steps, ints_of(op.steps), strict=True)])
    ]


def slice_of_concat(op: SliceOp) -> Rewrite:
    """slice(concat(a, b)) → slice(b) where only elements of b are taken"""
    concat = producer(op.input, ConcatOp)
    if concat is None:
        return None
    axis, starts = concat.axis.value.data, list(dims_of(op.starts))
    found = _part_at(concat, axis, starts[axis], dims_of(op.sizes)[axis], ints_of(op.steps)[axis])
    if found is None:
        return None
    part, starts[axis] = found
    return [SliceOp(part, starts, dims_of(op.sizes), ints_of(op.steps))]


def _part_at(concat: ConcatOp, axis: int, start: DimLike, size: DimLike, step: int) -> tuple[SSAValue, DimLike] | None:
    last = start + (size - 1) * step
    offset: DimLike = 0
    for part in concat.args:
        first, end, extent = start - offset, last - offset, shape_of(part)[axis]
        if all(isinstance(v, int) and isinstance(extent, int) and 0 <= v < extent for v in (first, end)):
            return part, first
        offset = offset + extent
    return None


def slice_of_pad(op: SliceOp) -> Rewrite:
    """slice(pad(x)) → pad(slice(x)), padded only where the slice reaches."""
    pad, starts, sizes = producer(op.input, PadOp), dims_of(op.starts), dims_of(op.sizes)
    if pad is None or any(s != 1 for s in ints_of(op.steps)):
        return None
    found = [
        _kept(*each)
        for each in zip(
            shape_of(pad.input), dims_of(pad.low), dims_of(pad.high), ints_of(pad.interior), starts, sizes, strict=True
        )
    ]
    kept = [each for each in found if each is not None]
    if len(kept) < len(found):
        return None
    first, taken, low, high = (list(each) for each in zip(*kept, strict=True))
    inner = SliceOp(pad.input, first, taken, [1] * len(first))
    less = PadOp(inner.result, low, high, pad.value.data, ints_of(pad.interior))
    return [inner, with_nodes(less, source_nodes(pad))]


def _kept(
    extent: DimLike, low: DimLike, high: DimLike, interior: int, start: DimLike, size: DimLike
) -> tuple[DimLike, DimLike, DimLike, DimLike] | None:
    """Return the part of one dimension of the pad's input that a slice reads: its first element, its size, and the
    padding before and after it. Return None if the slice reads no element of the input, or extents are not known at
    compile time."""
    if start == 0 and size == extent + low + high + interior * (extent - 1):
        return 0, extent, low, high
    values = [v for v in (extent, low, high, start, size) if isinstance(v, int)]
    if len(values) < 5 or interior or min(values[1:3]) < 0:
        return None
    extent, low, high, start, size = values
    before, end = max(low - start, 0), start + size - low
    first, last = max(start - low, 0), min(end, extent)
    return (first, last - first, before, size - before - (last - first)) if first < last else None


def slice_of_conv(op: SliceOp) -> Rewrite:
    """slice(conv(x, w)) → conv(slice(x), w), if nothing else reads the convolution: only the windows that are read are
    computed.

    If only the first window of a dimension is read, the convolution gets a stride beyond the image instead, and the
    image is not sliced along that dimension.
    """
    conv, starts, sizes = producer(op.input, ConvOp), dims_of(op.starts), dims_of(op.sizes)
    if conv is None or not op.input.has_one_use() or conv.layouts or any(s != 1 for s in ints_of(op.steps)):
        return None
    image, weight = shape_of(conv.input), shape_of(conv.weight)
    if starts[1] != 0 or sizes[1] != weight[0]:
        return None
    windows = zip(starts[2:], sizes[2:], image[2:], weight[2:], *conv.window, strict=True)
    strides, dilations = [_only_window(*each) for each in windows], ints_of(conv.dilations)
    reads = list(zip(starts[2:], sizes[2:], weight[2:], strides, dilations, strict=True))
    first = [starts[0], 0, *(start * s for start, _, _, s, _ in reads)]
    read = [sizes[0], image[1], *((size - 1) * s + d * (k - 1) + 1 for _, size, k, s, d in reads)]
    whole = [x if s != old else n for x, n, s, old in zip(image[2:], read[2:], strides, conv.window[0], strict=True)]
    inner = SliceOp(conv.input, first, [*read[:2], *whole], [1] * len(first))
    less = ConvOp(inner.result, conv.weight, strides, dilations, conv.groups.value.data, conv.product)
    return [inner, with_nodes(less, source_nodes(conv))]


def _only_window(start: DimLike, size: DimLike, image: DimLike, kernel: DimLike, stride: int, dilation: int) -> int:
    """Return a stride for which an image has only one window, if the slice reads the first window only; otherwise
    ``stride``."""
    if (start, size) != (0, 1) or not isinstance(image, int) or not isinstance(kernel, int):
        return stride
    return max(stride, image - dilation * (kernel - 1))


def drop_pad(op: PadOp) -> Rewrite:
    """Remove a pad that adds no element."""
    return op.input if not any((*dims_of(op.low), *dims_of(op.high), *ints_of(op.interior))) else None


def merge_pads(op: PadOp) -> Rewrite:
    """pad(pad(x)) → pad(x), if both insert the same value and neither inserts elements between neighbours."""
    inner = producer(op.input, PadOp)
    if inner is None or inner.value != op.value or any((*ints_of(op.interior), *ints_of(inner.interior))):
        return None
    low = [a + b for a, b in zip(dims_of(op.low), dims_of(inner.low), strict=True)]
    high = [a + b for a, b in zip(dims_of(op.high), dims_of(inner.high), strict=True)]
    return [PadOp(inner.input, low, high, op.value.data)]


def merge_broadcasts(op: BroadcastOp) -> Rewrite:
    """broadcast(broadcast(x)) → broadcast(x)"""
    inner = producer(op.input, BroadcastOp)
    return [BroadcastOp(inner.input, shape_of(op.result))] if inner else None


def simplify_concat(op: ConcatOp) -> Rewrite:
    """concat(a, empty, concat(b, c)) → concat(a, b, c), and concat(a) → a. The inner concatenation must have the same
    axis and no other reader."""
    axis = op.axis.value.data
    parts: list[SSAValue] = []
    for arg in op.args:
        inner = producer(arg, ConcatOp)
        opened = inner is not None and inner.axis.value.data == axis and arg.has_one_use()
        parts += inner.args if inner is not None and opened else [arg]
    kept = [p for p in parts if shape_of(p)[axis] != 0] or parts[:1]
    if len(kept) == 1:
        return kept[0]
    return [ConcatOp(kept, axis)] if kept != list(op.args) else None


def reduce_of_nothing(op: ReduceOp) -> Rewrite:
    """Replace a reduction over dimensions of extent 1, which combines nothing, by a reshape."""
    shape = shape_of(op.input)
    if any(shape[a] != 1 for a in ints_of(op.axes)):
        return None
    return op.input if op.input.type == op.result.type else [ReshapeOp(op.input, shape_of(op.result))]


PATTERNS: dict[type[Operation], list[Pattern]] = {
    ReshapeOp: [drop_identity, merge_reshapes, transpose_without_units],
    TransposeOp: [transpose_to_reshape, compose_transposes, transposed_contract],
    SliceOp: [drop_slice, merge_slices, slice_of_concat, slice_of_pad, slice_of_conv],
    PadOp: [drop_pad, merge_pads],
    BroadcastOp: [drop_identity, merge_broadcasts],
    ConcatOp: [simplify_concat],
    ReduceOp: [reduce_of_nothing],
    ContractOp: [contract_unstretched, contract_transposed, contract_moved],
}
