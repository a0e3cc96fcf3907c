"""The width of a panel of a packed right operand, from the shape of the product and the strides of the left one."""

from __future__ import annotations

from mlc.dialects.semantics.dims import DimLike
from mlc.target import CpuTarget


def panel_width(shape: tuple[DimLike, DimLike, int], stride: DimLike, target: CpuTarget) -> int:
    """Columns of a panel of a product M x K x N, with ``stride`` bytes between the rows of the left operand. Wide
    panels are chosen where they add little padding."""
    rows, terms, columns = shape
    usual = 2 * target.lanes
    block, long = _wide(target) if _conflicts(stride, target) else usual, 2 * usual
    small = isinstance(terms, int) and terms * columns <= target.products_in_a_barrier
    if few_rows(rows, target) and columns >= (1 if small else target.tasks(2)) * long:
        block = max(block, long)
    return block if -columns % block * 8 <= columns else usual


def _wide(target: CpuTarget) -> int:
    """Columns of a panel where the rows of the left operand conflict in the L1 cache; with few registers, as without
    conflicts, because register tiles have few rows anyway."""
    return (4 if target.vector_registers > 16 else 2) * target.lanes


def few_rows(rows: DimLike, target: CpuTarget) -> bool:
    """Whether rows × two vectors are at most half of the sums that a CPU keeps in flight: each addition then waits for
    the previous one."""
    return isinstance(rows, int) and 4 * rows <= target.sums_in_flight


def _conflicts(stride: DimLike, target: CpuTarget) -> bool:
    """Whether rows at a distance of ``stride`` bytes fall into one set of the L1 cache. Register tiles of few rows and
    wide panels are then best (6 x 64 instead of 14 x 32)."""
    return isinstance(stride, int) and stride % target.l1.period == 0
