"""The derivative of each graph operator, as graph operators: its contribution to the adjoints of its operands.

A rule gets the operator, the adjoint ``bar`` of its result (in the result's type), and ``emit``, which adds an operator
and returns its result. The rule returns an adjoint for each operand, in the operand's type, or None for 0.
For operators without a rule, the derivative follows from their statements (``statements.py``).

Rules are here and in ``moves.py``, ``reductions.py`` and ``products.py``, and not in the operators' classes: they emit
other operators, so the files of operators would import each other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.ir import Operation, SSAValue

from mlc.dialects.autodiff.emitting import Adjoints, Emit, mapped, summed_to
from mlc.dialects.autodiff.scalar import NoDerivative, pullback, total
from mlc.dialects.autodiff.statements import through_statements
from mlc.dialects.graph import MapOp, StructuredOp
from mlc.dialects.semantics.expr import CHEAP, Call, Expr, Load, replaced, walk
from mlc.dialects.types import element_of, shape_of

Rule = Callable[[Any, SSAValue, Emit], Adjoints]
RULES: dict[type[Operation], Rule] = {}


def derivative(op: type[Operation]) -> Callable[[Rule], Rule]:
    """Register the decorated function as the rule of an operator."""

    def register(rule: Rule) -> Rule:
        RULES[op] = rule
        return rule

    return register


def adjoints(op: Operation, bar: SSAValue, emit: Emit) -> Adjoints:
    """Return the contribution of ``op`` to the adjoints of its operands, where ``bar`` is the adjoint of its result.

    Raises:
        NoDerivative: the operator has no derivative.
    """
    rule = RULES.get(type(op))
    if rule is not None:
        return rule(op, bar, emit)
    if isinstance(op, StructuredOp):
        return through_statements(op, bar, emit)
    raise NoDerivative(f"{op.name} has no derivative")


@derivative(MapOp)
def of_map(op: MapOp, bar: SSAValue, emit: Emit) -> Adjoints:
    xs = [*op.args, bar, op.result]
    found: dict[int, list[Expr]] = {}
    for load, g in pullback(op.scalar, Load(len(op.args)), [element_of(x) for x in xs]):
        found.setdefault(load.operand, []).append(shared(g, op.scalar, Load(len(op.args) + 1)))
    return [
        summed_to(emit, mapped(emit, total(found[n]), *xs), shape_of(x)) if n in found else None
        for n, x in enumerate(op.args)
    ]


def shared(derivative: Expr, value: Expr, result: Load) -> Expr:
    """Return the derivative with the result in place of ``value``, if ``value`` is expensive to compute again."""
    if all(node.fn in CHEAP for node in walk(value) if isinstance(node, Call)):
        return derivative
    return replaced(derivative, value, result)
