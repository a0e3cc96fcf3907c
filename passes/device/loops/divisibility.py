"""Divisibility of index arithmetic: how far the addresses computed from it are aligned."""

from __future__ import annotations

from math import gcd

from xdsl.dialects import arith, scf
from xdsl.ir import Block, SSAValue

from mlc.passes.device.loops.coefficients import constant_of


def divisor(value: int | SSAValue) -> int:
    """Return the largest known number that divides an index in every iteration; 0 if the index is 0.

    ``768·%k + 16`` has 16, and the variable of a loop from 0 in steps of 16 has 16.
    """
    if isinstance(value, int):
        return abs(value)
    if isinstance(value.owner, Block):
        return _of_variable(value.owner, value)
    if (constant := constant_of(value)) is not None:
        return abs(constant)
    match value.owner:
        case arith.AddiOp() | arith.SubiOp() | arith.MinSIOp() | arith.MaxSIOp():
            return gcd(*map(divisor, value.owner.operands))
        case arith.MuliOp():
            return divisor(value.owner.lhs) * divisor(value.owner.rhs)
    return 1


def _of_variable(block: Block, value: SSAValue) -> int:
    """Return the divisor of a loop's variable, which begins at the lower bound and increases by the step."""
    loop = block.parent_op()
    if isinstance(loop, scf.ForOp) and value is block.args[0]:
        return gcd(divisor(loop.lb), divisor(loop.step))
    if isinstance(loop, scf.ParallelOp) and value in block.args:
        n = block.args.index(value)
        return gcd(divisor(loop.lowerBound[n]), divisor(loop.step[n]))
    return 1
