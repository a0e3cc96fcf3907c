"""Which values of a kernel stand in the expressions that use them, so that they take no register before."""

from __future__ import annotations

from xdsl.dialects import arith, scf, vector
from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects import kernel
from mlc.passes.codegen.c_types import layout

WIDEST = 16


def sums_parts(op: scf.ForOp) -> bool:
    """Whether a loop in ``op`` carries sums that do not start from those that ``op`` carries."""
    inner = [o for o in op.body.block.ops if isinstance(o, scf.ForOp) and o.iter_args]
    return any(v not in op.body.block.args for o in inner for v in o.iter_args)


def inlines(value: SSAValue) -> bool:
    """Whether a value stands in the expression that uses it, so that few registers are live at a time: one side of a
    register tile's update (a row's scalars), and the product that is added to the accumulator."""
    user = value.get_user_of_unique_use()
    if user is None or user.parent is not value.owner.parent:
        return False
    if isinstance(value.owner, kernel.ReadOp) and isinstance(user, vector.BroadcastOp):
        return value.owner.lanes is None and layout(value.type, WIDEST).scalar and inlines_broadcast(user)
    if is_dot4(value.owner):
        return isinstance(user, arith.AddiOp)
    return isinstance(value.owner, arith.MulfOp) and isinstance(user, arith.AddfOp)


def is_dot4(op: Operation | Block) -> bool:
    return isinstance(op, kernel.LanewiseOp) and op.op.data == "dot4"


def inlines_broadcast(op: vector.BroadcastOp) -> bool:
    """Whether the product that reads a broadcast follows it with nothing written in between."""
    user = op.vector.get_user_of_unique_use()
    if user is None or not (isinstance(user, arith.MulfOp) or is_dot4(user)):
        return False
    return user.parent is op.parent and inlines(user.results[0])
