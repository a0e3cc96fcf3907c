"""Canonical forms of ``graph.map``: literals are in the expression; no operand is a duplicate, unused, or the result of
a broadcast."""

from __future__ import annotations

from collections.abc import Container, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.graph import BroadcastOp, ConstantOp, MapOp, ReshapeOp, broadcast_shapes
from mlc.dialects.semantics.expr import Expr, Load, loads, parse, rename_operands
from mlc.dialects.types import Shape, element_of, shape_of
from mlc.passes.graph.patterns.scalar_algebra import simplify
from mlc.passes.rewriter import Pattern, Rewrite


def identity_map(op: MapOp) -> Rewrite:
    """map "x0"(x) → x"""
    return op.operands[0] if op.scalar == Load(0) and op.operands[0].type == op.result.type else None


def unstretch(op: MapOp) -> Rewrite:
    """map(broadcast(x)) → map(x), since a map broadcasts its operands; likewise for a reshape that only adds leading
    dimensions of extent 1."""
    args = list(op.operands)
    for n, arg in enumerate(op.operands):
        source = _unstretched(arg)
        if source is not None:
            changed = [*args[:n], source, *args[n + 1 :]]
            args = changed if _result_shape([shape_of(a) for a in changed]) == shape_of(op.result) else args
    return [MapOp(op.scalar, args)] if args != list(op.operands) else None


def _unstretched(arg: SSAValue) -> SSAValue | None:
    owner = arg.owner
    if isinstance(owner, BroadcastOp):
        return owner.input
    if isinstance(owner, ReshapeOp):
        inner, outer = shape_of(owner.input), shape_of(arg)
        lead = len(outer) - len(inner)
        return owner.input if lead > 0 and outer == (*[1] * lead, *inner) else None
    return None


def _result_shape(shapes: Sequence[Shape]) -> Shape | None:
    try:
        return broadcast_shapes(shapes)
    except VerifyException:
        return None


def simplify_map(op: MapOp) -> Rewrite:
    """Write uniform constants as literals, simplify the expression, and drop unused and duplicate operands."""
    args = op.operands
    elements = tuple(element_of(a) for a in args)
    literals = {n: v for n, v in enumerate(map(_uniform, args)) if v is not None}
    if not literals and len(set(args)) == len(args) and _is_simple(op.expr.data, elements):
        return None
    expr = simplify(op.scalar, elements, literals)
    expr, kept = compact(expr, list(args), shape_of(op.result))
    return None if expr == op.scalar and kept == list(args) else [MapOp(expr, kept)]


@lru_cache(maxsize=4096)
def _is_simple(text: str, elements: tuple[str, ...]) -> bool:
    """Return whether ``simplify`` leaves an expression as it is, and the expression reads all operands. Cached, since a
    model repeats few expressions."""
    expr = parse(text)
    return simplify(expr, elements) == expr and {load.operand for load in loads(expr)} == {*range(len(elements))}


def _uniform(value: SSAValue) -> Any:
    """Return the number that all elements of a constant equal; None for other values, and for complex numbers."""
    if not isinstance(value.owner, ConstantOp):
        return None
    array = value.owner.array()
    if not array.size or array.tobytes() != np.full_like(array, array.flat[0]).tobytes():
        return None
    number = array.flat[0].item()
    return number if isinstance(number, bool | int | float) else None


def compact(expr: Expr, args: list[SSAValue], shape: Shape) -> tuple[Expr, list[SSAValue]]:
    """Merge equal operands and drop those that ``expr`` does not read, where the result keeps ``shape``."""
    kept = needed_operands(args, {args[load.operand] for load in loads(expr)}, shape)
    place = {a: n for n, a in enumerate(kept)}
    return rename_operands(expr, [place.get(a, 0) for a in args]), kept


def needed_operands(args: Sequence[SSAValue], read: Container[SSAValue], shape: Shape) -> list[SSAValue]:
    """Return ``args`` without repetitions, and without operands that are not in ``read``, unless the result needs one
    for its ``shape``."""
    kept = list(dict.fromkeys(args))
    for arg in [a for a in kept if a not in read]:
        rest = [a for a in kept if a is not arg]
        kept = rest if _result_shape([shape_of(a) for a in rest]) == shape else kept
    return kept


PATTERNS: dict[type[Operation], list[Pattern]] = {MapOp: [identity_map, unstretch, simplify_map]}
