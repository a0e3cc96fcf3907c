"""Rolled steps: the last loop of a sum of products, over the 8 channels of a block, stays a loop.

Its steps read an element of A for each row and a vector of B, which no other step reads, so a loop is as fast as
straight-line code, of which it is an eighth.
"""

from __future__ import annotations

from mlc.passes.loops.body.tile_context import TileContext
from mlc.passes.schedule.polyhedral.statement_view import StatementView
from mlc.passes.schedule.rules.operand_roles import is_sum

FEWEST = 4  # steps that are a loop


def shares_nothing(s: StatementView, context: TileContext, iterator: str) -> bool:
    """Return whether steps of a sum of products along ``iterator`` have no read in common: no window slides over the
    rows of the tile, and no two steps read parts of one integer."""
    rows = [axis.iterator for axis in context.axes]
    linear = is_sum(s) and all(r.stride(iterator) is not None for r in s.reads)
    return linear and not any(r.slides(row, iterator) for r in s.reads for row in rows)
