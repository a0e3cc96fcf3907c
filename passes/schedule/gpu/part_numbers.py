"""Numbers of parts in schedules: they are written as blocks of the iterator ``part``, as in ``part@8 part m/64p
n/64vp``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mlc.dialects import kernel
from mlc.dialects.poly import LoopNest, Partition, ScheduleAttr
from mlc.dialects.semantics.dims import DimLike
from mlc.passes.schedule.polyhedral.statement_view import statements_of

PART = "part"
"""The iterator over the parts."""
PARTS_SUFFIX = "_parts"
"""The suffix of the name and of the digest of the kernel that computes the parts."""


def number_of_parts(nests: Sequence[LoopNest]) -> int | None:
    """Return the number of parts that a schedule gives; None if it gives none."""
    return next((p.blocks for nest in nests for p in nest.partitions if p.iterator == PART), None)


def has_parts(nests: Sequence[LoopNest]) -> bool:
    """Return whether a schedule is for the kernel of the parts, or for the kernel that combines them."""
    loops = (item for nest in nests for item in (*nest.band, *nest.inner))
    return number_of_parts(nests) is not None or any(item.iterator == PART for item in loops)


def with_number(schedule: ScheduleAttr, fn: kernel.FuncOp) -> ScheduleAttr:
    """Return the schedule with the number of parts if the kernel computes parts, as blocks of one part each, so that
    the text has all that a user needs to get the same kernels."""
    if not fn.sym_name.data.endswith(PARTS_SUFFIX):
        return schedule
    bounds = {i: n for s in statements_of(fn) for i, n in s.bounds.items()}
    return ScheduleAttr([_with_number(nest, bounds.get(PART)) for nest in schedule.data])


def _with_number(nest: LoopNest, parts: DimLike | None) -> LoopNest:
    single = any(str(item) == PART for item in nest.band)
    if not single or not isinstance(parts, int) or nest.partitions:
        return nest
    return replace(nest, partitions=(Partition(PART, parts),))
