"""The proof of a strategy: in its block each rank reads, combines and writes what the operator does."""

from __future__ import annotations

from xdsl.ir import SSAValue

from mlc.dialects.dist.states import State
from mlc.dialects.graph import GraphOp, StructuredOp
from mlc.dialects.types import shape_of
from mlc.passes.distribute.rules import accesses
from mlc.passes.distribute.rules.accesses import Factor
from mlc.passes.distribute.rules.strategy import Strategy, shift_of


def proved(op: StructuredOp, local: GraphOp, strategy: Strategy, factor: Factor) -> bool:
    """Return whether the local form, at the place of each rank's parts, is the operator on the rank's block.

    The iterations of all ranks then cover those of the operator, each once, and every read is of what the rank has.
    """
    if not isinstance(local, StructuredOp):
        return False
    shift: dict[tuple[int, int], str] = {}
    values: list[tuple[int, SSAValue, State]] = [(-1, op.results[0], strategy.result)]
    values += [(n, x, s) for n, (x, s) in enumerate(zip(op.operands, strategy.operands, strict=True))]
    for n, value, state in values:
        if (found := shift_of(state, shape_of(value), factor.blocks)) is not None:
            shift[n, found[0]] = found[1]
    reduced = {} if factor.iterator is None else {factor.iterator: f"rank_ * {factor.block}"}
    before, after = op.statements(), local.statements()
    ranks = f"0 <= rank_ < {factor.blocks}"
    if len(before) != len(after):
        return False
    for s, t in zip(before, after, strict=True):
        if accesses.skeleton(s.value) != accesses.skeleton(t.value) or s.monoid != t.monoid:
            return False
        wanted = accesses.relation(s, str(factor.condition(s)), {}, {})
        given = accesses.relation(t, ranks, shift, reduced)
        if wanted is None or given is None or not wanted.is_equal(given):
            return False
    return True
