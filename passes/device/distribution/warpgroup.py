"""Products of warpgroups (wgmma of sm_90a): the layouts of operands in shared memory, and the distribution of the
sums.

PTX ISA 8.5, "Asynchronous warpgroup level matrix shared memory layout" and "register fragments for wgmma.mma_async": a
warpgroup is four warps, of which each has 16 of 64 rows of sums, as fragments of m16n8 side by side. Operands are read
from shared memory in one of two layouts, of which the second is that of halves only:

    neighbours along the sum    rows of the tile, each of 32, 64 or 128 bytes
    neighbours across it        blocks of 64 elements (128 bytes), a row a step; then the next block

In both, bits 4 to 6 of an address are swizzled by the exclusive or with bits 7 to 9, as many as a row has chunks for.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.kernel.linear_layout import Coordinate, LinearLayout, bits_of

WARPS, ROWS = 4, 64  # of a warpgroup, and of its sums
BLOCK = 64  # elements of 16 bits in 128 bytes
CHUNK = 16  # bytes that a swizzle moves together
PHASE = 3  # from a chunk's bits to those that swizzle them


def operand_layout(extent: int, steps: int, across: bool, itemsize: int) -> LinearLayout:
    """Return the offset of each element of an operand, in row-major order: (extent, steps), or (steps, extent) with
    neighbours ``across`` the sum."""
    if across:
        block = [1 << n for n in range(bits_of(BLOCK))]
        outer = [1 << bits_of(BLOCK * steps) + n for n in range(bits_of(extent // BLOCK))]
        rows = [1 << bits_of(BLOCK) + n for n in range(bits_of(steps))]
        bits = [*block, *outer, *rows]
    else:
        bits = [1 << n for n in range(bits_of(extent * steps))]
    chunk = CHUNK // itemsize
    chunks = bits_of((BLOCK if across else steps) // chunk)
    return LinearLayout.of((extent * steps,), offset=[(_swizzled(place, bits_of(chunk), chunks),) for place in bits])


def _swizzled(place: int, chunk: int, chunks: int) -> int:
    """Return a bit of an offset together with the bit of the chunk (of 2^chunk elements) that it changes."""
    swizzling = range(chunk + PHASE, chunk + PHASE + chunks)
    return place ^ place >> PHASE if bits_of(place) in swizzling else place


def sums_of_warpgroups(shape: tuple[int, int], warps: Sequence[int]) -> LinearLayout:
    """Return the distribution of a tile of sums. Four warps have 64 rows; groups of four warps, given as a grid of
    (rows, columns) or a number, get the outer bits of the rows, then of the columns."""
    rows = [(1 << n, 0) for n in range(bits_of(ROWS), bits_of(shape[0]))]
    columns = [(0, 1 << n) for n in range(3, bits_of(shape[1]))]
    across: list[Coordinate] = [(16, 0), (32, 0)]
    along_rows = bits_of(warps[0] // WARPS)
    if len(warps) == 1:
        counts = (min(along_rows, len(rows)), along_rows - min(along_rows, len(rows)))
    else:
        counts = (along_rows, bits_of(warps[1]))
    for bits, count in zip((rows, columns), counts, strict=True):
        across += [bits.pop() for _ in range(count)]
    lanes = [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]
    return LinearLayout.of(shape, register=[(0, 1), (8, 0), *columns, *rows], lane=lanes, warp=across)


def columns_of(shape: tuple[int, int], warps: Sequence[int]) -> int | None:
    """Return the columns of one warpgroup's sums; None if the tile does not consist of whole parts of warpgroups."""
    groups = bits_of(warps[0] // WARPS) if warps[0] % WARPS == 0 else -1
    if groups < 0 or any(n & (n - 1) for n in shape) or shape[0] < ROWS:
        return None
    free = bits_of(shape[0] // ROWS)
    if len(warps) == 2:
        return shape[1] // warps[1] if groups <= free else None
    return shape[1] >> max(groups - free, 0)
