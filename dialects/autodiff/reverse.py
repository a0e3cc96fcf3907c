"""Reverse mode: a backward walk over the operators between some tensors and a result.

    %a = graph.map "exp(x0)"(%x)                      %1 = graph.broadcast(%seed) {shape = [4]}
    %y = graph.reduce "add"(%a) {axes = [0]}   →      %2 = graph.map "x1 * exp(x0)"(%x, %1)

The rule of an operator runs once, with the sum of its readers' contributions as adjoint of its result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects.autodiff.emitting import Adjoints, Emit, mapped
from mlc.dialects.autodiff.operators import adjoints
from mlc.dialects.autodiff.scalar import DIFFERENTIABLE, NoDerivative
from mlc.dialects.autodiff.splitting import is_large, split
from mlc.dialects.graph import MapOp, RegionOp, source_nodes
from mlc.dialects.types import element_of

RegionRule = Callable[[Any, Adjoints, Sequence[bool], Emit], Adjoints]
"""``(operator, the adjoints of its results, which operands need an adjoint, emit)`` → the adjoints of its operands."""
REGIONS: dict[type[RegionOp], RegionRule] = {}


def gradients(y: SSAValue, xs: Sequence[SSAValue], seed: SSAValue, emit: Emit) -> Adjoints:
    """Return the derivative of the sum of ``seed * y`` with respect to each of ``xs``: ``pullback`` of one tensor."""
    return pullback([y], xs, [seed], emit)


def pullback(ys: Sequence[SSAValue], xs: Sequence[SSAValue], seeds: Adjoints, emit: Emit) -> Adjoints:
    """Return the derivative of the sum of all ``seed * y`` with respect to each of ``xs``, as if these were
    independent.

    ``ys`` and ``xs`` are tensors in one block, and a seed is of the type of its ``y``, or None for 0. The result for
    each of ``xs`` has its type, and is None where no ``y`` depends on it. ``emit`` adds an operator at the block's end.

    Raises:
        NoDerivative: an operator between them has none; names it and its source nodes.
    """
    found: dict[SSAValue, SSAValue] = {}
    operators, dependent = between(xs, ys)
    for y, seed in zip(ys, seeds, strict=True):
        _add(found, dependent, y, seed, emit)
    for op in reversed(operators):
        bars = [found.get(result) for result in op.results]
        if any(bar is not None for bar in bars):
            parts = _of(op, bars, [needs_adjoint(x, dependent) for x in op.operands], emit)
            for operand, part in zip(op.operands, parts, strict=False):
                _add(found, dependent, operand, part, emit)
    return [found.get(x) for x in xs]


def between(xs: Sequence[SSAValue], ys: Sequence[SSAValue]) -> tuple[list[Operation], set[SSAValue]]:
    """Return the operators in the block of ``ys`` that depend on ``xs``, in order, and all values that depend on
    ``xs``."""
    reached: set[SSAValue] = set(xs)
    found: list[Operation] = []
    for block in dict.fromkeys(y.owner if isinstance(y.owner, Block) else y.owner.parent for y in ys):
        for op in block.ops if block is not None else ():
            if not reached.isdisjoint(op.operands) and reached.isdisjoint(op.results):
                found.append(op)
                reached.update(op.results)
    return found, reached


def needs_adjoint(x: SSAValue, dependent: set[SSAValue]) -> bool:
    return x in dependent and element_of(x) in DIFFERENTIABLE


def named(op: Operation, error: NoDerivative) -> NoDerivative:
    """Return the error with the operator's source nodes in its message."""
    return error if "at node" in str(error) else NoDerivative(f"{error}, at node '{', '.join(source_nodes(op))}'")


def _of(op: Operation, bars: Adjoints, needed: Sequence[bool], emit: Emit) -> Adjoints:
    try:
        if isinstance(op, RegionOp):
            return REGIONS[type(op)](op, bars, needed, emit)
        assert bars[0] is not None
        if isinstance(op, MapOp) and is_large(op):
            found = dict(zip(op.args, pullback([split(op, emit)], op.args, bars, emit), strict=True))
            return [found.pop(x, None) for x in op.args]  # once for an operand that is read twice
        return adjoints(op, bars[0], emit)
    except NoDerivative as e:
        raise named(op, e) from e


def _add(
    found: dict[SSAValue, SSAValue], dependent: set[SSAValue], x: SSAValue, part: SSAValue | None, emit: Emit
) -> None:
    if part is not None and needs_adjoint(x, dependent):
        found[x] = mapped(emit, "x0 + x1", found[x], part) if x in found else part
