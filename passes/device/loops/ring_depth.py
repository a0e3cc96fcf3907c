"""The number of buffers of a ring of staged operands."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf

from mlc.dialects import kernel
from mlc.dialects.poly import ScheduleError, schedule_of, thread_block_of
from mlc.passes.device.loops.coefficients import constant_of
from mlc.passes.device.spill_locals import local_bytes, shared_bytes
from mlc.target import GpuTarget

DEEPEST = 4  # buffers of a ring


def ring_depth(
    fn: kernel.FuncOp, loop: scf.ForOp, locals_: Sequence[kernel.LocalOp], threads: int, target: GpuTarget
) -> int:
    """The buffers of the rings of local arrays that a loop of a block of so many threads fills: no more than
    iterations, or than shared memory has room for. Raises ScheduleError where the schedule wants more than that."""
    wanted = thread_block_of(schedule_of(fn)).depth
    used = shared_bytes(fn, target)
    each = sum(local_bytes(local) for local in locals_)
    first, last, step = map(constant_of, (loop.lb, loop.ub, loop.step))
    trips = None if first is None or last is None or step is None else -(-(last - first) // step)
    limit = target.shared_optin if wanted else target.shared_of(threads)
    most, room = wanted or DEEPEST, 1 + (limit - used) // each
    depth = most if trips is None else min(most, trips)
    if wanted and depth > room:
        need = used + (depth - 1) * each
        raise ScheduleError(f"depth={wanted} needs {need} bytes of shared memory, of {limit}; {room} fit")
    return min(depth, room)
