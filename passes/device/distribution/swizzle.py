"""Swizzles: layouts of local arrays in shared memory in which the rows of 16 bytes that a warp reads are in different
banks.

A swizzle is a linear layout from the offset of an element in row-major order to its place: 16-byte chunks of a row are
permuted by the exclusive or with bits of the row's number (CUTLASS: ``Swizzle<B, M, S>``). Shared memory has 32 banks
of 4 bytes, so eight chunks are read at a time where they differ in the three bits above the chunk's.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.kernel.linear_layout import LinearLayout, bits_of

CHUNK = 16  # bytes that a lane reads at a time
PHASE = 3  # bits of the chunks that all banks hold


def swizzled(rows: int, columns: int, itemsize: int) -> LinearLayout:
    """Return the swizzle of an array of rows × columns, powers of two: eight chunks of neighbouring rows, in any
    column, use all banks.

    ``swizzled(8, 64, 2)``: chunk c of row r is at chunk ``c ^ r``.
    """
    chunk = bits_of(CHUNK // itemsize)
    width = max(bits_of(columns) - chunk, 0)  # bits of the chunks of a row
    offsets = [1 << b for b in range(bits_of(rows * columns))]
    for b in range(min(PHASE, width)):
        row = chunk + max(PHASE, width) + b
        if row < len(offsets):
            offsets[row] ^= 1 << chunk + b
    return LinearLayout.of((rows * columns,), offset=[(place,) for place in offsets])


def placed(coordinates: LinearLayout, strides: Sequence[int], layout: LinearLayout) -> LinearLayout:
    """Return the offsets of the elements of a layout of coordinates in a local array: offsets by ``strides`` (0 or
    powers of two, whose bits do not overlap), then the array's layout."""
    weights = LinearLayout.of(
        layout.shape,
        **{
            f"x{n}": [(stride << b,) for b in range(bits_of(extent))]
            for n, (extent, stride) in enumerate(zip(coordinates.shape, strides, strict=True))
        },
    )
    offsets = coordinates.compose(weights, weights.names)
    return offsets.compose(layout, ("offset",))
