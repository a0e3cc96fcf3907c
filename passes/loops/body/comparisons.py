"""Comparisons of sums of iterators on vectors: constant lanes are compared with one number, so that no lane is
computed.

    16*i + (0, 1, …, 7) <= 6*j   →   (0, 1, …, 7) < broadcast(6*j - 16*i + 1)

One instruction remains for each vector, and the number is the same for all vectors of a tile.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects import kernel
from mlc.dialects.semantics.dims import Dim, DimLike


def difference(op: Operation) -> DimLike | None:
    """Return the sum of iterators that is at least 0 exactly if ``op`` holds; None if ``op`` compares other values."""
    if not isinstance(op, arith.CmpiOp) or op.predicate.value.data != 3:  # sle
        return None
    less, more = map(_sum, op.operands)
    return None if less is None or more is None else more - less


def only_compared(block: Block) -> set[Operation]:
    """Return the operations whose results are read only by such comparisons, which are built from iterators instead."""
    found: set[Operation] = set()
    for op in reversed(list(block.ops)):
        users = [use.operation for result in op.results for use in result.uses]
        if users and all(user in found or difference(user) is not None for user in users):
            found.add(op)
    return found


def _sum(value: SSAValue) -> DimLike | None:
    """Return a value as a sum of iterators and integers; None if it is another value."""
    match value.owner:
        case arith.IndexCastOp(input=SSAValue(owner=kernel.IndexOp() as index)):
            return Dim.symbol(index.iterator.data)
        case arith.ConstantOp(value=IntegerAttr() as number) if abs(number.value.data) < 2**31:  # a sum fits 64 bits
            return number.value.data
        case arith.AddiOp() | arith.MuliOp() as op:
            lhs, rhs = map(_sum, op.operands)
            if lhs is None or rhs is None or (isinstance(op, arith.MuliOp) and not isinstance(rhs, int)):
                return None
            return lhs + rhs if isinstance(op, arith.AddiOp) else lhs * rhs
    return None
