"""Tile sizes of a thread block: an even share of the iteration space, in powers of two where extents allow it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mlc.dialects.poly import TiledLoop
from mlc.dialects.semantics.dims import Dim, DimLike, evaluate
from mlc.passes.assumed_extents import SCHEDULED
from mlc.passes.schedule.gpu.part_numbers import PART
from mlc.passes.schedule.polyhedral.statement_view import StatementView
from mlc.target import GpuTarget

ROWS = 4  # of an image that a thread has, whose windows share loads
OPEN = 8  # points of a tile along an axis of a symbolic extent, which may have one


def padded(extent: int) -> int:
    """The power of two that holds an extent: threads are distributed in powers of two."""
    return int(2 ** max(extent - 1, 0).bit_length())


def points(extents: Sequence[DimLike]) -> int:
    """The product of extents; of a symbolic one its symbols count as SCHEDULED, and at most so many points."""
    return math.prod(e if isinstance(e, int) else _assumed(e) for e in extents)


def _assumed(extent: Dim) -> int:
    """The points of an extent, which is that of the first part where parts differ."""
    found = evaluate(extent, dict.fromkeys(extent.symbols(), SCHEDULED) | {PART: 0})
    assert isinstance(found, int)
    return min(max(found, 1), SCHEDULED)


def lanes_of(s: StatementView) -> str:
    """The axis of neighbouring threads: the contiguous one of the result, else the innermost."""
    return next((i for i in reversed(s.parallel) if s.write.stride(i) == 1), s.parallel[-1])


def tile_of(name: str, extent: DimLike, size: int, lanes: bool = False) -> TiledLoop:
    """A loop in padded tiles of at most ``size`` points."""
    size = min(size, max(extent, 1)) if isinstance(extent, int) else size
    if size == 1 and not lanes:
        return TiledLoop(name)
    return TiledLoop(name, ((size, None),), vectorized=lanes, padded=True)


def spread(
    names: Sequence[str],
    bounds: dict[str, DimLike],
    lanes: str,
    budget: int,
    divide: bool = False,
    widest: int | None = None,
) -> tuple[TiledLoop, ...]:
    """A tile of about ``budget`` points: whole lanes first, then the axes before them, innermost first.

    ``names`` is the band, outermost first; the lanes come last in the band. With ``divide`` tiles of the other axes
    divide their extents where powers of two from ``ROWS`` on do, so that no access needs a condition. At most
    ``widest`` points are along the lanes.
    """
    vector = tile_of(lanes, bounds[lanes], min(budget, widest or budget), lanes=True)
    left = budget // padded(vector.size)
    items: list[TiledLoop] = []
    for name in reversed([n for n in names if n != lanes]):
        extent = bounds[name]
        most = left if isinstance(extent, int) else min(left, OPEN)
        if divide and isinstance(extent, int) and (power := extent & -extent) >= ROWS:
            most = min(most, power)
        item = tile_of(name, extent, most)
        left //= padded(item.size)
        items.insert(0, item)
    return (*items, vector)


def budget_of(extents: Sequence[DimLike], target: GpuTarget, most: int) -> int:
    """Points of a tile: ``most`` a thread, or fewer where tiles for all multiprocessors would be smaller."""
    each = points(extents) // target.tasks()
    return target.block_threads * max(1, min(most, int(2 ** (max(each // target.block_threads, 1).bit_length() - 1))))
