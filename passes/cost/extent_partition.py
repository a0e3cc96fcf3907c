"""Extent partition: an extent is covered exactly by register-tile sizes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from mlc.dialects.poly import TiledLoop
from mlc.dialects.semantics.dims import DimLike

Sizes = tuple[tuple[int, int | None], ...]


def rows_of(iterator: str, extent: DimLike, best: int, rest: Sequence[int] = ()) -> TiledLoop:
    """Return a loop over rows in tiles of up to ``best`` rows. Tiles of a symbolic extent are padded: one body serves
    all extents and computes a few rows more. ``rest``: sizes of the tiles after those, a body each, where rows cost so
    much that none may be computed in vain; the last is 1."""
    if isinstance(extent, int):
        return TiledLoop(iterator, cover(extent, best))
    if rest and best > 1:
        return TiledLoop(iterator, tuple((size, None) for size in (best, *(n for n in rest if n < best))))
    return TiledLoop(iterator, ((best, None),), padded=best > 1)


def cover(extent: int, best: int) -> Sizes:
    """Return tile sizes of up to ``best`` that cover ``extent`` exactly, with few tiles of similar size (128 by 14 →
    14*4+12*6)."""
    if extent == 0:
        return ((1, 0),)
    if extent <= best:
        return ((extent, 1),)
    return _balanced(extent, best)


@lru_cache
def _balanced(extent: int, best: int) -> Sizes:
    """Return the fewest tiles, of at most two sizes that are as close to each other as possible."""
    tiles = -(-extent // best)
    small, larger = divmod(extent, tiles)
    if not larger:
        return ((small, tiles),)
    for wide in range(best, small, -1):  # the widest size for which the rest divides into equal tiles
        for count in range(tiles - 1, 0, -1):
            rest = extent - wide * count
            if rest > 0 and rest % (tiles - count) == 0 and rest // (tiles - count) <= wide:
                narrow = rest // (tiles - count)
                if narrow >= small - 2:
                    return ((wide, count), (narrow, tiles - count))
    return ((small + 1, larger), (small, tiles - larger))
