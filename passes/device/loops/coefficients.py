"""Coefficients: index arithmetic as a linear function of a loop's variable."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Operation, SSAValue


def constant_of(value: SSAValue) -> int | None:
    """Return the value of an index that is a constant; None for other indices."""
    op = value.owner
    known = isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr)
    return op.value.value.data if known else None  # type: ignore[union-attr]


def most_of(value: SSAValue) -> int | None:
    """Return an upper bound of a minimum one side of which is a constant; None for other values."""
    sides = value.owner.operands if isinstance(value.owner, arith.MinSIOp) else ()
    return next((n for n in map(constant_of, sides) if n is not None), None)


def depends(value: SSAValue, block: Block) -> bool:
    """Return whether a block defines a value."""
    return value.owner is block or isinstance(value.owner, Operation) and value.owner.parent is block


def coefficient(value: SSAValue, variable: SSAValue) -> int | SSAValue | None:
    """Return the factor of ``variable``, a loop's variable, in an index: 0 if the index does not depend on it, None if
    it is not linear.

    ``%i + 768·%k`` has 768, and ``%k·%n`` has ``%n``, which is defined before the loop.
    """
    block = variable.owner
    assert isinstance(block, Block)
    if value is variable:
        return 1
    if not depends(value, block) or isinstance(value.owner, arith.ConstantOp):
        return 0
    op = value.owner
    if isinstance(op, arith.AddiOp | arith.SubiOp | arith.MuliOp):
        a, b = (coefficient(v, variable) for v in op.operands)
        if isinstance(op, arith.MuliOp):
            return _product(op, a, b)
        return _sum(a, b, -1 if isinstance(op, arith.SubiOp) else 1)
    if isinstance(op, arith.FloorDivSIOp | arith.RemSIOp | arith.MinSIOp | arith.MaxSIOp):
        return 0 if all(coefficient(v, variable) == 0 for v in op.operands) else None
    return None


def _sum(a: int | SSAValue | None, b: int | SSAValue | None, sign: int) -> int | SSAValue | None:
    if isinstance(a, int) and isinstance(b, int):
        return a + sign * b
    if b == 0:
        return a
    return b if a == 0 and sign == 1 else None


def _product(op: arith.MuliOp, a: int | SSAValue | None, b: int | SSAValue | None) -> int | SSAValue | None:
    """Return the coefficient of a product one factor of which does not depend on the variable; None for other
    products."""
    if a == 0 and b == 0:
        return 0
    if a == 0:
        a, left = b, op.lhs
    elif b == 0:
        left = op.rhs
    else:
        return None
    constant = left.owner.value if isinstance(left.owner, arith.ConstantOp) else None
    if not isinstance(constant, IntegerAttr):
        return left if a == 1 else None
    return a * constant.value.data if isinstance(a, int) else a if constant.value.data == 1 else None
