"""Forward mode: a walk over the operators between some tensors and results, from tangents to tangents.

    %a = graph.map "exp(x0)"(%x)                      %1 = graph.map "x1 * exp(x0)"(%x, %tangent)
    %y = graph.reduce "add"(%a) {axes = [0]}   →      %2 = graph.reduce "add"(%1) {axes = [0]}

The tangent of a linear operator is that operator of tangents, and an expression's follows from the formulas of reverse
mode. All other operators are transposed twice: a pullback is linear in its cotangent, and the pullback of the pullback
is the forward derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.ir import Operation, SSAValue

from mlc.dialects.autodiff.emitting import Emit, added, computed, filled, mapped, stretched
from mlc.dialects.autodiff.operators import adjoints, shared
from mlc.dialects.autodiff.reverse import between, named
from mlc.dialects.autodiff.reverse import pullback as reverse
from mlc.dialects.autodiff.scalar import DIFFERENTIABLE, NoDerivative, pullback, total
from mlc.dialects.autodiff.splitting import is_large, split
from mlc.dialects.graph import (
    BroadcastOp,
    ComputeOp,
    ConcatOp,
    ContractOp,
    ConvOp,
    ConvTransposeOp,
    MapOp,
    PadOp,
    PoolOp,
    ReduceOp,
    RegionOp,
    ReshapeOp,
    ScanOp,
    ScatterOp,
    SliceOp,
    TransposeOp,
    dims_of,
)
from mlc.dialects.semantics.expr import Call, Expr, Index, Load, substitute
from mlc.dialects.types import element_of, shape_of

Tangents = list[SSAValue | None]  # one for each value; None: 0
MOVES = (ReshapeOp, TransposeOp, BroadcastOp, SliceOp, ConcatOp, PadOp)
BILINEAR = (ContractOp, ConvOp, ConvTransposeOp)  # without a product expression
REGIONS: dict[type[RegionOp], Callable[[Any, Tangents, Emit], Tangents]] = {}
"""(operator, the tangents of its operands, emit) to the tangents of its results."""


def pushforward(ys: Sequence[SSAValue], xs: Sequence[SSAValue], tangents: Tangents, emit: Emit) -> Tangents:
    """Return the derivatives of ``ys`` along ``tangents`` of ``xs``, each of the type of its ``y``, or None if it
    is 0.

    All are tensors in one block. ``emit`` adds an operator at the block's end.

    Raises:
        NoDerivative: an operator between them has none; names it and its source nodes.
    """
    found = {x: t for x, t in zip(xs, tangents, strict=True) if t is not None}
    for op in _needed(between(xs, ys)[0], ys):
        given = [found.get(x) for x in op.operands]
        if any(t is not None for t in given) and any(element_of(y) in DIFFERENTIABLE for y in op.results):
            found.update({y: t for y, t in zip(op.results, _of(op, given, emit), strict=False) if t is not None})
    return [found.get(y) for y in ys]


def _needed(operators: Sequence[Operation], ys: Sequence[SSAValue]) -> list[Operation]:
    """Return the operators that ``ys`` depend on, in order."""
    needed, found = set(ys), []
    for op in reversed(operators):
        if not needed.isdisjoint(op.results):
            needed.update(op.operands)
            found.append(op)
    return found[::-1]


def _of(op: Operation, given: Tangents, emit: Emit) -> Tangents:
    try:
        return REGIONS[type(op)](op, given, emit) if isinstance(op, RegionOp) else [_along(op, given, emit)]
    except NoDerivative as e:
        raise named(op, e) from e


def _along(op: Operation, given: Tangents, emit: Emit) -> SSAValue | None:
    """Return the tangent of the result of an operator of one result."""
    if is_linear(op):
        return emit(_with(op, [_or_zeros(t, x, emit) for t, x in zip(given, op.operands, strict=True)]))
    if isinstance(op, BILINEAR) and not getattr(op, "product", None):
        return added(emit, [emit(_with_one(op, n, t)) for n, t in enumerate(given) if t is not None])
    if isinstance(op, MapOp) and is_large(op):
        return pushforward([split(op, emit)], op.args, given, emit)[0]
    if isinstance(op, MapOp):
        expr = _derivative(op.scalar, given, op)
        if expr is None:
            return None
        expr = shared(expr, op.scalar, Load(2 * len(op.args)))
        return stretched(emit, mapped(emit, expr, *_operands_and_tangents(op, given)), shape_of(op.result))
    if isinstance(op, ComputeOp) and (op.monoid is None or op.monoid.data == "add"):
        expr = _derivative(op.statements()[0].value, given, op)
        shape, reduce = shape_of(op.result), dims_of(op.reduce)
        return None if expr is None else computed(emit, expr, _operands_and_tangents(op, given), shape, reduce)
    return _transposed(op, given, emit)


def is_linear(op: Operation) -> bool:
    """Return whether the operator is a linear function of all its float operands together."""
    if isinstance(op, PadOp):
        return op.number == 0
    if isinstance(op, ReduceOp | PoolOp):
        return op.fn.data == "add"
    if isinstance(op, ScatterOp):
        return op.reduction.data in ("none", "add")
    return isinstance(op, MOVES) or (isinstance(op, ScanOp) and op.monoid.data == "add")


def _or_zeros(t: SSAValue | None, x: SSAValue, emit: Emit) -> SSAValue:
    """Return the tangent ``t`` of a float ``x``, or zeros if it is None; of an integer ``x``, ``x`` itself."""
    if element_of(x) not in DIFFERENTIABLE:
        return x
    return filled(emit, 0, element_of(x), shape_of(x)) if t is None else t


def _with(op: Operation, operands: Sequence[SSAValue]) -> Operation:
    made = op.clone()
    made.operands = operands
    return made


def _with_one(op: Operation, n: int, t: SSAValue) -> Operation:
    return _with(op, [t if k == n else x for k, x in enumerate(op.operands)])


def _operands_and_tangents(op: MapOp | ComputeOp, given: Tangents) -> list[SSAValue]:
    """Return the operands, their tangents (an operand without a tangent stands for it), and the result."""
    return [*op.args, *(x if t is None else t for x, t in zip(op.args, given, strict=True)), op.result]


ADJOINT = Index("_adjoint")


def _derivative(expr: Expr, given: Tangents, op: MapOp | ComputeOp) -> Expr | None:
    """Return the derivative of ``expr`` as an expression over the operands and, after them, their tangents: the
    contributions to the adjoint of each loaded element, with the element's tangent in place of the adjoint of the
    value."""
    elements, element = [element_of(x) for x in op.args], element_of(op.result)
    parts = []
    for load, g in pullback(expr, ADJOINT, elements):
        if given[load.operand] is not None:
            tangent: Expr = Load(len(elements) + load.operand, load.index)
            same = elements[load.operand] == element
            part = _with_adjoint(g, tangent if same else Call(element, (tangent,)))
            parts.append(part if same else Call(element, (part,)))
    return total(parts) if parts else None


def _with_adjoint(expr: Expr, adjoint: Expr) -> Expr:
    return substitute(expr, index=lambda index: adjoint if index == ADJOINT else index)


def _transposed(op: Operation, given: Tangents, emit: Emit) -> SSAValue | None:
    """Return the tangent of an operator that has a pullback. The pullback is linear in its cotangent, and its own
    pullback with respect to the cotangent is the pushforward."""
    y = op.results[0]
    cotangent = filled(emit, 0, element_of(y), shape_of(y))
    pairs = [
        (bar, t)
        for bar, t in zip(adjoints(op, cotangent, emit), given, strict=True)
        if bar is not None and t is not None
    ]
    return reverse([bar for bar, _ in pairs], [cotangent], [t for _, t in pairs], emit)[0]
