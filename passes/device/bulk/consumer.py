"""The consumer: the computing warps, whose loop waits for the copies to a buffer and frees the buffer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.dialects.builtin import i32
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter

from mlc.dialects import kernel
from mlc.passes.device.bulk.consumer_order import ConsumerOrder
from mlc.passes.device.bulk.mbarrier_ring import MbarrierRing
from mlc.passes.device.bulk.products_in_flight import Release, await_products, start_products
from mlc.passes.device.loops.coefficients import constant_of
from mlc.passes.device.loops.index import number
from mlc.passes.device.loops.insertion import Inserter
from mlc.passes.effects import erase_dead


@dataclass(frozen=True)
class Consumer:
    """The rewriting of ``loop``. It then also carries its buffer, the buffer's parity, and the buffer of the product in
    flight."""

    loop: scf.ForOp
    copies: Sequence[kernel.BulkCopyOp]
    ring: MbarrierRing
    release: Release
    order: ConsumerOrder | None

    def run(self) -> None:
        body, old = self.loop.body.block, self.loop
        slot, parity, *former = (body.insert_arg(i32, len(body.args)) for _ in range(self._carried))
        self._wait(body, slot, parity)
        assert body.last_op is not None
        last = Inserter(body.last_op)
        self._free(body, last, slot, former)
        following = [*self.ring.next(last.add, slot, parity), slot]
        last.add(scf.YieldOp(*body.last_op.operands, *following[: self._carried]))
        body.last_op.detach()
        erase_dead(body.ops)
        self._replace(old)

    @property
    def _carried(self) -> int:
        return 3 if self.release.in_flight else 2

    def _wait(self, body: Block, slot: SSAValue, parity: SSAValue) -> None:
        """Wait for a buffer in place of the copies, and read it in place of their targets."""
        assert body.first_op is not None
        first = Inserter(body.first_op)
        first.add(kernel.MbarrierWaitOp(self.ring.full, slot, parity))
        for local, buffers in self.ring.buffers.items():
            view = first.add(kernel.SubviewOp(buffers, slot)).results[0]
            local.replace_uses_with_if(view, lambda use: use.operation not in self.copies)
        for op in (*self.copies, *(local.owner for local in self.ring.buffers)):
            assert isinstance(op, Operation)
            Rewriter.erase_op(op)

    def _free(self, body: Block, last: Inserter, slot: SSAValue, former: Sequence[SSAValue]) -> None:
        """Free the buffer of the previous product, or of this one if none may be in flight. With two groups of warps,
        let the other group begin after the last product."""
        if self.release.in_flight:
            start_products(body)
            self.release.former(last.add, former[0])
        else:
            self.release.own(last.add, slot)
        if self.order is not None:
            self.order.give(last.add, self.order.take(self.loop), self.loop, body.args[0])

    def _replace(self, old: scf.ForOp) -> None:
        """Replace the loop by one that carries the additional values, and wait after it for the product in flight."""
        place = Inserter(old)
        start = [*self.ring.first(place.add, old.lb, old.ub, old.step), number(-1, place.add)][: self._carried]
        body = old.body.detach_block(old.body.block)
        new = scf.ForOp(old.lb, old.ub, old.step, [*old.iter_args, *start], Region(body))
        new.attributes |= old.attributes
        place.add(new)
        for result, again in zip(old.results, new.results, strict=False):
            result.replace_all_uses_with(again)
        if self.release.in_flight:
            await_products(list(new.results[: len(old.results)]), old)
            self.release.former(place.add, new.results[-1], certain=_runs(old))
        Rewriter.erase_op(old)


def _runs(loop: scf.ForOp) -> bool:
    """Return whether a loop is known to have an iteration."""
    first, last = constant_of(loop.lb), constant_of(loop.ub)
    return first is not None and last is not None and first < last
