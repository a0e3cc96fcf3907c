"""Schedule rule for reductions with a contiguous result: depthwise convolution, pooling, sums over leading axes.

Lanes run along the result, a few rows of accumulators hide the latency of the combination.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from xdsl.dialects import memref

from mlc.passes.schedule.candidates import by_rank
from mlc.passes.schedule.cover import cover
from mlc.passes.schedule.lanes import lane_sizes, long_run
from mlc.passes.schedule.machine import Machine
from mlc.passes.schedule.schedule import Item, Nest
from mlc.passes.schedule.view import Access, StatementView

NEAR = (1, 2, 3, 4)  # strides along the lanes that whole vectors are made from, not lane by lane
SMALL = 32  # terms of a window that slides
FEW = 4  # terms of a combination that are too few for lanes
APART = 2  # rows of a window that slides along lanes which stand apart: it keeps what it has read for its next place
GATHERED = 4  # rows of a window whose elements stand where data says: they share little, and each lane may be a load


def window(statements: Sequence[StatementView], machine: Machine) -> Iterator[Nest]:
    """``S0[c, y, x, ci, k]: t[c, y, x, ci] max= a[c, y, 2x + k, ci]`` → ``window: S0 | c y x/7 ci/16v | k``.

    What slides over the rows of a tile stands innermost: rows share what they read.
    """
    first = statements[0]
    if first.op.monoid is None or any(s.op.monoid or s.iters != first.parallel for s in statements[1:]):
        return
    lanes = next((i for i in reversed(first.parallel) if first.write.stride(i) == 1), None)
    if lanes is None or not (any(r.stride(lanes) in NEAR for r in _terms_of(first)) or _terms(first) <= FEW):
        return
    extent, names = first.bounds[lanes], tuple(s.name for s in statements)
    others = [i for i in first.parallel if i != lanes]
    inner = sorted(first.reduced, key=lambda k: any(r.slides(row, k) for r in first.reads for row in others[-1:]))
    for vectors, share in by_rank((_vectors(first, lanes, machine), 2, 1, 4), (1, 2, 4)):
        band = [Item(i) for i in others]
        if others:
            usual = APART if _slides_apart(first, lanes) else machine.registers // 2 // vectors - 2
            rows = max(1, (min(usual, GATHERED) if _gathers(first) else usual) // share)
            band[-1] = Item(others[-1], cover(first.bounds[others[-1]], rows))
        band.append(Item(lanes, lane_sizes(extent, vectors * machine.lanes), True))
        yield Nest("window", names, tuple(band), tuple(map(Item, inner)))


def _slides_apart(s: StatementView, lanes: str) -> bool:
    """Whether a window reads every second, third or fourth element along the lanes, at several places."""
    return any(r.stride(lanes) in NEAR[1:] and r.slides(lanes, k) for r in s.reads for k in s.reduced)


def _gathers(s: StatementView) -> bool:
    """Whether elements are read whose places are data."""
    return any(isinstance(o, memref.LoadOp) for o in s.op.body.block.ops)


def _vectors(s: StatementView, lanes: str, machine: Machine) -> int:
    """Two vectors along the lanes for a small window, whose rows read the same."""
    small = _terms(s) <= SMALL or not isinstance(s.bounds[lanes], int)
    return min(2, long_run(s, lanes, machine)) if small else long_run(s, lanes, machine)


def _terms_of(s: StatementView) -> list[Access]:
    """Reads that differ from term to term; all where none does."""
    return [r for r in s.reads if any(map(r.depends_on, s.reduced))] or list(s.reads)


def _terms(s: StatementView) -> float:
    """How many terms make one element; infinity where that is not known."""
    return math.prod(n if isinstance(n := s.bounds[i], int) else math.inf for i in s.reduced)
