"""Splitting of large elementwise expressions before they are differentiated.

    %y = graph.map "exp(sin(x0)) * cos(x0)"(%x)   →   %1 = graph.map "sin(x0)"(%x)   %2 = graph.map "exp(x0)"(%1)  …

The derivative of a composed function contains the inner function, so the derivative of one expression grows by a factor
with each order. The derivatives of its parts read the parts' results instead. Elementwise fusion joins the operators.
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from mlc.dialects.autodiff.emitting import Emit, stretched
from mlc.dialects.graph import MapOp
from mlc.dialects.semantics.expr import Call, Const, Expr, Load, element_type, loads, walk
from mlc.dialects.types import element_of, shape_of

LARGE = 24  # nodes of an expression that is differentiated as a whole


def is_large(op: Operation) -> bool:
    return isinstance(op, MapOp) and sum(1 for _ in walk(op.scalar)) > LARGE


def split(op: MapOp, emit: Emit) -> SSAValue:
    """Emit one operator for each distinct function call in ``op`` and return the value of ``op``."""
    known: dict[Expr, SSAValue] = {}
    elements = [element_of(x) for x in op.args]

    def value(expr: Expr) -> SSAValue:
        if isinstance(expr, Load):
            return op.args[expr.operand]
        if expr not in known:
            assert isinstance(expr, Call)
            known[expr] = emit(part(expr))
        return known[expr]

    def part(expr: Call) -> MapOp:
        xs: list[SSAValue] = []
        args = tuple(argument(arg, xs) for arg in expr.args)
        return MapOp(Call(expr.fn, args), xs)

    def argument(arg: Expr, xs: list[SSAValue]) -> Expr:
        if isinstance(arg, Const) or not loads(arg) or element_type(arg, elements) is None:
            return arg  # without a type of its own
        xs.append(value(arg))
        return Load(len(xs) - 1)

    return stretched(emit, value(op.scalar), shape_of(op.result))
