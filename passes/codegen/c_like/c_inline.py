"""Inlining: which values of a kernel are printed within the expression that uses them, for a lower register
pressure."""

from __future__ import annotations

from xdsl.dialects import arith, scf, vector
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects import kernel
from mlc.passes.codegen.c_like.c_types import is_scalar

DOTS = {"dot4": "arith.addi", "dot2": "arith.addf", "dot2_i16": "arith.addi", "dot2x2": "add2"}
"""Dot products of the parts of words, whose C function also adds the sum so far, and what adds it."""


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
        first = next(v for v in user.operands if is_dot(v.owner))  # a sum of two adds to the second
        name = user.op.data if isinstance(user, kernel.LanewiseOp) else user.name
        return name == DOTS[value.owner.op.data] and first is value  # type: ignore[union-attr]
    return isinstance(value.owner, arith.MulfOp) and isinstance(user, arith.AddfOp)


def is_dot(op: Operation | Block) -> bool:
    return isinstance(op, kernel.LanewiseOp) and op.op.data in DOTS


def nibbles(op: Operation) -> tuple[SSAValue, int] | None:
    """Return (words, first) of an operation that converts the low 4 bits of each word and ``first`` to a float; None
    for others. A table of 16 floats gives all of them at once."""
    if not isinstance(op, kernel.LanewiseOp) or op.op.data != "arith.sitofp":
        return None
    value, first = op.operands[0].owner, 0
    if isinstance(value, arith.SubiOp) and (known := _repeated(value.rhs)) is not None:
        value, first = value.lhs.owner, -known
    low = isinstance(value, arith.AndIOp) and value.rhs.type == op.operands[0].type and _repeated(value.rhs) == 15
    return (value.operands[0], first) if low else None  # type: ignore[union-attr]


def _repeated(value: SSAValue) -> int | None:
    """Return the integer that all lanes of a vector are; None where that is not known."""
    constant = value.owner.source.owner if isinstance(value.owner, vector.BroadcastOp) else value.owner
    known = constant.value if isinstance(constant, arith.ConstantOp) else None
    return known.value.data if isinstance(known, IntegerAttr) else None


def inlines_broadcast(op: vector.BroadcastOp) -> bool:
    """Return whether the product that reads a broadcast is printed without a statement between the two."""
    user = op.vector.get_user_of_unique_use()
    if user is None or not (isinstance(user, arith.MulfOp) or is_dot(user)):
        return False
    return user.parent is op.parent and inlines(user.results[0])
