"""How much of the axis that the lanes run along a tile takes."""

from __future__ import annotations

import math

from mlc.dialects.dims import DimLike
from mlc.passes.schedule.cover import Sizes
from mlc.passes.schedule.machine import Machine
from mlc.passes.schedule.view import StatementView

TASKS = 4  # that a reduction is divided into


def lane_sizes(extent: DimLike, width: int) -> Sizes:
    """Whole tiles of ``width`` lanes; what is left becomes one partial tile."""
    return ((min(width, extent) if isinstance(extent, int) and extent else width, None),)


def long_run(s: StatementView, lanes: str, machine: Machine) -> int:
    """Vectors of a long reduction that shares nothing between rows: as much of a row of memory at a time as registers
    hold, as far as that leaves tasks enough."""
    extent = s.bounds[lanes]
    if not isinstance(extent, int):
        return 2
    vectors = machine.registers // 2
    others = (s.bounds[i] for i in s.parallel if i != lanes)
    tasks = math.prod(n for n in others if isinstance(n, int)) * extent / machine.lanes
    while vectors > 2 and tasks < TASKS * vectors:
        vectors //= 2
    return min(vectors, max(1, -(-extent // machine.lanes)))
