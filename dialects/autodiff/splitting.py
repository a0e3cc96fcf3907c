"""Splitting of large elementwise expressions before they are differentiated.

    %y = graph.map "exp(sin(x0)) * cos(x0)"(%x)   →   %1 = graph.map "sin(x0)"(%x)   %2 = graph.map "exp(x0)"(%1)  …

The derivative of a composed function contains the inner function, so the derivative of one expression grows by a factor
with each order. The derivatives of its parts read the parts' results instead. Elementwise fusion joins the operators.
"""

from __future__ import annotations

from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from mlc.dialects.autodiff.emitting import Emit, stretched
from mlc.dialects.graph import MapOp
from mlc.dialects.semantics.expr import (
    CASTS,
    PREDICATES,
    REINTERPRETATIONS,
    Call,
    Const,
    Expr,
    Load,
    element_type,
    loads,
    walk,
)
from mlc.dialects.types import element_of, shape_of

LARGE = 24  # nodes of an expression that is differentiated as a whole

_STEPS = ("floor", "ceil", "round", "trunc", "sign", *PREDICATES, *CASTS, *REINTERPRETATIONS)
HARMLESS = {"add", "sub", "neg", "where", *_STEPS}
"""Functions whose derivative is finite whatever their arguments are."""


def is_large(op: Operation) -> bool:
    return isinstance(op, MapOp) and sum(1 for _ in walk(op.scalar)) > LARGE


class Guard(NamedTuple):
    """The branch of a ``where`` that an expression is in: taken where ``condition`` equals ``holds``."""

    condition: Expr
    holds: bool


Guards = tuple[Guard, ...]


def split(op: MapOp, emit: Emit) -> SSAValue:
    """Emit one operator for each distinct function call in ``op`` and return the value of ``op``.

    A call in a branch of ``where`` is 0 where that is not taken: else the adjoint 0 would meet an infinite derivative.
    """
    return stretched(emit, _Split(op, emit).value(op.scalar, ()), shape_of(op.result))


class _Split:
    def __init__(self, op: MapOp, emit: Emit) -> None:
        self.op, self.emit = op, emit
        self.known: dict[tuple[Expr, Guards], SSAValue] = {}
        self.elements = [element_of(x) for x in op.args]

    def value(self, expr: Expr, guards: Guards) -> SSAValue:
        if isinstance(expr, Load):
            return self.op.args[expr.operand]
        assert isinstance(expr, Call)
        found = self.known.get((expr, ()), self.known.get((expr, guards)))
        if found is None:
            found = self.known[expr, guards] = self.emit(self._part(expr, guards))
        return found

    def _part(self, expr: Call, guards: Guards) -> MapOp:
        xs: list[SSAValue] = []
        args = tuple(self._argument(arg, xs, each) for arg, each in zip(expr.args, _within(expr, guards), strict=True))
        made = Call(expr.fn, args)
        if not guards or expr.fn in HARMLESS:
            return MapOp(made, xs)
        xs.append(self._mask(guards))
        return MapOp(Call("where", (Load(len(xs) - 1), made, Const(0))), xs)

    def _argument(self, arg: Expr, xs: list[SSAValue], guards: Guards) -> Expr:
        if isinstance(arg, Const) or not loads(arg) or element_type(arg, self.elements) is None:
            return arg  # without a type of its own
        xs.append(self.value(arg, guards))
        return Load(len(xs) - 1)

    def _mask(self, guards: Guards) -> SSAValue:
        """Whether all of these branches are taken."""
        whole = guards[0].condition if guards[0].holds else Call("not_", (guards[0].condition,))
        for condition, holds in guards[1:]:
            whole = Call("and_", (whole, condition if holds else Call("not_", (condition,))))
        return self.value(whole, ())


def _within(expr: Call, guards: Guards) -> list[Guards]:
    """The branches that each argument of a call is in."""
    if expr.fn != "where" or not loads(expr.args[0]):
        return [guards] * len(expr.args)
    return [guards, *((*guards, Guard(expr.args[0], holds)) for holds in (True, False))]
