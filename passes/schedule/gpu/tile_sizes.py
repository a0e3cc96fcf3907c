"""Tile sizes of a thread block: an even share of the iteration space, in powers of two if extents allow it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mlc.dialects.poly import TiledLoop
from mlc.dialects.semantics.dims import Dim, DimLike, evaluate
from mlc.passes.assumed_extents import SCHEDULED
from mlc.passes.schedule.gpu.part_numbers import PART
from mlc.passes.schedule.polyhedral.statement_view import StatementView
from mlc.target import GpuTarget
from mlc.target.heuristics import GpuHeuristics


def padded(extent: int) -> int:
    """Return the least power of two that is at least ``extent``: threads are distributed in powers of two."""
    return int(2 ** max(extent - 1, 0).bit_length())


def points(extents: Sequence[DimLike]) -> int:
    """Return the product of extents. For a symbolic extent its symbols count as SCHEDULED, and the extent as at most
    SCHEDULED."""
    return math.prod(e if isinstance(e, int) else _assumed(e) for e in extents)


def _assumed(extent: Dim) -> int:
    """Return the assumed points of a symbolic extent; if it depends on the part, those of the first part."""
    found = evaluate(extent, dict.fromkeys(extent.symbols(), SCHEDULED) | {PART: 0})
    assert isinstance(found, int)
    return min(max(found, 1), SCHEDULED)


def lanes_of(s: StatementView) -> str:
    """Return the axis of neighbouring threads: the contiguous axis of the result, or else the innermost one."""
    return next((i for i in reversed(s.parallel) if s.write.stride(i) == 1), s.parallel[-1])


def tile_of(name: str, extent: DimLike, size: int, lanes: bool = False) -> TiledLoop:
    """Return a loop in padded tiles of at most ``size`` points."""
    size = min(size, max(extent, 1)) if isinstance(extent, int) else size
    if size == 1 and not lanes:
        return TiledLoop(name)
    return TiledLoop(name, ((size, None),), vectorized=lanes, padded=True)


def spread(
    names: Sequence[str],
    bounds: dict[str, DimLike],
    lanes: str,
    budget: int,
    heuristics: GpuHeuristics,
    divide: bool = False,
    widest: int | None = None,
) -> tuple[TiledLoop, ...]:
    """Return loops for a tile of about ``budget`` points: whole lanes first, then the axes before them, innermost
    first.

    ``names`` is the band, outermost first; the lanes come last in the band. With ``divide``, tiles of the other axes
    divide extents that a power of two of at least ``window_rows`` divides, so that no access needs a condition. At most
    ``widest`` points are along the lanes.
    """
    vector = tile_of(lanes, bounds[lanes], min(budget, widest or budget), lanes=True)
    left = budget // padded(vector.size)
    items: list[TiledLoop] = []
    for name in reversed([n for n in names if n != lanes]):
        extent = bounds[name]
        most = left if isinstance(extent, int) else min(left, heuristics.open_points)
        if divide and isinstance(extent, int) and (power := extent & -extent) >= heuristics.window_rows:
            most = min(most, power)
        item = tile_of(name, extent, most)
        left //= padded(item.size)
        items.insert(0, item)
    return (*items, vector)


def budget_of(extents: Sequence[DimLike], target: GpuTarget, most: int) -> int:
    """Return the points of a tile: ``most`` for each thread, or fewer if there would not be tiles for all
    multiprocessors."""
    each = points(extents) // target.tasks()
    return target.block_threads * max(1, min(most, int(2 ** (max(each // target.block_threads, 1).bit_length() - 1))))
