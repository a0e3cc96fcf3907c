"""Schedule rule for normalizations (softmax, layer norm): a row is reduced and rewritten while it is in L1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlc.dialects.poly import LoopNest, TiledLoop
from mlc.dialects.semantics.dims import DimLike
from mlc.passes.schedule.cost.lane_sizes import lane_sizes
from mlc.passes.schedule.polyhedral.dependences import one_point
from mlc.passes.schedule.polyhedral.statement_view import StatementView
from mlc.target import CpuTarget


def rows(statements: Sequence[StatementView], target: CpuTarget) -> Iterator[LoopNest]:
    """``S0[i, j] max, S1[i, j] exp, S2[i, j] sum`` → ``rows: S0 S1 S2 | i | j/64v``, S1 and S2 in one loop."""
    whole = max(statements, key=lambda s: len(s.iters))
    band = [i for i in whole.iters if all(i in s.parallel for s in statements)]
    inner = [i for i in whole.iters if i not in band]
    known = all(i in whole.iters and s.bounds[i] == whole.bounds[i] for s in statements for i in s.iters)
    if not inner or not known or not any(s.op.monoid for s in statements) or not one_point(statements, band):
        return
    extent = whole.bounds[inner[-1]]
    for vectors in _widths(extent, target):
        items = [*map(TiledLoop, inner[:-1]), TiledLoop(inner[-1], lane_sizes(extent, vectors * target.lanes), True)]
        yield LoopNest("rows", tuple(s.name for s in statements), tuple(map(TiledLoop, band)), tuple(items))


def _widths(extent: DimLike, target: CpuTarget) -> list[int]:
    """Vectors an iteration: a whole short row, which then stays in registers; else as many as the sums that a CPU keeps
    in flight."""
    usual = (4, 2, 1)
    if not isinstance(extent, int):
        return [*usual]
    row = max(1, -(-extent // target.lanes))  # for extent 0 the code has an iteration, which never runs
    fitting = [w for w in usual if w <= extent // target.lanes] or [1]
    return [*dict.fromkeys([row, *fitting])] if row <= target.vector_registers // 4 else fitting
