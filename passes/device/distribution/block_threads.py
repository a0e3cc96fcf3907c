"""The threads of a block that compute a tile, by its schedule."""

from __future__ import annotations

from mlc.dialects import kernel
from mlc.dialects.poly import ScheduleError, schedule_of, thread_block_of
from mlc.target import GpuTarget


def threads_of(fn: kernel.FuncOp, target: GpuTarget) -> int | None:
    """Return the number of threads that the schedule gives a block; None if it gives none. Raises ScheduleError if
    there are too many."""
    block = thread_block_of(schedule_of(fn))
    threads = block.threads(target.warp)
    if threads is not None and threads > target.most_threads:
        most = target.most_threads // target.warp
        raise ScheduleError(f"'{block}': a block has at most {most} warps on '{target.name}'")
    return threads
