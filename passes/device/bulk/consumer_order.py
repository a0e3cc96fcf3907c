"""Order of two groups of computing warps, each of which has its own tiles (CUTLASS: ping-pong).

    kernel.mbarrier_wait %order[%iteration % 2] parity …   before the loop of a tile's sum
    scf.for %k … { kernel.mma …
      kernel.mbarrier_arrive %order[1 - %iteration % 2] when %last }   after its last product has been started

While one group multiplies, the other writes its results. The groups follow the order in which the producer fills the
ring: a group waits for buffers only after the other has waited for all buffers of its tile, so phases of a buffer
cannot be confused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, scf
from xdsl.ir import Operation, SSAValue

from mlc.dialects import kernel
from mlc.dialects.poly import ScheduleError, schedule_of, thread_block_of
from mlc.passes.device.loops.index import Index
from mlc.passes.device.loops.insertion import Inserter

GROUPS = 2  # that alternate


def groups_of(fn: kernel.FuncOp) -> int:
    """Return how many groups of threads compute their own tiles, according to the schedule."""
    return GROUPS if thread_block_of(schedule_of(fn)).pingpong else 1


def check_locals(fn: kernel.FuncOp, operands: Sequence[kernel.LocalOp]) -> None:
    """Raise ScheduleError if two groups would share local arrays other than operands and the staging of results."""
    staging = {o.staging.owner for o in fn.walk() if isinstance(o, kernel.BulkStoreOp)}
    if any(isinstance(o, kernel.LocalOp) and o not in operands and o not in staging for o in fn.walk()):
        raise ScheduleError("'pingpong': the kernel has local arrays beside its operands, which two tiles would share")


@dataclass(frozen=True)
class ConsumerOrder:
    """The order of the groups. ``order``: one barrier for each group, whose phase ends when the other group has started
    the products of a tile."""

    order: SSAValue

    def take(self, place: Operation) -> SSAValue:
        """Wait before ``place`` until the other group has started its tile; return the number of the other group.

        Group 0 begins. The t-th tile of a block is the t/2-th of its group, which waits for as many phases before;
        group 1 waits for one more.
        """
        build = Inserter(place)
        tile = Index(build.add(kernel.IterationOp()).results[0], build.add)
        two, one = tile.constant(GROUPS), tile.constant(1)
        group = tile % two
        other = one - group
        parity = (tile // two + other) % two
        build.add(kernel.MbarrierWaitOp(self.order, group.narrow(), parity.narrow()))
        return other.narrow()

    def give(self, add: Callable[[Operation], object], other: SSAValue, loop: scf.ForOp, now: SSAValue) -> None:
        """Let the other group start its products once the last product of ``loop`` has been started. This is done in
        the loop: while products are in flight, ptxas waits for them before operations between the end of the loop and
        their wait."""
        add(after := arith.AddiOp(now, loop.step))
        add(last := arith.CmpiOp(loop.ub, after.result, "sle"))
        add(kernel.MbarrierArriveOp(self.order, other, when=last.result))
