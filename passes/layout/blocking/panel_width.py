"""Panel width: how many columns a panel of a packed right operand has, given the product's shape and the stride between
the rows of the left operand; how many rows a panel of a packed left operand has."""

from __future__ import annotations

from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.types import Shape
from mlc.target import CpuTarget


def panel_width(shape: tuple[DimLike, DimLike, int], stride: DimLike, target: CpuTarget) -> int:
    """Return the columns of a panel for a product M x K x N. ``stride``: bytes between rows of the left operand. A
    panel is wide only if that adds little padding."""
    rows, terms, columns = shape
    usual = 2 * target.lanes
    block, long = _wide(target) if _conflicts(stride, target) else usual, 2 * usual
    small = isinstance(terms, int) and terms * columns <= target.products_in_a_barrier
    if few_rows(rows, target) and columns >= (1 if small else target.tasks(2)) * long:
        block = max(block, long)
    return block if -columns % block * 8 <= columns else usual


def _wide(target: CpuTarget) -> int:
    """Return the columns of a panel if rows of the left operand conflict in the L1 cache. With few registers the width
    is the usual one, because register tiles have few rows anyway."""
    return (4 if target.vector_registers > 16 else 2) * target.lanes


def panel_rows(shape: Shape, columns: int, size: int, target: CpuTarget) -> int:
    """Return the rows of a panel of the left operand [K, M], those of a register tile with panels of ``columns``
    elements of ``size`` bytes; 0: it stays as it is.

    A tile reads a line of each of the K rows in memory, and uses its own elements alone. Where they are less than half
    of it, several tiles read each line; of a sum whose lines L1 does not hold, each of them reads it from L2 or L3.
    """
    terms, rows = shape
    if not isinstance(terms, int) or not isinstance(rows, int) or terms * target.l1.line <= target.l1.size:
        return 0
    vectors = -(-8 * columns * size // target.vector_bits)
    most = max((n for n in range(1, target.vector_registers) if target.fits(n, vectors)), default=0)
    several = 2 * most * size <= target.l1.line
    return next((n for n in range(most, most // 2, -1) if several and rows % n == 0), 0)


def few_rows(rows: DimLike, target: CpuTarget) -> bool:
    """Return whether rows × two vectors are at most half of the sums that a CPU keeps in flight, so that each addition
    waits for the one before."""
    return isinstance(rows, int) and 4 * rows <= target.sums_in_flight


def _conflicts(stride: DimLike, target: CpuTarget) -> bool:
    """Return whether rows at a distance of ``stride`` bytes map to one set of the L1 cache. Then register tiles of few
    rows and wide panels are best (6 x 64 instead of 14 x 32)."""
    return isinstance(stride, int) and stride % target.l1.period == 0
