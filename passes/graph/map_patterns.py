"""Canonical forms of ``graph.map``: literals in the expression, no operand twice or unused, no operand stretched
beforehand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.expr import Expr, Load, loads, rename_operands
from mlc.dialects.graph import BroadcastOp, ConstantOp, MapOp, ReshapeOp, broadcast_shapes
from mlc.dialects.types import Shape, element_of, shape_of
from mlc.passes.graph.scalar_algebra import simplify
from mlc.passes.rewriter import Pattern, Rewrite


def identity_map(op: MapOp) -> Rewrite:
    """map "x0"(x) → x"""
    return op.args[0] if op.scalar == Load(0) and op.args[0].type == op.result.type else None


def unstretch(op: MapOp) -> Rewrite:
    """Broadcasts, and reshapes that only add leading dimensions, are read through: a map broadcasts itself."""
    args = list(op.args)
    for n, arg in enumerate(op.args):
        source = _unstretched(arg)
        if source is not None:
            changed = [*args[:n], source, *args[n + 1 :]]
            args = changed if _result_shape(changed) == shape_of(op.result) else args
    return [MapOp(op.scalar, args)] if args != list(op.args) else None


def _unstretched(arg: SSAValue) -> SSAValue | None:
    owner = arg.owner
    if isinstance(owner, BroadcastOp):
        return owner.input
    if isinstance(owner, ReshapeOp):
        inner, outer = shape_of(owner.input), shape_of(arg)
        lead = len(outer) - len(inner)
        return owner.input if lead > 0 and outer == (*[1] * lead, *inner) else None
    return None


def _result_shape(args: Sequence[SSAValue]) -> Shape | None:
    try:
        return broadcast_shapes([shape_of(a) for a in args])
    except VerifyException:
        return None


def simplify_map(op: MapOp) -> Rewrite:
    """Uniform constants become literals, the expression is simplified, operands left over or equal are dropped."""
    elements = [element_of(a) for a in op.args]
    literals = {n: v for n, v in enumerate(map(_uniform, op.args)) if v is not None}
    expr = simplify(op.scalar, elements, literals)
    expr, args = compact(expr, list(op.args), shape_of(op.result))
    return None if expr == op.scalar and args == list(op.args) else [MapOp(expr, args)]


def _uniform(value: SSAValue) -> Any:
    """The Python number of which a constant holds only copies; None if it holds others, or complex ones."""
    if not isinstance(value.owner, ConstantOp):
        return None
    array = value.owner.array()
    if not array.size or array.tobytes() != np.full_like(array, array.flat[0]).tobytes():
        return None
    number = array.flat[0].item()
    return number if isinstance(number, bool | int | float) else None


def compact(expr: Expr, args: list[SSAValue], shape: Shape) -> tuple[Expr, list[SSAValue]]:
    """Number equal operands alike and drop those ``expr`` does not read, as far as the result keeps ``shape``."""
    first = [args.index(a) for a in args]
    expr = rename_operands(expr, first)
    used = {load.operand for load in loads(expr)}
    kept = list(range(len(args)))
    for n in range(len(args)):
        rest = [m for m in kept if m != n]
        if n not in used and _result_shape([args[m] for m in rest]) == shape:
            kept = rest
    position = {n: place for place, n in enumerate(kept)}
    return rename_operands(expr, [position.get(n, 0) for n in range(len(args))]), [args[n] for n in kept]


PATTERNS: dict[type[Operation], list[Pattern]] = {MapOp: [identity_map, unstretch, simplify_map]}
