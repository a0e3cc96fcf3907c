"""Extent partition: covering an extent exactly by register-tile sizes."""

from __future__ import annotations

from functools import lru_cache

from mlc.dialects.semantics.dims import DimLike

Sizes = tuple[tuple[int, int | None], ...]


def cover(extent: DimLike, best: int) -> Sizes:
    """Tile sizes up to ``best`` that cover ``extent`` exactly: few tiles of similar size (128 by 14 → 14*4+12*6).

    A symbolic extent is covered greedily by a descending sequence of sizes.
    """
    if not isinstance(extent, int):
        chain = [best] + [s for s in (4, 2, 1) if s < best]
        return tuple((s, None) for s in chain)
    if extent == 0:
        return ((1, 0),)
    if extent <= best:
        return ((extent, 1),)
    return _balanced(extent, best)


@lru_cache
def _balanced(extent: int, best: int) -> Sizes:
    """The fewest tiles, of at most two sizes as close to each other as possible."""
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
