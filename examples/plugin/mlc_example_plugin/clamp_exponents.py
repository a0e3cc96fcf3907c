"""A pass of the graph stage: exponentials that overflow in no network."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from mlc.dialects.graph import MapOp
from mlc.dialects.semantics.expr import Call, Const, Expr
from mlc.dialects.types import element_of

LARGEST = 80.0  # exp(80) is 5.5e34, and float32 ends at 3.4e38


@dataclass(frozen=True)
class ClampExponents(ModulePass):
    """Range reduction (``clamp-exponents``): ``exp(x)`` → ``exp(min(x, 80))``, for float32."""

    name = "clamp-exponents"
    stage = "graph"
    after = "canonicalize-graph"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in op.walk():
            if isinstance(each, MapOp) and element_of(each.result) == "f32":
                each.properties["expr"] = StringAttr(str(_clamped(each.scalar)))


def _clamped(expr: Expr) -> Expr:
    if not isinstance(expr, Call):
        return expr
    args = tuple(map(_clamped, expr.args))
    if expr.fn == "exp" and not (isinstance(args[0], Call) and args[0].fn == "min"):
        return Call("exp", (Call("min", (args[0], Const(LARGEST))),))
    return Call(expr.fn, args)
