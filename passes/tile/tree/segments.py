"""The tiles that cover an extent, as segments of equal tiles."""

from __future__ import annotations

from dataclasses import dataclass

from mlc.dialects.poly import ScheduleError, TiledLoop
from mlc.dialects.semantics.dims import Dim, DimLike, ceildiv, floordiv


@dataclass(frozen=True)
class Segment:
    """``count`` tiles of ``size`` points from ``start``, of which ``valid`` are in the domain: of padded tiles an
    expression of a tile's coordinate."""

    start: DimLike
    count: DimLike
    size: int
    valid: DimLike


def coordinate(iterator: str) -> str:
    """The symbol of a tile's coordinate in its number of valid points."""
    return f"t_{iterator}"


def segments(item: TiledLoop, extent: DimLike) -> list[Segment]:
    """The tiles that cover ``[0, extent)``; raises ScheduleError where the sizes do not."""
    if not isinstance(extent, int) and any(count for _, count in item.sizes):
        message = f"schedule item {item} counts tiles of an extent of {extent}, which may be smaller"
        raise ScheduleError(f"{message}; leave out the counts, as in {item.iterator}/14+4+1")
    if item.padded and extent != 0:
        size = item.size
        whole = isinstance(extent, int) and extent % size == 0
        valid = size if whole else extent - size * Dim.symbol(coordinate(item.iterator))
        return [Segment(0, ceildiv(extent, size), size, valid)]
    out: list[Segment] = []
    start: DimLike = 0
    for size, count in item.sizes:
        n = _whole(extent - start, size) if count is None else count
        if n != 0:
            out.append(Segment(start, n, size, size))
        start = start + n * size
    rest = extent - start
    if rest == 0:
        return out
    if not item.vectorized or (isinstance(rest, int) and rest < 0):
        raise ScheduleError(f"schedule item {item} does not cover an extent of {extent}")
    if isinstance(rest, int):
        return [*out, Segment(start, 1, rest, rest)]
    last = item.sizes[-1][0]
    return [*out, Segment(start, ceildiv(rest, last), last, rest)]


def _whole(extent: DimLike, size: int) -> DimLike:
    """How many tiles fit; 0 where the segments before reach past the end."""
    return max(extent // size, 0) if isinstance(extent, int) else floordiv(extent, size)
