"""Stencil chains: a stencil that reads another one computes both, by recomputation (Halide's ``compute_inline``).

    %s = graph.compute "x0[i0] + x0[i0 + 1]"(%u)
    %t = graph.compute "x0[i0] - x0[i0 + 2]"(%s)
      →  %t = graph.compute "(x0[i0] + x0[i0 + 1]) - (x0[i0 + 2] + x0[i0 + 3])"(%u)

The intermediate tensor then needs no memory. The producer must be cheap and have one reader, and the fused stencil may
read, for each point, as many elements as both stencils did, and ``BETWEEN`` more for the intermediate element.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import SSAValue

from mlc.dialects.graph import ComputeOp
from mlc.dialects.semantics.expr import CHEAP, Call, Expr, Load, loads, parse, substitute, walk
from mlc.dialects.types import shape_of

BETWEEN = 2  # accesses of an element between two stencils: it is written and read
NODES = 512  # in one expression: a stencil that is squared is in it twice, and computed once


def inlined_stencil(op: ComputeOp) -> ComputeOp | None:
    """Return ``op`` with one of the stencils that it reads substituted; None if there is none for which that pays."""
    if op.monoid is not None:
        return None
    outer = parse(op.expr.data)
    for value in dict.fromkeys(op.args):
        producer = value.owner
        if isinstance(producer, ComputeOp) and _is_inlinable(producer, op):
            expr, args = _inlined(outer, op, producer)
            points = len(dict.fromkeys(loads(expr)))
            before = len(dict.fromkeys(loads(outer))) + len(dict.fromkeys(loads(parse(producer.expr.data))))
            if points <= before + BETWEEN and sum(1 for _ in walk(expr)) <= NODES:
                return ComputeOp(str(expr), args, shape_of(op.result))
    return None


def _is_inlinable(producer: ComputeOp, reader: ComputeOp) -> bool:
    """Return whether ``reader`` is the only reader of ``producer``, ``producer`` is cheap, and all indices of both are
    affine."""
    if producer.monoid is not None or {use.operation for use in producer.result.uses} != {reader}:
        return False
    exprs = [parse(each.expr.data) for each in (producer, reader)]
    gathers = any(isinstance(part, Load) for expr in exprs for load in loads(expr) for part in _of_index(load))
    return not gathers and all(e.fn in CHEAP for e in walk(exprs[0]) if isinstance(e, Call))


def _of_index(load: Load) -> Iterator[Expr]:
    return (part for index in load.index or () for part in walk(index))


def _inlined(outer: Expr, op: ComputeOp, producer: ComputeOp) -> tuple[Expr, list[SSAValue]]:
    """Return the expression ``outer`` of ``op`` with ``producer`` substituted, and the operands of that expression."""
    args: list[SSAValue] = [a for a in dict.fromkeys([*op.args, *producer.args]) if a is not producer.result]
    place = [args.index(a) for a in producer.args]
    inner = substitute(parse(producer.expr.data), lambda load: Load(place[load.operand], load.index))

    def load(given: Load) -> Expr:
        if op.args[given.operand] is not producer.result:
            return Load(args.index(op.args[given.operand]), given.index)
        at = {f"i{n}": index for n, index in enumerate(given.index or ())}
        return substitute(inner, index=lambda i: at.get(i.name, i))

    return substitute(outer, load), args
