"""Products in flight: an iteration starts its product, then waits for that of the previous iteration and frees its
buffer. (CUTLASS: ``K_PIPE_MMAS`` of its mainloops of sm_90.)"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects import kernel
from mlc.passes.device.loops.index import number
from mlc.passes.device.loops.insertion import Inserter


@dataclass(frozen=True)
class Release:
    """How computing warps signal that they have read a buffer: by an arrival at its barrier in ``empty``."""

    empty: SSAValue
    depth: int  # buffers of the ring
    cluster: SSAValue | None  # the mask of the blocks that copy to this one's buffers; None: itself alone
    alone: bool = False  # each product ends before the next one: its sums are added in f32, or its operand is widened

    @property
    def in_flight(self) -> bool:
        """Whether a product may be in flight: the next product then needs another buffer."""
        return self.depth > 1 and not self.alone

    def own(self, add: Callable[[Operation], object], slot: SSAValue, when: SSAValue | None = None) -> None:
        add(kernel.MbarrierArriveOp(self.empty, slot, self.cluster, when))

    def former(self, add: Callable[[Operation], object], slot: SSAValue, certain: bool = False) -> None:
        """Free the buffer of the previous iteration; its number is -1 if there was none. ``certain``: there was one."""
        if certain:
            self.own(add, slot)
            return
        add(some := arith.CmpiOp(slot, number(0, add), "sge"))
        self.own(add, slot, some.result)


def start_products(body: Block) -> None:
    """Let the next iteration wait for the products of a loop's body."""
    for product in [o for o in body.ops if isinstance(o, kernel.MmaOp)]:
        assert product.next_op is not None
        product.in_flight = UnitAttr()
        wait = kernel.MmaWaitOp(product.result, 1)
        body.insert_op_before(wait, product.next_op)
        product.result.replace_uses_with_if(wait.result, lambda use, own=wait: use.operation is not own)  # type: ignore[misc]


def await_products(results: list[SSAValue], place: Operation) -> None:
    """Wait after the loop for the sums that it carries."""
    for result in results:
        uses = list(result.uses)
        wait = Inserter(place).add(kernel.MmaWaitOp(result, 0)).results[0]
        for use in uses:
            use.operation.operands[use.index] = wait
