"""Segments: the tiles that cover an extent, as runs of equal tiles."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mlc.dialects.poly import Partition, ScheduleError, TiledLoop, block_of
from mlc.dialects.semantics.dims import Dim, DimLike, ceildiv, floordiv


@dataclass(frozen=True)
class Segment:
    """A run of ``count`` tiles of ``size`` points from ``start`` on. ``valid``: how many points of a tile are in the
    domain; for padded tiles an expression of the tile's coordinate."""

    start: DimLike
    count: DimLike
    size: int
    valid: DimLike


@dataclass(frozen=True)
class Blocks:
    """The blocks of a partition that have one size and the same tiles, from block number ``first`` on."""

    split: Partition
    first: int
    segment: Segment

    @property
    def number(self) -> str:
        """The number of a block, as an expression of its coordinate."""
        name = block_of(self.split.iterator)
        return f"{self.first} + {name}" if self.first else name


def blocks_of(split: Partition, extent: DimLike) -> list[Blocks]:
    """Return the blocks of ``[0, extent)``, which are equal except for the last one, which may be smaller. Raises
    ScheduleError if there are no such blocks."""
    if size := split.points:
        valid = extent - size * Dim.symbol(coordinate(split.iterator))
        return [Blocks(split, 0, Segment(0, ceildiv(extent, size), size, valid))]
    if isinstance(extent, int) and extent >= split.blocks:
        size = -(-extent // split.blocks)
        whole, rest = divmod(extent, size)
        if whole + bool(rest) == split.blocks:
            last = [Blocks(split, whole, Segment(whole * size, 1, rest, rest))] if rest else []
            return [Blocks(split, 0, Segment(0, whole, size, size)), *last]
    name = split.iterator
    raise ScheduleError(f"{split} needs equal blocks, of which the last may be smaller, and {name} has {extent} points")


def coordinate(iterator: str) -> str:
    """Return the symbol for a tile's coordinate in its number of valid points."""
    return f"t_{iterator}"


def fitting(item: TiledLoop, extent: int) -> TiledLoop:
    """Return the tiles of a loop for a smaller extent: those that fit, then one tile of the rest. ``m/14*3+8`` for 40
    points is ``m/14*2+8+4``."""
    sizes: list[tuple[int, int | None]] = []
    for size, count in item.sizes:
        n = extent // size if count is None else min(count, extent // size)
        sizes += [(size, n)] if n else []
        extent -= n * size
    return replace(item, sizes=(*sizes, *([(extent, 1)] if extent and not item.vectorized else ())))


def segments(item: TiledLoop, extent: DimLike) -> list[Segment]:
    """Return the tiles that cover ``[0, extent)``. Raises ScheduleError if the sizes do not cover it."""
    if not isinstance(extent, int) and any(count for _, count in item.sizes):
        message = f"schedule item {item} counts tiles of an extent of {extent}, which may be smaller"
        raise ScheduleError(f"{message}; leave out the counts, as in {item.iterator}/14+4+1")
    last = item.sizes[-1][0] if item.sizes else 0  # of an extent of 0 there is no tile
    out: list[Segment] = []
    start: DimLike = 0
    padded = extent != 0 if item.padded else item.vectorized and len(item.sizes) > 1 and not isinstance(extent, int)
    for size, count in item.sizes[:-1] if padded else item.sizes:
        n = _tiles_that_fit(extent - start, size) if count is None else count
        if n != 0:
            out.append(Segment(start, n, size, size))
        start = start + n * size
    rest = extent - start
    if rest == 0:
        return out
    if padded:
        return [*out, _padded(item.iterator, start, rest, last)]
    if not item.vectorized or (isinstance(rest, int) and rest < 0):
        raise ScheduleError(f"schedule item {item} does not cover an extent of {extent}")
    if isinstance(rest, int):
        return [*out, Segment(start, 1, rest, rest)]
    return [*out, Segment(start, ceildiv(rest, last), last, rest)]


def covers(tiles: Sequence[Segment], extent: DimLike) -> bool:
    """Return whether it is known that each point of ``[0, extent)`` is in exactly one tile."""
    starts = itertools.accumulate((s.count * s.size for s in tiles), initial=0)
    if any(s.start != start for s, start in zip(tiles, starts, strict=False)):
        return False
    return tiles[-1].count == ceildiv(extent - tiles[-1].start, tiles[-1].size) if tiles else extent == 0


def _padded(iterator: str, start: DimLike, extent: DimLike, size: int) -> Segment:
    """Return tiles of one size from ``start`` on, the last of which may be partly beyond the extent."""
    whole = isinstance(extent, int) and extent % size == 0
    valid = size if whole else extent - size * Dim.symbol(coordinate(iterator))
    return Segment(start, ceildiv(extent, size), size, valid)


def _tiles_that_fit(extent: DimLike, size: int) -> DimLike:
    """Return how many tiles fit; 0 if the segments before reach past the end."""
    return max(extent // size, 0) if isinstance(extent, int) else floordiv(extent, size)
