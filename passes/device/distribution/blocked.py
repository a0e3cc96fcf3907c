"""Blocked distributions: neighbouring threads get elements of a tile that are neighbours in memory (coalescing)."""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.kernel.linear_layout import Coordinate, LinearLayout, bits_of


def blocked(
    shape: Sequence[int], order: Sequence[int], warps: int, warp: int, own: int | None = None, together: int = 1
) -> LinearLayout:
    """Return a distribution of a tile of extents ``shape``, powers of two, over ``warps`` warps of ``warp`` threads.
    ``order``: the axes, the fastest first.

    Lanes get the fastest axes, warps the slowest bits, and registers the bits between, so that a thread has neighbours.
    A thread's neighbours are along axis ``own`` if it is given. ``together`` neighbours along the fastest axis belong
    to one thread, if each lane has so many. Threads without elements of their own hold those of others: their bases are
    0.

    ``blocked((64, 64), (1, 0), 8, 32)``: lanes along 32 columns, each warp 8 rows, 8 × 2 registers a thread.
    """
    bits = [_unit(shape, axis, n) for axis in order for n in range(bits_of(shape[axis]))]
    first = bits_of(together) if len(bits) >= bits_of(together * warp) else 0
    near, bits = bits[:first], bits[first:]
    lanes, rest = _taken(bits, bits_of(warp), shape)
    if own is not None:
        rest.sort(key=lambda bit: not bit[own])
    across, _ = _taken(rest[len(rest) - min(len(rest), bits_of(warps)) :], bits_of(warps), shape)
    registers = [*near, *(b for b in rest if b not in across)]
    return LinearLayout.of(shape, register=registers, lane=lanes, warp=across)


def _unit(shape: Sequence[int], axis: int, bit: int) -> Coordinate:
    return tuple(1 << bit if n == axis else 0 for n in range(len(shape)))


def _taken(bits: Sequence[Coordinate], count: int, shape: Sequence[int]) -> tuple[list[Coordinate], list[Coordinate]]:
    """Return the first ``count`` bases, padded with zeros, and the others."""
    zero = (0,) * len(shape)
    taken = list(bits[:count])
    return [*taken, *[zero] * (count - len(taken))], list(bits[count:])
