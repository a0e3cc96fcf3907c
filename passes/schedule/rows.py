"""Schedule rule for normalisations (softmax, layer norm): a row is reduced and rewritten while it is in L1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlc.dialects.dims import DimLike
from mlc.passes.schedule.lanes import lane_sizes
from mlc.passes.schedule.machine import Machine
from mlc.passes.schedule.schedule import Item, Nest
from mlc.passes.schedule.view import StatementView


def rows(statements: Sequence[StatementView], machine: Machine) -> Iterator[Nest]:
    """``S0[i, j] max, S1[i, j] exp, S2[i, j] sum`` → ``rows: S0 S1 S2 | i | j/64v``, S1 and S2 in one loop."""
    whole = max(statements, key=lambda s: len(s.iters))
    band = [i for i in whole.iters if all(i in s.parallel for s in statements)]
    inner = [i for i in whole.iters if i not in band]
    known = all(i in whole.iters and s.bounds[i] == whole.bounds[i] for s in statements for i in s.iters)
    if not inner or not known or not any(s.op.monoid for s in statements):
        return
    extent = whole.bounds[inner[-1]]
    for vectors in _widths(extent, machine):
        items = [*map(Item, inner[:-1]), Item(inner[-1], lane_sizes(extent, vectors * machine.lanes), True)]
        yield Nest("rows", tuple(s.name for s in statements), tuple(map(Item, band)), tuple(items))


def _widths(extent: DimLike, machine: Machine) -> list[int]:
    """Vectors a turn: a short row as a whole, which then stays in registers, else enough for as many sums at a time as
    additions are under way."""
    usual = (4, 2, 1)
    if not isinstance(extent, int):
        return [*usual]
    row = max(1, -(-extent // machine.lanes))
    fitting = [w for w in usual if w <= extent // machine.lanes] or [1]
    return [*dict.fromkeys([row, *fitting])] if row <= machine.registers // 4 else fitting
