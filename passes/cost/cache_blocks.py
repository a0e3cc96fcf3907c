"""Blocks of a product for the caches: rows × columns whose sums stay in L2 while blocks of terms pass, one after
another (Goto and van de Geijn, Anatomy of high-performance matrix multiplication, 2008).

In a block of terms, a panel of the right operand stays in L1, and the left operand's block and the sums in L2. Without
blocks a tile reads a panel of all terms from L2 or L3 in each of its steps.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from mlc.target import CpuTarget

FLOAT = 4  # bytes
SHARE = 3 / 4  # of L2, for a block's operands and sums: the next ones arrive meanwhile
TILES = 4  # of rows that read a panel, at least: otherwise little is read again


@dataclass(frozen=True)
class Product:
    """A product of ``terms`` terms in blocks of ``block`` terms. ``outer``: how many such products there are; ``rows``
    × ``inner_rows``: rows of the left operand, of which the first ones can be cut; ``panels`` of ``width`` columns;
    ``reads``: elements of the left operand for each row, those that rows share counted once; ``tile``: rows and panels
    of a register tile."""

    outer: int
    rows: int
    inner_rows: int
    panels: int
    width: int
    terms: int
    block: int
    reads: float
    tile: tuple[int, int]

    def outgrows(self, target: CpuTarget) -> bool:
        """Return whether a panel and the rows of a register tile outgrow L1, or each panel reads the left operand from
        beyond L2."""
        rows, panels = self.tile
        left = FLOAT * self.rows * self.inner_rows * self.reads
        again = left > target.l2.size and self.panels > panels
        return again or FLOAT * self.terms * (rows + panels * self.width) > target.l1.size

    def blocks(self, target: CpuTarget) -> list[tuple[float, int, int]]:
        """Return (bytes from beyond L2, rows, panels) of the blocks that fit in L2 and on the stack, have rows for
        several register tiles, and are enough for all threads."""
        widths = [n for n in _divisors(self.panels) if n >= self.tile[1]]
        sizes = itertools.product(_divisors(self.rows), widths)
        return [(self._moved(*size), *size) for size in sizes if self._fits(*size, target)]

    def _fits(self, rows: int, panels: int, target: CpuTarget) -> bool:
        points, columns = rows * self.inner_rows, panels * self.width
        sums = FLOAT * points * columns
        operands = FLOAT * self.block * (points * self.reads / self.terms + columns)
        tasks = self.outer * (self.rows // rows) * (self.panels // panels)
        held = sums + operands <= SHARE * target.l2.size and sums <= target.local_bytes
        return held and tasks >= target.threads and points >= TILES * self.tile[0]

    def _moved(self, rows: int, panels: int) -> float:
        """Return the bytes that blocks read from beyond L2."""
        left = self.rows * self.inner_rows * self.reads * (self.panels // panels)
        return FLOAT * self.outer * (left + self.terms * self.panels * self.width * (self.rows // rows))


def _divisors(n: int) -> list[int]:
    return [d for d in range(1, n + 1) if n % d == 0]
