"""Load imbalance: how long one of two threads waits for the other if their shares of a kernel differ.

Nine tiles are partitioned into four and five: the first thread waits for a ninth of the time of both.
"""

from __future__ import annotations

from mlc.dialects import kernel
from mlc.dialects.poly import TiledLoop
from mlc.dialects.semantics.dims import DimLike
from mlc.target import CpuTarget

PAIR = 2  # threads: a partition is priced for two, and used for any number


def tiles_of(item: TiledLoop, extent: DimLike) -> int:
    return -(-extent // item.size) if isinstance(extent, int) else 1


def seconds(fn: kernel.FuncOp, target: CpuTarget) -> float:
    """Return the estimated time of a kernel on two threads, from the work that ``count-work`` counted; 0 for symbolic
    work."""
    return max(_number(fn.work.flops) / target.flops, _number(fn.work.bytes) / target.rates.l3_bytes) / PAIR


def load_imbalance(item: TiledLoop, extent: DimLike, blocks: int) -> float:
    """Return the fraction of both threads' time for which one waits, if an iterator is partitioned into ``blocks``.

    A tile belongs to the block in which it begins (``load_imbalance(m/2, 7, 4)``: 4 rows and 3).
    """
    if not isinstance(extent, int) or not extent:
        return 0.0
    first = min(-(-(blocks // 2) * extent // (blocks * item.size)) * item.size, extent)
    return 2 * max(first, extent - first) / extent - 1


def _number(work: DimLike | None) -> float:
    return float(work) if isinstance(work, int) else 0.0
