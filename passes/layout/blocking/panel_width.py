"""Panel width: how many columns a panel of a packed right operand has, given the product's shape and the stride between
the rows of the left operand."""

from __future__ import annotations

from mlc.dialects.semantics.dims import DimLike
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


def few_rows(rows: DimLike, target: CpuTarget) -> bool:
    """Return whether rows × two vectors are at most half of the sums that a CPU keeps in flight, so that each addition
    waits for the one before."""
    return isinstance(rows, int) and 4 * rows <= target.sums_in_flight


def _conflicts(stride: DimLike, target: CpuTarget) -> bool:
    """Return whether rows at a distance of ``stride`` bytes map to one set of the L1 cache. Then register tiles of few
    rows and wide panels are best (6 x 64 instead of 14 x 32)."""
    return isinstance(stride, int) and stride % target.l1.period == 0
