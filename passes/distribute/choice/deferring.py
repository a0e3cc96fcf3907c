"""Deferred reductions: a sum of several partial values and whole ones is reduced once, at its end.

``(g + p) + q`` with p and q partial: g counts on one rank alone, both sums are partial, and one reduction is left.
Without this p would be reduced to be added to g, and q to be added to the sum.
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from mlc.dialects.dist.states import WHOLE, PartialAttr
from mlc.dialects.graph import GraphOp
from mlc.passes.distribute.choice.choosing import Chooser
from mlc.passes.distribute.rules.linear import keeps_partial

SUM = PartialAttr.of("add")


def defer(chooser: Chooser) -> None:
    """Choose anew with more operators that keep sums partial, as long as that saves reductions."""
    while found := {op for op in chooser.chosen if op not in chooser.deferred and _saves(chooser, op)}:
        chooser.deferred |= found
        chooser.forward()


def _saves(chooser: Chooser, op: Operation) -> bool:
    """Return whether an operator reduces a value to add it to a whole one, and its only reader reduces another."""
    if not _reduces(chooser, op) or not op.results[0].has_one_use():
        return False
    reader = next(iter(op.results[0].uses)).operation
    return _reduces(chooser, reader, op.results[0])


def _reduces(chooser: Chooser, op: Operation, but: SSAValue | None = None) -> bool:
    """Return whether an operator is a sum of its operands and has one of them, not ``but``, reduced."""
    strategy = chooser.chosen[op]
    if not isinstance(op, GraphOp) or not keeps_partial(op, "add", range(len(op.operands))):
        return False
    pairs = list(zip(op.operands, strategy.operands, strict=True))
    others = all(chooser.states[x] in (WHOLE, SUM) for x in op.operands)
    return others and any(x is not but and chooser.states[x] == SUM and need == WHOLE for x, need in pairs)
