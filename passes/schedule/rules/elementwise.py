"""Schedule rule for statements without a reduction: vectors along the contiguous axis of the result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlc.dialects.poly import LoopNest, TiledLoop
from mlc.passes.cost.extent_partition import rows_of
from mlc.passes.cost.lane_sizes import lane_sizes
from mlc.passes.schedule.polyhedral.dependences import one_point
from mlc.passes.schedule.polyhedral.statement_view import StatementView
from mlc.passes.schedule.rules.candidates import by_rank
from mlc.target import CpuTarget


def elementwise(statements: Sequence[StatementView], target: CpuTarget) -> Iterator[LoopNest]:
    """``S0[i, j]: b[i, j] = exp(a[i, j])`` → ``elementwise: S0 | i j/64v |``."""
    first = statements[0]
    if not is_elementwise(statements):
        return
    lanes = next((i for i in reversed(first.iters) if first.write.stride(i) == 1), first.iters[-1])
    names, transposed = tuple(s.name for s in statements), _transposed(first, lanes)
    if transposed is not None:
        yield LoopNest("elementwise", names, tuple(_transposing(first, transposed, lanes, target)))
    extent = first.bounds[lanes]
    whole = not isinstance(extent, int) or extent >= 4 * target.lanes
    short = isinstance(extent, int) and extent <= target.lanes
    others = [i for i in first.iters if i != lanes]
    usual, more = (_rows(statements, target) if short else 0), _more_rows(statements, target)
    for vectors, rows in by_rank((4, 2, 1, 8) if whole else (1, 2, 4), (usual, *more)):
        band = [TiledLoop(i) for i in others]
        if band and rows:
            band[-1] = rows_of(others[-1], first.bounds[others[-1]], rows)
        band.append(TiledLoop(lanes, lane_sizes(extent, vectors * target.lanes, target.lanes), True))
        yield LoopNest("elementwise", names, tuple(band))


def _rows(statements: Sequence[StatementView], target: CpuTarget) -> int:
    """Return the rows of a tile: as many independent results as an instruction has cycles of latency."""
    return max(1, target.fma_latency // len(statements))


def _more_rows(statements: Sequence[StatementView], target: CpuTarget) -> Iterator[int]:
    """Return other numbers of rows, whose results need at most half of the registers."""
    return (n for n in (0, 2, 4) if n * len(statements) <= target.vector_registers // 2)


def _transposed(s: StatementView, lanes: str) -> str | None:
    """Return the iterator, other than the vectorized one, along which a read is contiguous; None if there is none."""
    transposed = [r for r in s.reads if r.depends_on(lanes) and r.stride(lanes) != 1]
    return next((i for r in transposed for i in s.iters if i != lanes and r.stride(i) == 1 and s.bounds[i] != 1), None)


def _transposing(s: StatementView, rows: str, lanes: str, target: CpuTarget) -> list[TiledLoop]:
    """Return loops in square tiles, with as many rows as lanes, which are transposed in registers."""
    side = target.lanes
    extent = s.bounds[rows]
    tile = rows_of(rows, extent, side)
    if isinstance(extent, int) and extent >= side:
        rest = ((extent % side, 1),) if extent % side else ()
        tile = TiledLoop(rows, ((side, extent // side), *rest))
    tiles = {rows: tile, lanes: TiledLoop(lanes, lane_sizes(s.bounds[lanes], side, side), True)}
    return [tiles.get(i, TiledLoop(i)) for i in s.iters]


def is_elementwise(statements: Sequence[StatementView]) -> bool:
    """Return whether statements have the same points and no reduction, and read what other statements write only at the
    same point."""
    first = statements[0]
    if any(s.op.monoid or s.iters != first.iters or s.bounds != first.bounds for s in statements) or not first.iters:
        return False
    written = {s.write.array for s in statements}
    read = any(r.array in written for s in statements for r in s.reads)
    return not read or one_point(statements, first.iters)
