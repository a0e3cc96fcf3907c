"""Which values do not depend on the inputs of a model."""

from __future__ import annotations

from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects.dims import symbols_of
from mlc.dialects.graph import ConstantOp, StructuredOp, WeightOp
from mlc.dialects.types import shape_of


def constant_values(block: Block) -> set[SSAValue]:
    """Values of static shape made from weights and constants alone; they will be weights when constants are folded."""
    found: set[SSAValue] = set()
    for op in block.ops:
        made = isinstance(op, StructuredOp) and op.operands and all(v in found for v in op.operands)
        static = made and not symbols_of(shape_of(op.results[0]))
        if static or isinstance(op, WeightOp | ConstantOp):
            found.add(op.results[0])
    return found


def constants_first(block: Block) -> set[SSAValue]:
    """Move what is constant to the start of the block, so that any operator may read it; returns those values."""
    found = constant_values(block)
    moved = [o for o in block.ops if o.results and o.results[0] in found]
    for op in moved:
        op.detach()
    if first := block.first_op:
        block.insert_ops_before(moved, first)
    return found


def sole_user(value: SSAValue) -> Operation | None:
    """The one operation that reads ``value``, once; None if there are more or none."""
    use = value.get_unique_use()
    return use.operation if use else None
