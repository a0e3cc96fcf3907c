"""Recomputation of index arithmetic in a loop's body, also on vectors, for another value of the loop's variable."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith, vector
from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects import kernel
from mlc.passes.device.loops.coefficients import depends

INDEX_ARITHMETIC = (
    *(arith.ConstantOp, arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.FloorDivSIOp, arith.RemSIOp),
    *(arith.MinSIOp, arith.MaxSIOp, arith.IndexCastOp, vector.BroadcastOp, kernel.StepOp),
)


def recomputable(value: SSAValue, block: Block) -> bool:
    """Return whether a value is index arithmetic on the first argument of ``block``, a loop's variable, and on values
    defined outside."""
    if value is block.args[0] or not depends(value, block):
        return True
    op = value.owner
    return isinstance(op, INDEX_ARITHMETIC) and all(recomputable(v, block) for v in op.operands)


def recomputed(
    value: SSAValue, known: dict[SSAValue, SSAValue], block: Block, insert: Callable[[Operation], object]
) -> SSAValue:
    """Return ``value``, which ``block`` computes, computed again by operations that ``insert`` inserts. ``known`` maps
    values to their replacements, and to those computed already."""
    if value in known or value.owner is block or not depends(value, block):
        return known.get(value, value)
    op = value.owner
    assert isinstance(op, Operation)
    for operand in op.operands:
        known[operand] = recomputed(operand, known, block, insert)
    copy = op.clone(known)
    insert(copy)
    known[value] = copy.results[0]
    return known[value]
