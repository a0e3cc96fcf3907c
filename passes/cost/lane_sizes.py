"""Tile sizes along the vectorized axis."""

from __future__ import annotations

import math

from mlc.dialects.semantics.dims import DimLike
from mlc.passes.cost.extent_partition import Sizes
from mlc.passes.schedule.polyhedral.statement_view import StatementView
from mlc.target import CpuTarget


def lane_sizes(extent: DimLike, width: int, lanes: int) -> Sizes:
    """Return whole tiles of ``width`` lanes and one partial tile for the rest. For a symbolic extent the rest is in
    tiles of ``lanes`` lanes, whose body is shorter."""
    if not isinstance(extent, int):
        return ((width, None), (lanes, None)) if width > lanes else ((width, None),)
    return ((min(width, extent) if extent else width, None),)


def long_run(s: StatementView, lanes: str, target: CpuTarget) -> int:
    """Return the vectors in a tile of a long reduction without reuse between rows. These are as many as registers
    allow, so that long contiguous pieces are read, while enough tasks remain for all threads."""
    extent = s.bounds[lanes]
    if not isinstance(extent, int):
        return 2
    vectors = target.vector_registers // 2
    others = (s.bounds[i] for i in s.parallel if i != lanes)
    tasks = math.prod(n for n in others if isinstance(n, int)) * extent / target.lanes
    while vectors > 2 and tasks < target.threads * vectors:
        vectors //= 2
    return min(vectors, max(1, -(-extent // target.lanes)))
