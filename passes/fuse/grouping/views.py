"""Zero-copy views: slices and concatenations that need no kernel.

A slice that is one contiguous range of its operand is the operand's memory at an offset. A concatenation needs no
copies if each of the kernels that compute its operands writes at an offset in the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects import func
from xdsl.ir import Operation, SSAValue

from mlc.dialects.graph import ConcatOp, SliceOp, StructuredOp, YieldOp, dims_of, ints_of
from mlc.dialects.graph.traits import ViewLike, has
from mlc.dialects.semantics.dims import DimLike, product
from mlc.dialects.types import shape_of


def slice_offset(op: SliceOp) -> DimLike | None:
    """Return the number of elements of the operand before the slice; None if the slice is not contiguous."""
    shape, starts, sizes, steps = shape_of(op.input), dims_of(op.starts), dims_of(op.sizes), ints_of(op.steps)
    cut = [n for n in range(len(shape)) if starts[n] != 0 or sizes[n] != shape[n]]
    last = max(cut, default=0)
    if any(size != 1 for size in sizes[:last]) or (cut and sizes[last] != 1 and steps[last] != 1):
        return None
    offset: DimLike = 0
    for n in cut:
        offset = offset + starts[n] * product(shape[n + 1 :])
    return offset


def part_offsets(op: ConcatOp) -> list[DimLike] | None:
    """Return, for each operand, the number of elements of the result before it; None if the operands are not contiguous
    in it."""
    axis, shape = op.axis.value.data, shape_of(op.result)
    if any(size != 1 for size in shape[:axis]):
        return None
    offsets: list[DimLike] = [0]
    for part in op.args:
        offsets.append(offsets[-1] + product(shape_of(part)))
    return offsets[:-1]


def source_of(value: SSAValue) -> SSAValue:
    """Return the value whose memory ``value`` shares, through reshapes and bitcasts."""
    while isinstance(value.owner, Operation) and has(value.owner, ViewLike):
        value = value.owner.operands[0]
    return value


def views(ops: Sequence[Operation]) -> set[Operation]:
    """Return the operators among ``ops`` (those of a function, in order) that need no kernel."""
    found: set[Operation] = {o for o in ops if isinstance(o, SliceOp) and slice_offset(o) is not None}
    found |= {o for o in ops if has(o, ViewLike)}
    returned = (o.operands for o in ops if isinstance(o, func.ReturnOp | YieldOp))
    placed = {source_of(v) for values in returned for v in values}
    for op in ops:
        if isinstance(op, ConcatOp) and part_offsets(op) is not None:
            parts = [source_of(v) for v in op.args]
            if len(set(parts)) == len(parts) and placed.isdisjoint(parts) and _computed(parts, found):
                found.add(op)
                placed.update(parts)
    return found


def _computed(parts: Iterable[SSAValue], found: set[Operation]) -> bool:
    """Return whether a separate kernel computes each of ``parts``."""
    return all(isinstance(v.owner, StructuredOp) and v.owner not in found for v in parts)
