"""Linear operators: those that keep a partial sum, because the sum of their results is the result of the sum."""

from __future__ import annotations

from collections.abc import Collection

from xdsl.dialects.builtin import StringAttr

from mlc.dialects.comm import CommOp
from mlc.dialects.graph import GraphOp, StructuredOp
from mlc.dialects.semantics.expr import Call, Const, Expr, Load, loads
from mlc.dialects.types import element_of

WIDE = ("f32", "f64")
ZERO, FREE, LINEAR = "zero", "free", "linear"


def degree(expr: Expr, of: Collection[int], floats: bool = True) -> str | None:
    """Return how an expression depends on some operands: it is zero, free of them, or linear in them; None: neither.

    ``floats``: its division is that of floats; that of integers rounds.
    """
    match expr:
        case Const(value=value):
            return ZERO if value == 0 else FREE
        case Load(operand=operand, index=index):
            inside = {load.operand for e in index or () for load in loads(e)}
            return None if inside & set(of) else LINEAR if operand in of else FREE
        case Call(fn="add" | "sub", args=(a, b)):
            return _sum(degree(a, of, floats), degree(b, of, floats))
        case Call(fn="mul", args=(a, b)):
            return _product(degree(a, of, floats), degree(b, of, floats))
        case Call(fn="div", args=(a, b)) if floats and degree(b, of, floats) in (FREE,):
            return degree(a, of, floats)
        case Call(fn="where", args=(condition, a, b)) if degree(condition, of, floats) in (FREE, ZERO):
            return _sum(degree(a, of, floats), degree(b, of, floats))
        case Call(fn="neg", args=(a,)):
            return degree(a, of, floats)
        case Call(fn=fn, args=(a,)) if fn in WIDE:
            return degree(a, of, floats)
        case Call(args=args):
            return FREE if all(degree(a, of, floats) in (FREE, ZERO) for a in args) else None
    return FREE


def _sum(a: str | None, b: str | None) -> str | None:
    if a == ZERO:
        return b
    return a if b in (ZERO, a) else None


def _product(a: str | None, b: str | None) -> str | None:
    if a is None or b is None:
        return None
    if ZERO in (a, b):
        return ZERO
    return FREE if a == b == FREE else LINEAR if FREE in (a, b) else None


def keeps_partial(op: GraphOp, fn: str, operands: Collection[int]) -> bool:
    """Return whether an operator of partial operands, by a monoid, has that partial result: it is linear in them, or
    moves their elements."""
    if not isinstance(op, StructuredOp) or not operands:
        return False
    statements = op.statements()
    floats = element_of(op.results[0])[0] in "fbc"
    if fn == "add" and all(s.monoid in (None, "add") for s in statements):
        return all(degree(s.value, operands, floats) in (LINEAR, ZERO) for s in statements)
    return all(isinstance(s.value, Load) and s.value.operand in operands and _plain(s.value) and s.monoid in (None, fn)
               for s in statements)  # fmt: skip


def commutes(op: CommOp, fn: str) -> bool:
    """Return whether a collective along another axis commutes with a sum along this one."""
    combines = op.properties.get("fn")
    return fn == "add" and (combines is None or combines == StringAttr("add"))


def _plain(load: Load) -> bool:
    return not any(loads(e) for e in load.index or ())
