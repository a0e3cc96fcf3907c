"""The number of buffers of a ring of staged operands."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf

from mlc.dialects import kernel
from mlc.dialects.poly import ScheduleError, schedule_of, thread_block_of
from mlc.passes.device.loops.coefficients import constant_of
from mlc.passes.loops.spill_locals import local_bytes, shared_bytes
from mlc.target import GpuTarget

DEEPEST = 4  # buffers of a ring


def ring_depth(
    fn: kernel.FuncOp, loop: scf.ForOp, locals_: Sequence[kernel.LocalOp], threads: int, target: GpuTarget
) -> int:
    """The buffers of the rings of local arrays that a loop of a block of so many threads fills: no more than
    iterations, or than shared memory has room for. Raises ScheduleError where the schedule wants more than that."""
    wanted = thread_block_of(schedule_of(fn)).depth
    room = ring_room(fn, locals_, threads, target)
    first, last, step = map(constant_of, (loop.lb, loop.ub, loop.step))
    trips = None if first is None or last is None or step is None else -(-(last - first) // step)
    most = wanted or DEEPEST
    depth = most if trips is None else min(most, trips)
    if wanted and depth > room:
        need = shared_bytes(fn, target) + (depth - 1) * sum(map(local_bytes, locals_))
        raise ScheduleError(f"depth={wanted} needs {need} bytes of shared memory, of {target.shared_optin}; {room} fit")
    return min(depth, room)


def ring_room(
    fn: kernel.FuncOp, locals_: Sequence[kernel.LocalOp], threads: int, target: GpuTarget, more: int = 0
) -> int:
    """The buffers that shared memory has room for, beside ``more`` bytes for something else."""
    limit = target.shared_optin if thread_block_of(schedule_of(fn)).depth else target.shared_of(threads)
    return 1 + (limit - shared_bytes(fn, target) - more) // sum(map(local_bytes, locals_))
