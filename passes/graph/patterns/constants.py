"""Constant values: those that do not depend on the inputs of a model."""

from __future__ import annotations

from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects.graph import ComputeOp, ConstantOp, MapOp, PadOp, SliceOp, StructuredOp, WeightOp, dims_of
from mlc.dialects.semantics.dims import symbols_of
from mlc.dialects.semantics.expr import Index, parse, walk
from mlc.dialects.types import shape_of


def constant_values(block: Block) -> set[SSAValue]:
    """Return the values of a block that are computed from weights and constants alone."""
    found: set[SSAValue] = set()
    for op in block.ops:
        made = isinstance(op, StructuredOp) and op.operands and all(v in found for v in op.operands)
        if (made and not is_symbolic(op)) or isinstance(op, WeightOp | ConstantOp):
            found.add(op.results[0])
    return found


def is_symbolic(op: StructuredOp) -> bool:
    """Return whether the result of ``op`` depends on a symbolic dimension."""
    dims = list(shape_of(op.results[0]))
    match op:
        case SliceOp():
            dims += dims_of(op.starts)
        case PadOp():
            dims += dims_of(op.low)
        case MapOp():
            return bool(symbols_of(dims)) or any(isinstance(e, Index) for e in walk(op.scalar))
        case ComputeOp():
            iterators = {f"i{n}" for n in range(len(dims))} | {f"r{n}" for n in range(len(op.reduce))}
            dims += dims_of(op.reduce)
            if any(isinstance(e, Index) and e.name not in iterators for e in walk(parse(op.expr.data))):
                return True
    return bool(symbols_of(dims))


def constants_first(block: Block) -> set[SSAValue]:
    """Move the operators that compute constant values to the start of the block, so that any operator may read them;
    return these values."""
    found = constant_values(block)
    moved = [o for o in block.ops if o.results and o.results[0] in found]
    for op in moved:
        op.detach()
    if first := block.first_op:
        block.insert_ops_before(moved, first)
    return found


def sole_user(value: SSAValue) -> Operation | None:
    """Return the operation that reads ``value``, if it is the only one and reads it once; None otherwise."""
    use = value.get_unique_use()
    return use.operation if use else None
