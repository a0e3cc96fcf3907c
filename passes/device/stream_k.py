"""Stream-K (``stream-k``): thread blocks take equal shares of the steps of the tiles that fill no whole wave.

    scf.parallel (%i, %j) = 0 to (M, N) {       scf.parallel (%w) = 0 to (whole tiles + shares) {
      %r = scf.for %k = 0 to K step 32            scf.for %n = 0 to (tiles of the share) {
      … store %r }                          →       %i, %j, %low, %high = the part of a tile
                                                    %r = scf.for %k = %low to %high step 32
                                                    if not the end of a tile whose others have arrived:
                                                      kernel.write %r, %parts[…]
                                                    if kernel.arrive %semaphores[…] of (parts of the tile):
                                                      %sum = %r, or the last part, + the other parts in order
                                                      … store %sum } }

With ``streamk=108`` in the schedule (Osama et al., 2023, the hybrid), all whole waves of 108 tiles except the last one
are computed as before, and 108 blocks share the remaining tiles. A block begins with its last tile, so that the part
that ends a tile is usually the last to arrive, and stays in registers. The last block of a tile to arrive adds the
parts: the part that ends the tile first, then the others from the beginning on. The order is the same for whichever
block it is. No block waits for another, so blocks may run in any order, and any number at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerAttr, ModuleOp, VectorType, i1
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from mlc.dialects import kernel
from mlc.dialects.poly import ScheduleError, schedule_of, thread_block_of
from mlc.dialects.types import element_name
from mlc.passes.device.distribution.value_classes import extents
from mlc.passes.device.loops.coefficients import constant_of
from mlc.passes.device.loops.index import Index, constant
from mlc.passes.device.loops.insertion import Inserter
from mlc.passes.device.sharing.shares import Piece, Shares, TileItems
from mlc.passes.device.sharing.tile_sum import tile_sum
from mlc.passes.loops.spill_locals import add_results
from mlc.passes.schedule.apply_schedules import following


@dataclass(frozen=True)
class StreamK(ModulePass):
    name = "stream-k"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp)]:
            count = thread_block_of(schedule_of(fn)).streamk
            if count and not fn.scratch.semaphores:
                with following(fn):
                    _apply(fn, op, count)


def _apply(fn: kernel.FuncOp, module: ModuleOp, count: int) -> None:
    try:
        tiles = _tiles(fn)
        loops = tile_sum(tiles)
    except ScheduleError:
        if fn.origin.given:
            raise
        return  # what a rule chose: tiles as they are
    _StreamK(fn, module, tiles, loops, count).run()


def _tiles(fn: kernel.FuncOp) -> scf.ParallelOp:
    """Return the only loop over tiles of a kernel."""
    if any(isinstance(o, kernel.SpecializeOp) for o in fn.walk()):
        raise ScheduleError("'streamk': the operands are copied by other warps, leave out copy=tma")
    found = [o for o in fn.block.ops if isinstance(o, scf.ParallelOp)]
    if len(found) != 1 or any(constant_of(low) != 0 for low in found[0].lowerBound) or fn.scratch.arrays:
        raise ScheduleError("'streamk': the kernel has tiles of several sizes, or local arrays in memory")
    return found[0]


@dataclass
class _StreamK:
    fn: kernel.FuncOp
    module: ModuleOp
    tiles: scf.ParallelOp
    loops: list[scf.ForOp]
    count: int

    def run(self) -> None:
        total = self.loops[-1].results[0]
        assert isinstance(total.type, VectorType)
        shape, element = tuple(total.type.get_shape()), element_name(total.type.element_type)
        made = [(element, (2 * self.count, *shape)), ("i32", (2 * self.count,))]
        self.parts, self.semaphores = add_results(self.fn, self.module, made)
        self.fn.scratch = kernel.Scratch(semaphores=1)
        shares, add = Shares.of(self.tiles, self.loops[0], self.count), Inserter(self.tiles).add
        items = scf.ParallelOp([constant(0, add)], [shares.items.value], [constant(1, add)], Region(self._item(shares)))
        add(items)
        Rewriter.erase_op(self.tiles)

    def _item(self, shares: Shares) -> Block:
        """Return the body that runs the tiles of an item of work, the last tile first."""
        block, body = Block(arg_types=[IndexType()]), Block(arg_types=[IndexType()])
        add = block.add_op
        item, begin, end, last = shares.tiles(block.args[0], add)
        count = last - begin // shares.steps + 1
        loop = scf.ForOp(constant(0, add), count.value, constant(1, add), [], Region(body))
        piece = shares.piece(item, begin, end, last.at(body.add_op) - Index(body.args[0], body.add_op))
        self._tile(body, piece, shares)
        block.add_ops([loop, scf.ReduceOp()])
        return block

    def _tile(self, body: Block, piece: Piece, shares: Shares) -> None:
        """Add the part of a tile: its sum and, in the last block of the tile, all that follows it. Steps beyond the
        last whole group belong to the part that ends the tile."""
        old, (main, *others), add = self.tiles.body.block, self.loops, body.add_op
        for arg, value in zip(old.args, piece.coordinates, strict=True):
            arg.replace_all_uses_with(value)
        ops = list(old.ops)
        for op in ops:
            op.detach()
        at, after = ops.index(main), ops.index(self.loops[-1]) + 1
        body.add_ops(ops[:at])
        step, end = Index(main.step, add), Index(main.ub, add)
        main.operands[0], main.operands[1] = (piece.low * step).value, (piece.high * step).at_most(end).value
        body.add_op(main)
        holders = shares.holders(piece)
        for op in ops[at + 1 : after]:
            if isinstance(op, scf.ForOp) and op in others:
                op.operands[0] = Index(op.ub, add).unless(holders.ends, Index(op.lb, add)).value
            body.add_op(op)
        self._combine(body, piece, holders, ops[after:])
        body.add_op(scf.YieldOp())

    def _combine(self, body: Block, piece: Piece, holders: TileItems, rest: Sequence[Operation]) -> None:
        """Store the part, unless it ends the tile and is the last to arrive; let the last block add all parts."""
        add, total = body.add_op, self.loops[-1].results[0]
        where = self.semaphores, piece.tile.value, holders.blocks.value
        add(kept := kernel.OthersArrivedOp(*where, holders.ends))
        add(yes := arith.ConstantOp(IntegerAttr(1, i1)))
        add(other := arith.XOrIOp(kept.result, yes.result))
        store = Block()
        slot = piece.item.at(store.add_op)
        store.add_op(self._write(total, slot.unless(holders.ends, slot + self.count)))
        store.add_op(scf.YieldOp())
        add(scf.IfOp(other.result, [], Region(store)))
        add(last := kernel.ArriveOp(*where))
        add(scf.IfOp(last.result, [], Region(self._last(holders, total, rest))))

    def _last(self, holders: TileItems, total: SSAValue, rest: Sequence[Operation]) -> Block:
        """Return the code that follows the sum, in the block that adds the parts. A part that ends the tile is in
        registers."""
        block, body = Block(), Block(arg_types=[IndexType(), total.type])
        add, inside = block.add_op, body.add_op
        number, before = Index(body.args[0], inside), body.args[1]
        begins = number.compared("eq", 0)
        slot = (holders.first.at(inside) + number - 1).unless(begins, holders.final.at(inside) + self.count)
        inside(part := kernel.ReadOp(self.parts, self._offset(slot).value, self._strides(total), total.type))
        inside(start := arith.SelectOp(begins, self.loops[0].iter_args[0], before))
        inside(both := _sum(total)(start.result, part.result))
        inside(scf.YieldOp(both.results[0]))
        first = Index(constant(0, add), add).unless(holders.ends, 1)
        loop = scf.ForOp(first.value, holders.blocks.value, constant(1, add), [total], Region(body))
        total.replace_uses_with_if(loop.results[0], lambda use: any(o.is_ancestor(use.operation) for o in rest))
        block.add_ops([loop, *(o for o in rest if not isinstance(o, scf.ReduceOp)), scf.YieldOp()])
        return block

    def _write(self, total: SSAValue, slot: Index) -> Operation:
        return kernel.WriteOp(total, self.parts, self._offset(slot).value, self._strides(total))

    def _offset(self, slot: Index) -> Index:
        return slot * prod(extents(self.loops[0].results[0]))

    def _strides(self, total: SSAValue) -> list[int]:
        shape = extents(total)
        return [prod(shape[n + 1 :]) for n in range(len(shape))]


def _sum(total: SSAValue) -> type[arith.AddfOp] | type[arith.AddiOp]:
    """Return the operation that adds parts."""
    assert isinstance(total.type, VectorType)
    return arith.AddfOp if isinstance(total.type.element_type, AnyFloat) else arith.AddiOp
