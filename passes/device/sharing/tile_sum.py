"""The sum of a tile: the loops over its steps, the first of which runs all whole groups of staged steps."""

from __future__ import annotations

from xdsl.dialects import arith, scf, vector
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, VectorType
from xdsl.ir import SSAValue

from mlc.dialects import kernel
from mlc.dialects.poly import ScheduleError
from mlc.passes.device.loops.coefficients import constant_of


def tile_sum(tiles: scf.ParallelOp) -> list[scf.ForOp]:
    """Return the loops of the only sum of each tile, each of which adds to the result of the one before. Raises
    ScheduleError if tiles have no such sum that begins with 0."""
    loops = [o for o in tiles.body.block.ops if isinstance(o, scf.ForOp)]
    chained = all(a.results[:1] == (b.iter_args[0],) for a, b in zip(loops, loops[1:], strict=False) if b.iter_args)
    if not loops or not chained or not all(map(_is_sum, loops)) or constant_of(loops[0].lb) != 0:
        raise ScheduleError("'streamk': a tile is not the result of one sum over one iterator")
    if any(isinstance(o, kernel.MmaOp) and o.warpgroup for o in loops[0].walk()):
        raise ScheduleError("'streamk': products of warpgroups have no shares, write mma=m16n8k16")
    if not _is_zero(loops[0].iter_args[0]):
        raise ScheduleError("'streamk': the sum of a tile begins with something else than 0")
    return loops


def _is_sum(loop: scf.ForOp) -> bool:
    """Return whether a loop, and the loops in it, add to one vector."""
    last = loop.body.block.last_op
    if len(loop.results) != 1 or not isinstance(loop.results[0].type, VectorType) or last is None:
        return False
    before, total = loop.body.block.args[1], last.operands[0].owner
    if isinstance(total, scf.ForOp):
        return _is_sum(total) and total.iter_args[0] is before
    if isinstance(total, kernel.MmaOp):
        return total.acc is before
    return isinstance(total, arith.AddfOp | arith.AddiOp) and before in total.operands


def _is_zero(value: SSAValue) -> bool:
    op = value.owner
    if isinstance(op, vector.BroadcastOp):
        return _is_zero(op.source)
    known = isinstance(op, arith.ConstantOp) and isinstance(op.value, FloatAttr | IntegerAttr)
    return known and not op.value.value.data  # type: ignore[union-attr]
