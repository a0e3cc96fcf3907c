"""Reverse mode: a backward walk over the operators between some tensors and a result.

    %a = graph.map "exp(x0)"(%x)                      %1 = graph.broadcast(%seed) {shape = [4]}
    %y = graph.reduce "add"(%a) {axes = [0]}   →      %2 = graph.map "x1 * exp(x0)"(%x, %1)

The rule of an operator runs once, with the sum of its readers' contributions as adjoint of its result.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects.autodiff.emitting import Adjoints, Emit, mapped
from mlc.dialects.autodiff.operators import adjoints
from mlc.dialects.autodiff.scalar import DIFFERENTIABLE, NoDerivative
from mlc.dialects.graph import source_nodes
from mlc.dialects.types import element_of


def gradients(y: SSAValue, xs: Sequence[SSAValue], seed: SSAValue, emit: Emit) -> Adjoints:
    """The derivative of the sum of ``seed * y`` with respect to each of ``xs``, as if they were independent.

    ``y`` and ``xs`` are tensors of floats in one block, and ``seed`` is of the type of ``y``; the result for each of
    ``xs`` has its type, and is None where ``y`` does not depend on it. ``emit`` adds an operator at the block's end.

    Raises:
        NoDerivative: an operator between them has none; names it and its source nodes.
    """
    found: dict[SSAValue, SSAValue] = {y: seed}
    operators, dependent = _between(xs, y)
    for op in reversed(operators):
        for result in op.results:
            bar = found.get(result)
            if bar is not None:
                _accumulate(found, dependent, op, _of(op, bar, emit), emit)
    return [found.get(x) for x in xs]


def _between(xs: Sequence[SSAValue], y: SSAValue) -> tuple[list[Operation], set[SSAValue]]:
    """The operators in the block of ``y`` that depend on ``xs``, in order, and all values that depend on them."""
    block = y.owner if isinstance(y.owner, Block) else y.owner.parent
    reached, found = set(xs), []
    for op in block.ops if block is not None else ():
        if not reached.isdisjoint(op.operands) and reached.isdisjoint(op.results):
            found.append(op)
            reached.update(op.results)
    return found, reached


def _of(op: Operation, bar: SSAValue, emit: Emit) -> Adjoints:
    try:
        return adjoints(op, bar, emit)
    except NoDerivative as e:
        raise NoDerivative(f"{e}, at node '{', '.join(source_nodes(op))}'") from e


def _accumulate(
    found: dict[SSAValue, SSAValue], dependent: set[SSAValue], op: Operation, parts: Adjoints, emit: Emit
) -> None:
    for operand, part in zip(op.operands, parts, strict=True):
        if part is not None and operand in dependent and element_of(operand) in DIFFERENTIABLE:
            found[operand] = mapped(emit, "x0 + x1", found[operand], part) if operand in found else part
