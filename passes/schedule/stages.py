"""Schedule rule for elementwise statements, some of which read what earlier ones write at several points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlc.passes.schedule.dependences import components, one_point
from mlc.passes.schedule.lanes import lane_sizes
from mlc.passes.schedule.machine import Machine
from mlc.passes.schedule.schedule import Item, Nest
from mlc.passes.schedule.view import StatementView


def stages(statements: Sequence[StatementView], machine: Machine) -> Iterator[Nest]:
    """``S0[c, y, w, ci] writes t, S1[c, y, i, x, ci] reads t at several w`` → ``stages: S0 S1 | c y ci/16v | w i x``.

    The iterators all share stand outside, and what one turn of them writes for the next stage stays in the cache.
    """
    first = statements[0]
    shared = [i for i in first.iters if all(i in s.iters for s in statements)]
    if any(s.op.monoid for s in statements) or len(shared) < 2 or len(components(statements)) > 1:
        return
    lanes = shared[-1]
    if not all(s.write.stride(lanes) == 1 for s in statements) or not one_point(statements, shared):
        return
    shared.remove(lanes)
    inner = dict.fromkeys(i for s in statements for i in s.iters if i not in (*shared, lanes))
    for width in (machine.lanes, 2 * machine.lanes):
        band = (*map(Item, shared), Item(lanes, lane_sizes(first.bounds[lanes], width), True))
        yield Nest("stages", tuple(s.name for s in statements), band, tuple(map(Item, inner)))
