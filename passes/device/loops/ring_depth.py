"""Ring depth: how many buffers a ring of staged operands has."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf

from mlc.dialects import kernel
from mlc.dialects.poly import ScheduleError, schedule_of, thread_block_of
from mlc.passes.device.loops.coefficients import constant_of
from mlc.passes.device.streaming.promote_locals import is_stream_of_fragments
from mlc.passes.shared_memory import bytes_beside, local_bytes, shared_bytes
from mlc.target import GpuTarget


def ring_depth(
    fn: kernel.FuncOp, loop: scf.ForOp, locals_: Sequence[kernel.LocalOp], threads: int, target: GpuTarget
) -> int:
    """Return the number of buffers in the rings of local arrays that a loop fills: at most as many as the loop has
    iterations, and as fit in shared memory. ``threads``: those of a block. Raises ScheduleError if the schedule gives
    more than fit."""
    wanted = thread_block_of(schedule_of(fn)).depth
    room = ring_room(fn, locals_, threads, target)
    first, last, step = map(constant_of, (loop.lb, loop.ub, loop.step))
    trips = None if first is None or last is None or step is None else -(-(last - first) // step)
    most = wanted or target.heuristics.ring_depth
    depth = most if trips is None else min(most, trips)
    if wanted and depth > room:
        need = _used(fn, locals_[0], target) + (depth - 1) * sum(map(local_bytes, locals_))
        raise ScheduleError(f"depth={wanted} needs {need} bytes of shared memory, of {target.shared_optin}; {room} fit")
    return min(depth, room)


def ring_room(
    fn: kernel.FuncOp, locals_: Sequence[kernel.LocalOp], threads: int, target: GpuTarget, more: int = 0
) -> int:
    """Return how many buffers fit in shared memory beside ``more`` other bytes."""
    limit = target.shared_optin if thread_block_of(schedule_of(fn)).depth else target.shared_of(threads)
    return 1 + (limit - _used(fn, locals_[0], target) - more) // sum(map(local_bytes, locals_))


def _used(fn: kernel.FuncOp, local: kernel.LocalOp, target: GpuTarget) -> int:
    """Return the bytes of shared memory that a kernel uses beside a local array, without those that ``share-locals``
    reuses."""
    return bytes_beside(local, fn, target) if is_stream_of_fragments(fn) else shared_bytes(fn, target)
