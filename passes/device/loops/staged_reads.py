"""Staged reads: the reads of a loop over a sum that operand staging moves to shared memory, and their rows there."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.dialects import scf
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Operation, SSAValue

from mlc.dialects import kernel
from mlc.dialects.types import ITEMSIZE, element_of
from mlc.passes.device.gathers.widening import can_widen
from mlc.passes.device.loops.coefficients import coefficient, constant_of, depends
from mlc.passes.schedule.gpu.tile_sizes import padded

REUSE = 4  # how often an element is read at least, where it is staged
WORD = 4  # bytes: narrower elements are copied asynchronously by several neighbours only
BANKS = 8  # of shared memory between rows: a warp accesses 4 rows of 8 elements without conflicts
TRANSPOSED = 4  # the same where a warp writes 16 rows of 2: two of its threads share a bank, as rows begin at 16 bytes


@dataclass(frozen=True)
class StagedRead:
    """A staged read: its step along the loop (None if offsets are computed), and the shape of a row of its local
    array."""

    op: kernel.ReadOp | kernel.GatherOp
    stride: int | SSAValue | None
    extents: tuple[int, ...]

    @property
    def row(self) -> int:
        """The number of elements in a row, which holds one step. Neighbouring rows begin in different banks."""
        return prod(self.extents) + (TRANSPOSED if self.stride == 1 else BANKS)

    @property
    def strides(self) -> tuple[int, ...]:
        """The row-major strides of a step's elements."""
        return tuple(prod(self.extents[n + 1 :]) for n in range(len(self.extents)))


def staged_reads(fn: kernel.FuncOp, loop: scf.ForOp) -> list[StagedRead]:
    """Return the reads of a loop that are staged; none if fewer than two operands would be in shared memory."""
    if not _steps_by_one(loop) or any(o.regions for o in loop.body.block.ops):
        return []
    written = {o.buffer for o in fn.walk() if isinstance(o, kernel.WriteOp)}
    tile = max((prod(r.type.get_shape()) for r in loop.results if isinstance(r.type, VectorType)), default=1)
    found = [r for o in loop.body.block.ops if (r := _candidate(o, loop, tile))]
    reads = [r for r in found if r.op.buffer not in written]
    local = any(isinstance(r.op.buffer.owner, kernel.LocalOp) for r in found)
    return reads if len(reads) + local > 1 else []


def _steps_by_one(loop: scf.ForOp) -> bool:
    return bool(loop.iter_args) and constant_of(loop.step) == 1 and constant_of(loop.lb) == 0


def _candidate(op: Operation, loop: scf.ForOp, tile: int) -> StagedRead | None:
    """Return a read of fewer elements than the tile has, whose offset is linear in the loop's variable, or a gather
    whose offsets are index arithmetic on it; the offset of a read of narrow elements may be so too (a row of pixels,
    NHWC). Return None for other operations."""
    if not isinstance(op, kernel.ReadOp | kernel.GatherOp) or not isinstance(op.result.type, VectorType):
        return None
    extents, block = tuple(op.result.type.get_shape()), loop.body.block
    limits = (*op.valid, *(op.dynamic if isinstance(op, kernel.ReadOp) else ()))
    if prod(map(padded, extents)) * REUSE > tile or any(depends(v, block) for v in limits):
        return None
    if isinstance(op, kernel.GatherOp):
        return StagedRead(op, None, extents) if op.lane_offsets is None and can_widen(op.offsets, loop) else None
    stride = coefficient(op.offset, block.args[0])
    if stride is None and not op.dynamic and ITEMSIZE[element_of(op.buffer)] < WORD and can_widen(op.offset, loop):
        return StagedRead(op, None, extents) if op.odd is None else None
    return StagedRead(op, stride, extents) if op.odd is None and stride not in (None, 0) else None
