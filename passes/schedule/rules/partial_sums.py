"""Blocked summation: the inner loops of a long sum compute partial sums, which are added to the total."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FloatAttr

from mlc.dialects.poly import TiledLoop
from mlc.passes.schedule.polyhedral.statement_view import StatementView

SUM_BLOCK = 128  # terms of a sum between additions to its total: rounding errors grow with the longer of the two
UNCUT = 160  # terms of a block that is not split where splitting would make blocks of different lengths


def partial_sums(
    s: StatementView, reduced: Sequence[str], most: int = SUM_BLOCK, uncut: int = UNCUT
) -> tuple[TiledLoop, ...]:
    """Return the loops ``reduced`` of a sum, the outermost ones in blocks of at most ``most`` terms. Up to ``uncut``
    terms (3 x 3 x 16) remain one block if ``most`` would split them unevenly."""
    if not isinstance(s.op.init, FloatAttr):
        return tuple(TiledLoop(i) for i in reduced)
    items: list[TiledLoop] = []
    terms = 1
    for n, name in reversed(list(enumerate(reduced))):
        extent = s.bounds[name]
        size = max(1, most // terms)
        if isinstance(extent, int) and terms * extent <= (uncut if extent % size else most):
            items.insert(0, TiledLoop(name))
            terms *= extent
            continue
        block = TiledLoop(name, ((size, None),), partial_sums=True)
        return (*(TiledLoop(i) for i in reduced[:n]), block, *items)
    return tuple(items)
