"""The proof of a strategy: in its block each rank reads, combines and writes what the operator does."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import SSAValue

from mlc.dialects.dist.states import State
from mlc.dialects.graph import GraphOp, StructuredOp
from mlc.dialects.semantics.statement import Statement
from mlc.dialects.types import shape_of
from mlc.passes.distribute.rules import accesses
from mlc.passes.distribute.rules.accesses import Factor
from mlc.passes.distribute.rules.extents import Range, first_text, ranges, ranks_text, size_of, units_of
from mlc.passes.distribute.rules.local_form import on_placeholders
from mlc.passes.distribute.rules.strategy import Strategy, shift_of


def proved(op: StructuredOp, strategy: Strategy, factor: Factor) -> bool:
    """Return whether the local form, at the place of each rank's parts, is the operator on the rank's block.

    The iterations of all ranks then cover those of the operator, each once, and every read is of what the rank has.
    Ranks whose parts have equal sizes are compared at once; a rank without iterations computes nothing.
    """
    if on_placeholders(op, strategy, factor.blocks) is None:
        return False
    units = {n for x, s in _values(op, strategy) if (n := units_of(s, shape_of(x), factor.blocks)) is not None}
    groups = ranges({*units, factor.units}, factor.blocks)
    busy = [each for each in groups if size_of(factor.units, factor.blocks, each[0]) != 0]
    return all(_proved_on(op, strategy, factor, each) for each in busy)


def _values(op: StructuredOp, strategy: Strategy) -> Iterable[tuple[SSAValue, State]]:
    return zip((op.results[0], *op.operands), (strategy.result, *strategy.operands), strict=True)


def _proved_on(op: StructuredOp, strategy: Strategy, factor: Factor, ranks: Range) -> bool:
    """Return whether that holds for ranks whose parts have equal sizes."""
    local: GraphOp | None = on_placeholders(op, strategy, factor.blocks, ranks[0])
    if not isinstance(local, StructuredOp):
        return False
    shift: dict[tuple[int, int], str] = {}
    for n, (value, state) in enumerate(_values(op, strategy), start=-1):
        if (found := shift_of(state, shape_of(value), factor.blocks, ranks)) is not None:
            shift[n, found[0]] = found[1]
    begin = first_text(factor.units, factor.granule, factor.blocks, ranks)
    reduced = {} if factor.iterator is None else {factor.iterator: begin}
    before, after = op.statements(), local.statements()
    return len(before) == len(after) and all(
        _equal(s, t, factor, ranks, shift, reduced) for s, t in zip(before, after, strict=True)
    )


def _equal(
    s: Statement, t: Statement, factor: Factor, ranks: Range, shift: dict[tuple[int, int], str], reduced: dict[str, str]
) -> bool:
    if accesses.skeleton(s.value) != accesses.skeleton(t.value) or s.monoid != t.monoid:
        return False
    wanted = accesses.relation(s, str(factor.condition(s, ranks)), {}, {})
    given = accesses.relation(t, ranks_text(factor.units, factor.blocks, ranks), shift, reduced)
    return wanted is not None and given is not None and bool(wanted.is_equal(given))
