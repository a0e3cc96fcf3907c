"""Operators that read blocked tensors and write plain ones: convolutions over the batch, which are the derivatives of
convolutions by their filters, and reductions over the batch and all positions.

Each function returns the plain result, or None where the operator does not have this form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from xdsl.ir import Operation, SSAValue

from mlc.dialects.graph import ConvOp, PackOp, ReduceOp, SliceOp, TransposeOp, UnpackOp, ints_of, layout
from mlc.dialects.types import ITEMSIZE, element_of, is_float, shape_of
from mlc.passes.layout.blocking.blocked_layout import Blocked, LayoutBuilder

if TYPE_CHECKING:
    from mlc.passes.layout.assign_layout import LayoutAssignment


def conv_over_batch(op: ConvOp, assignment: LayoutAssignment, builder: LayoutBuilder) -> SSAValue | None:
    """A convolution of [C, N, X…] with filters [F, N, K…], transposed from [N, C, X…] and [N, F, K…]: it reads
    both in blocks of channels as they are, and its register tile has rows of C and vectors of F."""
    image, filters = _batch_first(op.input), _batch_first(op.weight)
    element = element_of(op.result)
    plain = op.groups.value.data == 1 and not op.layouts and not op.product and is_float(element)
    if image is None or filters is None or not plain or ITEMSIZE[element] < 4:
        return None
    if not all(isinstance(d, int) for d in (*shape_of(op.result), *shape_of(image), *shape_of(filters))):
        return None
    x, y = (_blocks(each, assignment) for each in (image, filters))
    rank, by_batch = len(op.strides) + 2, [1, 0, *range(2, len(op.strides) + 2)]
    layouts = [layout(rank, [(0, block)], by_batch) for block in (x, y)]
    result = layout(rank, [(0, x), (1, y)])
    values = [
        builder.unflattened(assignment.views[each]) if each in assignment.views else builder.emit(PackOp(moved, held))
        for each, moved, held in zip((image, filters), op.operands, layouts, strict=True)
    ]
    blocks = builder.emit(ConvOp(values[0], values[1], *op.window, layouts=[*layouts, result]))
    whole, shape = builder.emit(UnpackOp(blocks, result)), shape_of(op.result)
    return whole if shape_of(whole) == shape else builder.emit(SliceOp(whole, [0] * rank, shape, [1] * rank))


def _batch_first(value: SSAValue) -> SSAValue | None:
    """The tensor of which ``value`` is the transpose that swaps the first two dimensions."""
    owner = value.owner
    swapped = isinstance(owner, TransposeOp) and ints_of(owner.perm)[:2] == (1, 0)
    return owner.input if isinstance(owner, TransposeOp) and swapped and _keeps(ints_of(owner.perm)[2:]) else None


def _keeps(perm: tuple[int, ...]) -> bool:
    return perm == tuple(range(2, len(perm) + 2))


def _blocks(value: SSAValue, assignment: LayoutAssignment) -> int:
    """Channels in a block: as it is blocked, or as many as there are up to a vector of them."""
    view, channels = assignment.views.get(value), shape_of(value)[1]
    block = assignment.size * 4 // ITEMSIZE[element_of(value)]
    return view.block if view else min(block, int(channels))  # type: ignore[arg-type]


def reduction_of_batch(op: ReduceOp, assignment: LayoutAssignment, builder: LayoutBuilder) -> SSAValue | None:
    """A reduction over the batch and all positions, which leaves the channels."""
    x, axes = assignment.views.get(op.input), ints_of(op.axes)
    if x is None or op.keepdims or {*axes} != {*range(len(x.shape))} - {1}:
        return None
    value = builder.flattened(x)
    reduced = builder.emit(ReduceOp(op.fn.data, value, [0, 2], True))
    ones = Blocked(reduced, x.channels, x.block, (1,) * len(x.spatial))
    return builder.reshape(builder.unblock(ones), shape_of(op.result))


PLAIN_RESULTS: dict[type[Operation], Callable[[Any, Any, LayoutBuilder], SSAValue | None]] = {
    ConvOp: conv_over_batch,
    ReduceOp: reduction_of_batch,
}
