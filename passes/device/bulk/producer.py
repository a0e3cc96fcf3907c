"""The producer: the copying warps, in a loop over the same tiles and steps as that of the computing warps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, i32
from xdsl.ir import Block, Operation, Region, SSAValue

from mlc.dialects import kernel
from mlc.passes.device.bulk.cluster_copies import ClusterCopies, shared_copy
from mlc.passes.device.bulk.mbarrier_ring import MbarrierRing
from mlc.passes.device.loops.index import Add, number


@dataclass(frozen=True)
class Producer:
    """The builder of the loops for the ``copies`` of ``loop``, which is in a loop over the ``tiles`` of a block."""

    tiles: scf.ParallelOp
    loop: scf.ForOp
    copies: Sequence[kernel.BulkCopyOp]
    ring: MbarrierRing
    cluster: ClusterCopies | None

    def loops(self) -> scf.ParallelOp:
        """Return a loop over the tiles of a block whose inner loop only copies."""
        args = self.tiles.body.block.args
        block = Block(arg_types=[a.type for a in args])
        known: dict[SSAValue, SSAValue] = dict(zip(args, block.args, strict=True))
        bounds = (self.loop.lb, self.loop.ub, self.loop.step)
        low, high, step = [_recomputed(v, known, self.tiles, block.add_op) for v in bounds]
        start = self.ring.first(block.add_op, low, high, step)
        block.add_op(scf.ForOp(low, high, step, start, Region(self._copying(known))))
        block.add_op(scf.ReduceOp())
        return scf.ParallelOp(self.tiles.lowerBound, self.tiles.upperBound, self.tiles.step, Region(block))

    def _copying(self, known: dict[SSAValue, SSAValue]) -> Block:
        """Return the body of the inner loop: it waits until a buffer is free, and starts the copies of its operands."""
        block = Block(arg_types=[IndexType(), i32, i32])
        variable, slot, parity = block.args
        inside = {**known, self.loop.body.block.args[0]: variable}
        block.add_op(other := arith.SubiOp(number(1, block.add_op), parity))
        block.add_op(kernel.MbarrierWaitOp(self.ring.empty, slot, other.result))
        block.add_op(kernel.MbarrierExpectOp(self.ring.full, slot, sum(copy.bytes for copy in self.copies)))
        for copy in self.copies:
            block.add_op(self._copy(copy, slot, inside, block))
        block.add_op(scf.YieldOp(*self.ring.next(block.add_op, slot, parity)))
        return block

    def _copy(
        self, copy: kernel.BulkCopyOp, slot: SSAValue, known: dict[SSAValue, SSAValue], block: Block
    ) -> kernel.BulkCopyOp:
        """Return a copy to the buffer ``slot``: of a part of the box, if blocks of the cluster share it."""
        indices = [_recomputed(v, known, self.tiles, block.add_op) for v in (*copy.coordinates, copy.at)]
        block.add_op(buffer := kernel.SubviewOp(self.ring.buffers[copy.target], slot))
        *coordinates, at = indices
        barrier = self.ring.full, slot
        if self.cluster is not None and (sharing := self.cluster.sharing(copy)) is not None:
            return shared_copy(copy, coordinates, buffer.result, at, barrier, sharing, block.add_op)
        return kernel.BulkCopyOp(copy.map, coordinates, buffer.result, at, barrier)


def _recomputed(value: SSAValue, known: dict[SSAValue, SSAValue], around: Operation, add: Add) -> SSAValue:
    """Return a value that is computed within ``around``, computed again outside of it."""
    op = value.owner
    if value in known or not isinstance(op, Operation) or not around.is_ancestor(op):
        return known.get(value, value)
    for operand in op.operands:
        known[operand] = _recomputed(operand, known, around, add)
    add(copy := op.clone(known))
    known[value] = copy.results[0]
    return known[value]
