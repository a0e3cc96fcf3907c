"""Derivatives of branches: each side of a branch recomputes its values, followed by their pullback or pushforward.

%y = graph.if (%c) use(%x) {f} else {g}   →   %xbar = graph.if (%c) use(%x, %ybar) {f, its pullback} else {…}
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects.autodiff.emitting import Adjoints, Emit, filled
from mlc.dialects.autodiff.forward import REGIONS as FORWARD
from mlc.dialects.autodiff.forward import Tangents, pushforward
from mlc.dialects.autodiff.reverse import REGIONS as REVERSE
from mlc.dialects.autodiff.reverse import pullback
from mlc.dialects.autodiff.scalar import DIFFERENTIABLE
from mlc.dialects.graph import IfOp, YieldOp, source_nodes, with_nodes
from mlc.dialects.graph.copies import copied
from mlc.dialects.types import element_of, shape_of

Side = Callable[[Sequence[SSAValue], Sequence[SSAValue], Sequence[SSAValue], Emit], Sequence[SSAValue]]
"""``(arguments, results, further arguments, emit)`` of the copy of a side → the values that the side yields instead."""


def is_float(x: SSAValue) -> bool:
    return element_of(x) in DIFFERENTIABLE


def or_zeros(x: SSAValue | None, like: SSAValue, emit: Emit) -> SSAValue:
    return filled(emit, 0, element_of(like), shape_of(like)) if x is None else x


def into(block: Block, op: Operation) -> Emit:
    """Return an ``emit`` that adds operators to a region's block, with the source nodes of ``op``."""

    def emit(made: Operation) -> SSAValue:
        block.add_op(made if source_nodes(made) else with_nodes(made, source_nodes(op)))
        return made.results[0]

    return emit


def of_branch(op: IfOp, bars: Adjoints, needed: Sequence[bool], emit: Emit) -> Adjoints:
    wanted = [n for n, need in enumerate(needed[1:]) if need]
    seeds = {n: bar for n, bar in enumerate(bars) if bar is not None}

    def side(xs: Sequence[SSAValue], ys: Sequence[SSAValue], given: Sequence[SSAValue], emit: Emit) -> list[SSAValue]:
        by = [xs[n] for n in wanted]
        found = pullback([ys[n] for n in seeds], by, [*given], emit)
        return [or_zeros(bar, x, emit) for bar, x in zip(found, by, strict=True)]

    parts = dict(zip(wanted, _branch(op, [*seeds.values()], side, emit), strict=True))
    return [None, *(parts.get(n) for n in range(len(op.used)))]


def along_branch(op: IfOp, given: Tangents, emit: Emit) -> Tangents:
    known = {n: t for n, t in enumerate(given[1:]) if t is not None}
    wanted = [n for n, y in enumerate(op.res) if is_float(y)]

    def side(xs: Sequence[SSAValue], ys: Sequence[SSAValue], along: Sequence[SSAValue], emit: Emit) -> list[SSAValue]:
        of = [ys[n] for n in wanted]
        found = pushforward(of, [xs[n] for n in known], [*along], emit)
        return [or_zeros(t, y, emit) for t, y in zip(found, of, strict=True)]

    parts = dict(zip(wanted, _branch(op, [*known.values()], side, emit), strict=True))
    return [parts.get(n) for n in range(len(op.res))]


def _branch(op: IfOp, further: Sequence[SSAValue], side: Side, emit: Emit) -> Sequence[SSAValue]:
    """Add a branch on the condition of ``op``, which also uses the values ``further``, and return its results."""
    used = [*op.used, *further]

    def region(block: Block) -> Block:
        made = Block(arg_types=[v.type for v in used])
        inner, xs = into(made, op), made.args[: len(op.used)]
        ys, _ = copied(block, xs, inner)
        made.add_op(YieldOp(side(xs, ys, made.args[len(op.used) :], inner)))
        return made

    made = IfOp(op.condition, used, region(op.then.block), region(op.otherwise.block))
    emit(made)
    return made.res


REVERSE[IfOp], FORWARD[IfOp] = of_branch, along_branch
