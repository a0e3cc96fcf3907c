"""The choice of a tile's distribution: neighbouring threads get neighbouring elements in memory (coalescing)."""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.kernel import FRAGMENT
from mlc.passes.device.distribution.linear_layout import Coordinate, LinearLayout, bits_of


def blocked(shape: Sequence[int], order: Sequence[int], warps: int, warp: int) -> LinearLayout:
    """A tile of extents ``shape``, powers of two, over ``warps`` warps of ``warp`` threads; axes of ``order`` fastest
    first.

    Lanes take the fastest axes, warps the slowest bits, registers what is between: neighbours of a thread. Threads that
    have no element of their own hold those of others: their bases are 0.

    ``blocked((64, 64), (1, 0), 8, 32)``: lanes along 32 columns, each warp 8 rows, 8 × 2 registers a thread.
    """
    bits = [_unit(shape, axis, n) for axis in order for n in range(bits_of(shape[axis]))]
    lanes, rest = _taken(bits, bits_of(warp), shape)
    across, _ = _taken(rest[len(rest) - min(len(rest), bits_of(warps)) :], bits_of(warps), shape)
    registers = [b for b in rest if b not in across]
    return LinearLayout.of(shape, register=registers, lane=lanes, warp=across)


def fragments(shape: tuple[int, int], warps: Sequence[int]) -> LinearLayout:
    """The distribution of the result of ``kernel.mma``: fragments of 16 × 8, of which a thread holds two neighbours in
    each half (PTX ISA, matrix fragments for mma.m16n8k8). Warps, a grid of (rows, columns), take the outer bits; a
    number of warps takes those of columns and rows in turn.

    ``fragments((128, 128), (8,))``: each of 2 × 4 warps has 64 × 32 elements, a thread 64.
    """
    rows, columns, _ = FRAGMENT
    m = [(2**b, 0) for b in range(bits_of(rows), bits_of(shape[0]))]
    n = [(0, 2**b) for b in range(bits_of(columns), bits_of(shape[1]))]
    across: list[Coordinate] = []
    for _ in range(bits_of(warps[0]) if len(warps) == 1 else 0):
        across.append((n if len(n) >= len(m) else m).pop())
    for bits, count in zip((m, n), warps if len(warps) == 2 else (), strict=False):
        across += [bits.pop() for _ in range(bits_of(count))]
    lanes = [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]
    return LinearLayout.of(shape, register=[(0, 1), (8, 0), *n, *m], lane=lanes, warp=across)


def _unit(shape: Sequence[int], axis: int, bit: int) -> Coordinate:
    return tuple(1 << bit if n == axis else 0 for n in range(len(shape)))


def _taken(bits: Sequence[Coordinate], count: int, shape: Sequence[int]) -> tuple[list[Coordinate], list[Coordinate]]:
    """The first ``count`` bases, padded by zeros, and the others."""
    zero = (0,) * len(shape)
    taken = list(bits[:count])
    return [*taken, *[zero] * (count - len(taken))], list(bits[count:])
