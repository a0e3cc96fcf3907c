"""Padded blocks: the last block of an iterator may be partly beyond its extent, as in ``m@64pt`` and ``n@64ps``.

Rows beyond the extent are computed from operands that are 0, and are not written. The terms that a stream combines
along an iterator are the identity beyond its extent (``masked_beyond``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mlc.dialects.poly import LoopNest, Partition, ScheduleError
from mlc.passes.schedule.polyhedral.isl_text import Params
from mlc.passes.schedule.polyhedral.statement_view import StatementView
from mlc.passes.tile.tree.segments import Segment


def begins_inside(
    nest: LoopNest, levels: Sequence[tuple[str, str, Segment]], s: StatementView, params: Params
) -> Iterator[str]:
    """Yield conditions, over the coordinates of tiles, by which a tile begins inside the extents of iterators in padded
    blocks."""
    for split in (each for each in nest.tiled_blocks.values() if each.points and each.tiled):
        own = [(coordinate, segment) for i, coordinate, segment in levels if i == split.iterator]
        first = [f"{params.text(segment.start)} + {segment.size}*{coordinate}" for coordinate, segment in own]
        yield f"{' + '.join(first)} < {params.text(s.bounds[split.iterator])}"


def check_stream(nest: LoopNest, split: Partition, statements: Mapping[str, StatementView]) -> None:
    """Raise ScheduleError if the tiles or vectors of a padded block of a stream are not equal parts of it: only the
    loop of a sum can end with the extent."""
    item = next(i for i in (*nest.band, *nest.inner) if i.iterator == split.iterator)
    whole = item.size > 1 and len(item.sizes) == 1 and item.sizes[0][1] is None and split.points % item.size == 0
    sums = item in nest.inner and all(split.iterator in statements[s].reduced for s in nest.statements)
    if not whole and (item.vectorized or not sums):
        raise ScheduleError(f"'{nest}': {item} must be equal tiles of {split}, of several points each")
