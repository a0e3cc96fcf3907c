"""The order in which blocks of unequal length begin, and what it costs: a list schedule (Graham, 1969).

A GPU gives a block to the first multiprocessor that has room. Lengths are iterations of a block's loops.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np
from xdsl.dialects import scf

from benchmarks.gpu.accesses import coordinates, iterations
from mlc.dialects import kernel


def lengths(fn: kernel.FuncOp) -> list[int]:
    """The iterations of each block, in order; none where all blocks have as many."""
    found: list[int] = []
    for blocks in [o for o in fn.walk() if isinstance(o, scf.ParallelOp)]:
        known = coordinates(blocks)
        count = len(next(iter(known.values()), []))
        loops = [iterations(o, known) for o in blocks.body.block.ops if isinstance(o, scf.ForOp)]
        found += sum((np.broadcast_to(each, count) for each in loops), np.zeros(count, np.int64)).tolist()
    return found if len(set(found)) > 1 else []


def time(blocks: Sequence[int], slots: int) -> int:
    """Iterations until the last of the blocks ends, of which ``slots`` run at a time."""
    ends = [0] * slots
    for length in blocks:
        heapq.heappush(ends, heapq.heappop(ends) + length)
    return max(ends)


def tail(blocks: Sequence[int], slots: int) -> float:
    """The time until the last block ends, over the mean of all slots."""
    return time(blocks, slots) / (sum(blocks) / slots)
