"""Operators that read blocked tensors and write plain ones: convolutions over the batch (the derivatives of dense and
depthwise convolutions by their filters), and reductions over the batch and all positions.

Each function returns the plain result, or None if the operator has another form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from xdsl.ir import Operation, SSAValue

from mlc.dialects.graph import (
    ComputeOp,
    ConvOp,
    LayoutAttr,
    PackOp,
    ReduceOp,
    ReshapeOp,
    SliceOp,
    TransposeOp,
    UnpackOp,
    ints_of,
    layout,
)
from mlc.dialects.types import ITEMSIZE, element_of, is_float, shape_of
from mlc.passes.layout.blocking.block_sizes import is_of_halves, whole_block
from mlc.passes.layout.blocking.blocked_layout import Blocked, LayoutBuilder

if TYPE_CHECKING:
    from mlc.passes.layout.assign_layout import LayoutAssignment


def conv_over_batch(op: ConvOp, assignment: LayoutAssignment, builder: LayoutBuilder) -> SSAValue | None:
    """Replace a convolution of [C, N, X…] with filters [F, N, K…], which are transposed from [N, C, X…] and [N, F,
    K…].

    The new convolution reads both untransposed tensors in blocks of channels. Its register tile has rows of C and
    vectors of F.
    """
    image, filters = _batch_first(op.input), _batch_first(op.weight)
    fits = _known(op) and (is_of_halves(op) if assignment.sizes.whole else _plain_floats(op))
    if image is None or filters is None or op.groups.value.data > 1 or not fits:
        return None
    x, y = (_blocks(each, assignment) for each in (image, filters))
    if x is None or y is None:
        return None
    rank, by_batch = len(op.strides) + 2, [1, 0, *range(2, len(op.strides) + 2)]
    layouts = [layout(rank, [(0, block)], by_batch) for block in (x, y)]
    result = layout(rank, [(0, x), (1, y)])
    packed = zip((image, filters), (x, y), op.operands, layouts, strict=True)
    values = [_in_blocks(*each, assignment, builder) for each in packed]
    blocks = builder.emit(ConvOp(values[0], values[1], *op.window, product=op.product, layouts=[*layouts, result]))
    whole, shape = builder.emit(UnpackOp(blocks, result)), shape_of(op.result)
    return whole if shape_of(whole) == shape else builder.emit(SliceOp(whole, [0] * rank, shape, [1] * rank))


def _in_blocks(
    value: SSAValue, block: int, moved: SSAValue, held: LayoutAttr, assignment: LayoutAssignment, builder: LayoutBuilder
) -> SSAValue:
    """Return a factor [N, C, X…] in blocks: its blocked form if other operators read that, else ``moved``, its
    transpose, packed."""
    if value in assignment.views or assignment.sizes.whole:
        found = builder.unflattened(assignment.blocked(value, block, builder))
        if not isinstance(found.owner, PackOp):
            return found
    return builder.emit(PackOp(moved, held))


def depthwise_over_batch(op: ConvOp, assignment: LayoutAssignment, builder: LayoutBuilder) -> SSAValue | None:
    """Replace a convolution of [1, C·N, X…] with filters [C, N, K…] in C groups, both transposed from [N, C, …], by a
    sum over the batch and positions for each channel. A vector has a block of channels, a register tile the results of
    a window."""
    channels, merged = op.groups.value.data, op.input.owner
    block = assignment.sizes.vector(element_of(op.result))
    image = _batch_first(merged.input) if isinstance(merged, ReshapeOp) and merged.barrier is None else None
    filters = _batch_first(op.weight)
    if image is None or filters is None or not (_known(op) and _plain_floats(op)):
        return None
    batch = shape_of(image)[0]
    if shape_of(image)[1] != channels or shape_of(filters)[:2] != (batch, channels):
        return None
    if block is None or channels < block:
        return None
    args = [builder.unflattened(assignment.blocked(each, block, builder)) for each in (image, filters)]
    taps, rank = shape_of(op.result)[2:], len(op.strides)
    at = [f"i{2 + n} * {s} + r{1 + n} * {d}" for n, (s, d) in enumerate(zip(*op.window, strict=True))]
    reads = [", ".join(["r0", "i1", *middle, f"i{2 + rank}"]) for middle in (at, [f"r{1 + n}" for n in range(rank)])]
    shape, reduced = (1, -(-channels // block), *taps, block), (batch, *shape_of(filters)[2:])
    sums = builder.emit(ComputeOp(f"x0[{reads[0]}] * x1[{reads[1]}]", args, shape, reduced, "add"))
    return builder.unblock(Blocked(sums, channels, block, taps))


def _plain_floats(op: ConvOp) -> bool:
    """Return whether a convolution multiplies floats of 32 or 64 bits."""
    element = element_of(op.result)
    return not op.product and is_float(element) and ITEMSIZE[element] >= 4


def _known(op: ConvOp) -> bool:
    """Return whether a convolution has the plain layout and constant shapes."""
    shapes = (shape_of(v) for v in (op.result, op.input, op.weight))
    return not op.layouts and all(isinstance(d, int) for shape in shapes for d in shape)


def filter_derivative(op: ConvOp, assignment: LayoutAssignment, builder: LayoutBuilder) -> SSAValue | None:
    """Return the result of ``conv_over_batch`` or of ``depthwise_over_batch``; None if neither applies."""
    return conv_over_batch(op, assignment, builder) or depthwise_over_batch(op, assignment, builder)


def _batch_first(value: SSAValue) -> SSAValue | None:
    """Return the tensor that ``value`` transposes by swapping its first two dimensions; None if there is none."""
    owner = value.owner
    swapped = isinstance(owner, TransposeOp) and ints_of(owner.perm)[:2] == (1, 0)
    return owner.input if isinstance(owner, TransposeOp) and swapped and _keeps(ints_of(owner.perm)[2:]) else None


def _keeps(perm: tuple[int, ...]) -> bool:
    return perm == tuple(range(2, len(perm) + 2))


def _blocks(value: SSAValue, assignment: LayoutAssignment) -> int | None:
    """Return the channels in a block of ``value``: those of its blocked form, or all channels on a GPU, or at most a
    vector of channels."""
    if value in assignment.views:
        return assignment.views[value].block
    channels, vector = int(shape_of(value)[1]), assignment.sizes.vector(element_of(value))  # type: ignore[arg-type]
    if assignment.sizes.whole:
        return whole_block(channels)
    return None if vector is None else min(vector, channels)


def reduction_of_batch(op: ReduceOp, assignment: LayoutAssignment, builder: LayoutBuilder) -> SSAValue | None:
    """Reduce a blocked tensor over the batch and all positions; only the dimension of channels is left."""
    x, axes = assignment.views.get(op.input), ints_of(op.axes)
    if x is None or op.keepdims or {*axes} != {*range(len(x.shape))} - {1}:
        return None
    reduced = builder.emit(ReduceOp(op.fn.data, x.value, [0, *range(2, len(shape_of(x.value)) - 1)], True))
    ones = Blocked(reduced, x.channels, x.block, (1,) * len(x.spatial))
    return builder.reshape(builder.unblock(ones), shape_of(op.result))


PLAIN_RESULTS: dict[type[Operation], Callable[[Any, Any, LayoutBuilder], SSAValue | None]] = {
    ConvOp: filter_derivative,
    ReduceOp: reduction_of_batch,
}
