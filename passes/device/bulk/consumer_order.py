"""Order of two groups of warps that compute, each with tiles of its own (CUTLASS: ping-pong).

    kernel.mbarrier_wait %order[%iteration % 2] parity …   before the loop of a tile's sum
    scf.for %k … { kernel.mma …
      kernel.mbarrier_arrive %order[1 - %iteration % 2] when %last }   after its last product has been started

While one group multiplies, the other writes its results. The order is that in which the producer fills the ring: a
group waits for buffers only after the other has waited for all of its tile, so no phase of a buffer looks like
another.
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
    """How many groups of threads compute tiles of their own, as the schedule says."""
    return GROUPS if thread_block_of(schedule_of(fn)).pingpong else 1


def check_locals(fn: kernel.FuncOp, operands: Sequence[kernel.LocalOp]) -> None:
    """Raises ScheduleError where two groups would share local arrays that are no operands, or staging of results."""
    staging = {o.staging.owner for o in fn.walk() if isinstance(o, kernel.BulkStoreOp)}
    if any(isinstance(o, kernel.LocalOp) and o not in operands and o not in staging for o in fn.walk()):
        raise ScheduleError("'pingpong': the kernel has local arrays beside its operands, which two tiles would share")


@dataclass(frozen=True)
class ConsumerOrder:
    """``order``: a barrier of each group, whose phase ends when the other has started the products of a tile."""

    order: SSAValue

    def take(self, place: Operation) -> SSAValue:
        """Wait before ``place`` until the other group has started its tile; group 0 begins. The t-th tile of a block is
        the t/2-th of its group, which waits for as many phases before: one more than that in group 1. Returns the other
        group's number."""
        build = Inserter(place)
        tile = Index(build.add(kernel.IterationOp()).results[0], build.add)
        two, one = tile.constant(GROUPS), tile.constant(1)
        group = tile % two
        other = one - group
        parity = (tile // two + other) % two
        build.add(kernel.MbarrierWaitOp(self.order, group.narrow(), parity.narrow()))
        return other.narrow()

    def give(self, add: Callable[[Operation], object], other: SSAValue, loop: scf.ForOp, now: SSAValue) -> None:
        """The other group may start its products when the last of ``loop`` have been started. In the loop: with
        products in flight, ptxas waits for them before what stands between the loop's end and their wait."""
        add(after := arith.AddiOp(now, loop.step))
        add(last := arith.CmpiOp(loop.ub, after.result, "sle"))
        add(kernel.MbarrierArriveOp(self.order, other, when=last.result))
