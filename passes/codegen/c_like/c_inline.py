"""Inlining: which values of a kernel are printed within the expression that uses them, for a lower register
pressure."""

from __future__ import annotations

from xdsl.dialects import arith, scf, vector
from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects import kernel
from mlc.passes.codegen.c_like.c_types import is_scalar

DOTS = ("dot4", "dot2")
"""Dot products of the parts of words, whose C function also adds the sum so far."""


def has_partial_sums(op: scf.ForOp) -> bool:
    """Return whether a loop in ``op`` has partial sums: loop-carried values that do not start from those of ``op``."""
    inner = [o for o in op.body.block.ops if isinstance(o, scf.ForOp) and o.iter_args]
    return any(v not in op.body.block.args for o in inner for v in o.iter_args)


def inlines(value: SSAValue) -> bool:
    """Return whether a value is printed within the expression that uses it: one side of a register tile's update (a
    row's scalars), or the product that is added to the accumulator."""
    user = value.get_user_of_unique_use()
    if user is None or user.parent is not value.owner.parent:
        return False
    if isinstance(value.owner, kernel.ReadOp) and isinstance(user, vector.BroadcastOp):
        return value.owner.lanes is None and is_scalar(value.type) and inlines_broadcast(user)
    if is_dot(value.owner):
        return isinstance(user, arith.AddiOp | arith.AddfOp)
    return isinstance(value.owner, arith.MulfOp) and isinstance(user, arith.AddfOp)


def is_dot(op: Operation | Block) -> bool:
    return isinstance(op, kernel.LanewiseOp) and op.op.data in DOTS


def inlines_broadcast(op: vector.BroadcastOp) -> bool:
    """Return whether the product that reads a broadcast is printed without a statement between the two."""
    user = op.vector.get_user_of_unique_use()
    if user is None or not (isinstance(user, arith.MulfOp) or is_dot(user)):
        return False
    return user.parent is op.parent and inlines(user.results[0])
