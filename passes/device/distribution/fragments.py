"""Fragments: the linear layouts of the matrices that a warp's registers hold for a product of tensor cores.

PTX ISA 8.5, "Matrix Fragments for mma.m16n8k8", "… .m16n8k16", "… .m16n8k32": lane 4 g + t is member t of group g. A
register has p neighbours along the sum (1 of TF32, 2 halves, 4 bytes). All three shapes have one form:

    left    (k, m):  register r, element e  →  k = p t + e + 4 p (r >> 1),  m = g + 8 (r & 1)
    right   (k, n):  register r, element e  →  k = p t + e + 4 p r,         n = g
    sums    (m, n):  register r             →  m = g + 8 (r >> 1),          n = 2 t + (r & 1)

``ldmatrix`` loads matrices of 8 rows of 16 bytes into one register each: lane 8 i + j gives the address of row j of
matrix i. Row j is j along m or n, and has 4 p neighbours along the sum; with .trans (halves) it is j along the sum.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.kernel import MmaShape
from mlc.dialects.kernel.linear_layout import Coordinate, LinearLayout, bits_of

GROUP: tuple[Coordinate, ...] = ((0, 1), (0, 2), (0, 4))  # bits of g along the rows or columns of a factor
LANES = 5  # bits of a lane


def sums(shape: tuple[int, int], warps: Sequence[int], mma: MmaShape) -> LinearLayout:
    """Return the distribution of a tile that ``kernel.mma`` computes. Warps, a grid of (rows, columns), get the outer
    bits; a single number of warps takes bits of columns and rows alternately.

    ``sums((128, 128), (8,), …)``: each of 2 × 4 warps has 64 × 32 elements, a thread 64.
    """
    m = [(2**b, 0) for b in range(bits_of(mma.rows), bits_of(shape[0]))]
    n = [(0, 2**b) for b in range(bits_of(mma.columns), bits_of(shape[1]))]
    across: list[Coordinate] = []
    for _ in range(bits_of(warps[0]) if len(warps) == 1 else 0):
        across.append((n if len(n) >= len(m) else m).pop())
    for bits, count in zip((m, n), warps if len(warps) == 2 else (), strict=False):
        across += [bits.pop() for _ in range(bits_of(count))]
    lanes = [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]
    return LinearLayout.of(shape, register=[(0, 1), (8, 0), *n, *m], lane=lanes, warp=across)


def factor(mma: MmaShape, left: bool, pair: bool = False) -> LinearLayout:
    """Return the layout of a fragment of a factor, with coordinates (k, m) or (k, n). ``pair``: two right fragments
    side by side."""
    p, upper = mma.packed, (4 * mma.packed, 0)
    registers = [(0, 8), upper] if left else [upper, *([(0, 8)] if pair else [])]
    elements = [(1 << b, 0) for b in range(bits_of(p))]
    wide = mma.rows if left else mma.columns * (2 if pair else 1)
    return LinearLayout.of((mma.steps, wide), element=elements, register=registers, lane=[(p, 0), (2 * p, 0), *GROUP])


def matrix_rows(fragment: LinearLayout, transposed: bool) -> LinearLayout:
    """Return the coordinates at which the row begins whose address a lane gives to ``ldmatrix``."""
    rows = ((1, 0), (2, 0), (4, 0)) if transposed else GROUP
    lanes = [*rows, *fragment.of_input("register")]
    return LinearLayout.of(fragment.shape, lane=[*lanes, *[(0, 0)] * (LANES - len(lanes))])
