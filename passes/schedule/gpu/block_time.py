"""Estimated time of thread blocks: cycles of the busiest multiprocessor, by a roofline of one (Williams et al., 2009).

Blocks on one multiprocessor share its units of arithmetic, its loads from L2 and those from shared memory, and hide
each other's latency. So time falls with larger tiles, which read less, until they are so few that multiprocessors are
idle.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mlc.dialects.kernel import MMA_SHAPES
from mlc.dialects.poly import LoopNest
from mlc.dialects.types import ITEMSIZE, element_of
from mlc.passes.schedule.gpu.tile_sizes import padded, points
from mlc.passes.schedule.polyhedral.statement_view import StatementView
from mlc.target import GpuTarget

READ = 32  # bytes that a multiprocessor reads from L2 in a cycle
SHARED = 128  # bytes that it reads from shared memory in a cycle: one word for each lane
STEP = 16  # cycles of a term at least, while a block waits for its operands
WARPGROUP = 4  # warps that copy the operands of others
CLOSE = 1.1  # a ratio of times that an estimate does not tell apart
FLOAT = ITEMSIZE["f32"]  # of an element that threads multiply without tensor cores


@dataclass(frozen=True)
class BlockTime:
    """The tile of a sum of products, rows × columns, of ``blocks`` blocks; ``grid``: the rows and columns of threads,
    or of warps with tensor cores, that each have an equal part of it; ``size``: bytes of a factor's element; ``bits``:
    those of an instruction of tensor cores, None without; ``bulk``: whether other warps copy its operands."""

    rows: int
    columns: int
    blocks: int
    threads: int
    grid: tuple[float, float]
    size: int = FLOAT
    bits: int | None = None
    bulk: bool = False

    @classmethod
    def of(cls, nest: LoopNest, s: StatementView, target: GpuTarget) -> BlockTime:
        """That of a nest whose last two loops are the tile's rows and columns."""
        rows, columns = (padded(item.size) for item in nest.band[-2:])
        blocks = math.prod(-(-points([s.bounds[i.iterator]]) // padded(i.size)) or 1 for i in nest.band)
        elements = [element_of(v) for v in s.op.ins]
        size = max((ITEMSIZE[e] for e in elements), default=FLOAT)
        if nest.block is None or nest.block.warps is None:
            return cls.of_threads(rows, columns, blocks, target, size)
        across, along = nest.block.warps
        mma, threads = MMA_SHAPES[elements[0]], across * along * target.warp
        grid = (max(across / 4, 1), along) if target.warpgroups and nest.block.mma is None else (across, along)
        bulk = nest.block.copy == "tma"
        return cls(rows, columns, blocks, threads, grid, size, mma.bits, bulk)

    @classmethod
    def of_threads(cls, rows: int, columns: int, blocks: int, target: GpuTarget, size: int = FLOAT) -> BlockTime:
        """That of threads which each have a square of the tile."""
        side = math.sqrt(rows * columns / target.block_threads)
        return cls(rows, columns, blocks, target.block_threads, (rows / side, columns / side), size)

    def cycles(self, terms: int, target: GpuTarget, parts: int = 1) -> float:
        """Cycles of sums of so many terms, each in ``parts`` parts of different blocks."""
        blocks = -(-self.blocks * parts // target.multiprocessors)
        threads = self.threads + (WARPGROUP * target.warp if self.bulk else 0)
        together = max(1, target.registers // (threads * target.thread_registers))
        busy = max(self._multiplied(target), self.size * (self.rows + self.columns) / READ)
        return terms / parts * max(blocks * busy, -(-blocks // together) * STEP)

    def _multiplied(self, target: GpuTarget) -> float:
        """Cycles in which a block reads one term of its operands from shared memory, and multiplies it."""
        rate = target.tensor_products(self.bits) if self.bits else target.products
        loads = self.rows * self.grid[1] + self.columns * self.grid[0]
        return self.rows * self.columns / rate + loads * self.size / SHARED

    def busy(self, target: GpuTarget) -> int:
        """The multiprocessors that have a block."""
        return min(self.blocks, target.multiprocessors)


def fastest_first(nests: Sequence[LoopNest], s: StatementView, target: GpuTarget) -> list[LoopNest]:
    """Nests, given with the largest tile first, by the estimated time of their blocks. Those ``CLOSE`` to the best time
    are first: by the multiprocessors that they occupy, then as given."""
    terms = points([s.bounds[i] for i in s.reduced])
    blocks = {nest: BlockTime.of(nest, s, target) for nest in nests}
    times = {nest: found.cycles(terms, target) for nest, found in blocks.items()}
    close = [nest for nest in blocks if times[nest] <= CLOSE * min(times.values())]
    close.sort(key=lambda nest: -blocks[nest].busy(target))
    return list(dict.fromkeys([*close, *sorted(blocks, key=times.__getitem__)]))
