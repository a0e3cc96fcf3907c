"""Schedule rule for reductions with a contiguous result: depthwise convolution, pooling, sums over leading axes.

Lanes run along the result, a few rows of accumulators hide the latency of the combination.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlc.passes.schedule.candidates import by_rank
from mlc.passes.schedule.contraction import lane_sizes
from mlc.passes.schedule.cover import cover
from mlc.passes.schedule.machine import Machine
from mlc.passes.schedule.schedule import Item, Nest
from mlc.passes.schedule.view import StatementView


def window(statements: Sequence[StatementView], machine: Machine) -> Iterator[Nest]:
    """``S0[c, y, x, ci, k]: t[c, y, x, ci] max= a[c, y, 2x + k, ci]`` → ``window: S0 | c y x/7 ci/16v | k``."""
    first = statements[0]
    if first.op.monoid is None or any(s.op.monoid or s.iters != first.parallel for s in statements[1:]):
        return
    lanes = next((i for i in reversed(first.parallel) if first.write.stride(i) == 1), None)
    if lanes is None or not any(r.stride(lanes) == 1 for r in first.reads):
        return
    extent = first.bounds[lanes]
    others = [i for i in first.parallel if i != lanes]
    names, inner = tuple(s.name for s in statements), tuple(Item(i) for i in first.reduced)
    for vectors, share in by_rank((2, 1, 4), (1, 2, 4)):
        width = vectors * machine.lanes if not isinstance(extent, int) else min(vectors * machine.lanes, extent or 1)
        rows = machine.registers // 2 // -(-width // machine.lanes) - 2
        band = [Item(i) for i in others]
        if others:
            band[-1] = Item(others[-1], cover(first.bounds[others[-1]], max(1, rows // share)))
        yield Nest("window", names, (*band, Item(lanes, lane_sizes(extent, width), True)), inner)
