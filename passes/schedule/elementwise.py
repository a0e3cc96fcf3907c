"""Schedule rule for statements without a reduction: vectors along the contiguous axis of the result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlc.passes.schedule.candidates import by_rank
from mlc.passes.schedule.cover import cover
from mlc.passes.schedule.dependences import one_point
from mlc.passes.schedule.lanes import lane_sizes
from mlc.passes.schedule.machine import Machine
from mlc.passes.schedule.schedule import Item, Nest
from mlc.passes.schedule.view import StatementView

ROWS = 4  # results in registers, for as many chains of instructions
MOST = 16  # results that a candidate may have at once


def elementwise(statements: Sequence[StatementView], machine: Machine) -> Iterator[Nest]:
    """``S0[i, j]: b[i, j] = exp(a[i, j])`` → ``elementwise: S0 | i j/64v |``."""
    first = statements[0]
    if any(s.op.monoid or s.iters != first.iters or s.bounds != first.bounds for s in statements) or not first.iters:
        return
    written = {s.write.array for s in statements}
    if any(r.array in written for s in statements for r in s.reads) and not one_point(statements, first.iters):
        return
    lanes = next((i for i in reversed(first.iters) if first.write.stride(i) == 1), first.iters[-1])
    names, turned = tuple(s.name for s in statements), _turned(first, lanes)
    if turned is not None:
        yield Nest("elementwise", names, tuple(_squares(first, turned, lanes, machine)))
    extent = first.bounds[lanes]
    whole = not isinstance(extent, int) or extent >= 4 * machine.lanes
    short = isinstance(extent, int) and extent <= machine.lanes
    others = [i for i in first.iters if i != lanes]
    usual, more = (_rows(statements) if short else 0), (n for n in (0, 2, 4) if n * len(statements) <= MOST)
    for vectors, rows in by_rank((4, 2, 1, 8) if whole else (1, 2, 4), (usual, *more)):
        band = [Item(i) for i in others]
        if band and rows:
            band[-1] = Item(others[-1], cover(first.bounds[others[-1]], rows))
        yield Nest("elementwise", names, (*band, Item(lanes, lane_sizes(extent, vectors * machine.lanes), True)))


def _rows(statements: Sequence[StatementView]) -> int:
    return max(1, ROWS // len(statements))


def _turned(s: StatementView, lanes: str) -> str | None:
    """The iterator along which a read is contiguous that is not along the lanes."""
    turned = [r for r in s.reads if r.depends_on(lanes) and r.stride(lanes) != 1]
    return next((i for r in turned for i in s.iters if i != lanes and r.stride(i) == 1 and s.bounds[i] != 1), None)


def _squares(s: StatementView, rows: str, lanes: str, machine: Machine) -> list[Item]:
    """As many rows as lanes, which change places in registers."""
    side = machine.lanes
    extent = s.bounds[rows]
    whole = extent // side if isinstance(extent, int) else None
    sizes = cover(extent, side) if whole is None or not whole else ((side, whole),)
    if isinstance(extent, int) and whole and extent % side:
        sizes = (*sizes, (extent % side, 1))
    tiles = {rows: Item(rows, sizes), lanes: Item(lanes, lane_sizes(s.bounds[lanes], side), True)}
    return [tiles.get(i, Item(i)) for i in s.iters]
