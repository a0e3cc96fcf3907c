"""Schedule rule for elementwise statements some of which read several points of an earlier result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlc.dialects.poly import LoopNest, TiledLoop
from mlc.passes.cost.lane_sizes import lane_sizes
from mlc.passes.schedule.polyhedral.dependences import components, one_point
from mlc.passes.schedule.polyhedral.statement_view import StatementView
from mlc.target import CpuTarget


def stages(statements: Sequence[StatementView], target: CpuTarget) -> Iterator[LoopNest]:
    """``S0[c, y, w, ci] writes t, S1[c, y, i, x, ci] reads t at several w`` → ``stages: S0 S1 | c y ci/16v | w i x``.

    The common iterators are the outer loops. The elements that one iteration of these writes for the next statement
    stay in cache.
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
    for width in (target.lanes, 2 * target.lanes):
        band = (*map(TiledLoop, shared), TiledLoop(lanes, lane_sizes(first.bounds[lanes], width, target.lanes), True))
        yield LoopNest("stages", tuple(s.name for s in statements), band, tuple(map(TiledLoop, inner)))
