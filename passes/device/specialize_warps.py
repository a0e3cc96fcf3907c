"""Warp specialization (``specialize-warps``): more warps copy what the others multiply, through rings of buffers.

    scf.parallel (%i, %j) {                    kernel.mbarrier_init %full {count = 1}, %empty {count = 8}
      scf.for %k … iter_args(%acc) {           kernel.specialize {threads = 128} producer {
        kernel.bulk_copy %A[…] to %s             scf.parallel (%i, %j) { scf.for %k … iter_args(%slot, %parity) {
        kernel.bulk_copy %B[…] to %t      →        kernel.mbarrier_wait %empty[%slot] parity 1 - %parity
        kernel.mma %acc, %s, %t }                  kernel.mbarrier_expect %full[%slot] {bytes}
      … }                                          kernel.bulk_copy %A[…] to %s[%slot] barrier %full[%slot], … } }
                                               } consumer {
                                                 scf.parallel (%i, %j) {
                                                   scf.for %k … iter_args(%acc, %slot, %parity, %former) {
                                                     kernel.mbarrier_wait %full[%slot] parity %parity
                                                     kernel.mma %acc, %s[%slot], %t[%slot] {in_flight}
                                                     kernel.mma_wait {groups = 1}
                                                     kernel.mbarrier_arrive %empty[%former] } … } }

One thread of the producer's warpgroup copies; each warp of the consumers says when it has read a buffer. A product is
in flight while the next buffer is waited for; a ring of one buffer has none, and promoted sums and operands that are
widened, to one array, have none. The ring has ``depth`` buffers, as many as the schedule says or as shared memory has
room for. With ``cluster=2x2`` four blocks run together: those whose tiles are in one row or column each copy a part of
what both need (multicast), and say to each other when they have read a buffer. With ``pingpong`` two groups of threads
compute, each every second tile of a block: one multiplies while the other writes its results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import DenseArrayBase, IndexType, IntegerAttr, ModuleOp, i32, i64
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects import kernel
from mlc.dialects.poly import schedule_of, thread_block_of
from mlc.dialects.types import element_of, memref, shape_of
from mlc.passes.context import gpu_of
from mlc.passes.device.bulk.cluster_copies import ClusterCopies, check_cluster, shared_copy, tile_variables
from mlc.passes.device.bulk.consumer_order import ConsumerOrder, check_locals, groups_of
from mlc.passes.device.bulk.products_in_flight import Release, await_products, start_products
from mlc.passes.device.distribute_values import threads_of
from mlc.passes.device.distribution.warpgroup import WARPS
from mlc.passes.device.loops.coefficients import constant_of
from mlc.passes.device.loops.index import Index, number
from mlc.passes.device.loops.insertion import Inserter, next_slot, sweep
from mlc.passes.device.loops.ring_depth import ring_depth
from mlc.passes.device.set_launch_geometry import CLUSTER
from mlc.passes.schedule.apply_schedules import following
from mlc.target import GpuTarget

Add = Callable[[Operation], object]
"""Adds an operation where it is needed."""


@dataclass(frozen=True)
class SpecializeWarps(ModulePass):
    name = "specialize-warps"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp)]:
            if copies := [o for o in fn.walk() if isinstance(o, kernel.BulkCopyOp) and o.barrier is None]:
                with following(fn):
                    _Specialization(fn, copies, gpu_of(ctx)).run()


@dataclass
class _Specialization:
    fn: kernel.FuncOp
    copies: Sequence[kernel.BulkCopyOp]
    target: GpuTarget

    def run(self) -> None:
        loop = self.copies[0].parent_op()
        assert isinstance(loop, scf.ForOp)
        tiles = loop.parent_op()
        assert isinstance(tiles, scf.ParallelOp) and isinstance(tiles.parent, Block)
        self.loop, self.tiles = loop, tiles
        threads = threads_of(self.fn, self.target) or self.target.block_threads
        self.extra = WARPS * self.target.warp
        locals_ = list(dict.fromkeys(copy.target.owner for copy in self.copies))
        self.locals = [o for o in locals_ if isinstance(o, kernel.LocalOp)]
        self.groups = groups_of(self.fn)
        if self.groups > 1:
            check_locals(self.fn, self.locals)
        self.depth = ring_depth(self.fn, loop, self.locals, self.groups * threads + self.extra, self.target)
        self.rings: dict[SSAValue, SSAValue] = {local.result: self._ring(local) for local in self.locals}
        self.cluster, peers = self._cluster()
        readers = threads // self.target.warp * peers
        self.full, self.empty = (self._barriers(tiles, count) for count in (1, readers))
        products = [o for o in self.loop.body.block.ops if isinstance(o, kernel.MmaOp)]
        alone = any(o.promoted or not {o.a, o.b} <= set(self.rings) for o in products)
        self.order: ConsumerOrder | None = None
        if self.groups > 1:
            self.order = ConsumerOrder(self._barriers(tiles, threads // self.target.warp, self.groups))
        self.release = Release(self.empty, self.depth, self.cluster.peers if self.cluster else None, alone)
        Inserter(tiles).add(kernel.BarrierOp() if self.cluster is None else kernel.ClusterBarrierOp())
        producer = Block([self._producer()])
        self._consume()
        place = tiles.parent
        after = tiles.next_op
        tiles.detach()
        stores = any(isinstance(o, kernel.BulkStoreOp) for o in tiles.walk())
        consumer = Block([tiles, kernel.BulkStoreWaitOp()] if stores else [tiles])
        made = kernel.SpecializeOp(self.extra, Region(producer), Region(consumer), self.groups)
        assert after is not None
        place.insert_op_before(made, after)
        if self.cluster is not None:  # no block ends while others use its shared memory
            place.insert_op_before(kernel.ClusterBarrierOp(), after)

    def _cluster(self) -> tuple[ClusterCopies | None, int]:
        """What blocks share of their copies, and how many copy to one of them."""
        cluster = thread_block_of(schedule_of(self.fn)).cluster
        if cluster is None:
            return None, 1
        product = next(o for o in self.loop.body.block.ops if isinstance(o, kernel.MmaOp))
        variables = tile_variables(self.tiles, next(copy for copy in self.copies if copy.target is product.a))
        rows, columns = check_cluster(cluster, self.tiles, variables)
        self.fn.attributes[CLUSTER] = DenseArrayBase.from_list(i64, [rows, columns])
        return ClusterCopies(rows, columns, variables, self.tiles), rows + columns - 1

    def _ring(self, local: kernel.LocalOp) -> SSAValue:
        ring = kernel.LocalOp(memref(element_of(local.result), (self.depth, *shape_of(local.result))))
        ring.attributes |= local.attributes
        return Inserter(local).add(ring).results[0]

    def _barriers(self, place: Operation, count: int, number: int | None = None) -> SSAValue:
        """So many barriers, those of a ring else, at the head of the kernel."""
        build = Inserter(place)
        barriers = build.add(kernel.LocalOp(memref("i64", (number or self.depth,)))).results[0]
        build.add(kernel.MbarrierInitOp(barriers, count))
        return barriers

    # -- the warps that copy -------------------------------------------------------------------------------------------

    def _producer(self) -> scf.ParallelOp:
        """The tiles of a block again, with the loop and its copies alone."""
        args = self.tiles.body.block.args
        block = Block(arg_types=[a.type for a in args])
        known: dict[SSAValue, SSAValue] = dict(zip(args, block.args, strict=True))

        def again(value: SSAValue) -> SSAValue:
            return _again(value, known, self.tiles, block.add_op)

        low, high, step = [again(v) for v in (self.loop.lb, self.loop.ub, self.loop.step)]
        start = self._first(block.add_op, low, high, step)
        block.add_op(scf.ForOp(low, high, step, start, Region(self._copying(known))))
        block.add_op(scf.ReduceOp())
        return scf.ParallelOp(self.tiles.lowerBound, self.tiles.upperBound, self.tiles.step, Region(block))

    def _copying(self, known: dict[SSAValue, SSAValue]) -> Block:
        """The body of the loop that copies: it waits until a buffer is free and starts the copies of its operands."""
        block = Block(arg_types=[IndexType(), i32, i32])
        variable, slot, parity = block.args
        inside = {**known, self.loop.body.block.args[0]: variable}
        block.add_op(other := arith.SubiOp(number(1, block.add_op), parity))
        block.add_op(kernel.MbarrierWaitOp(self.empty, slot, other.result))
        block.add_op(kernel.MbarrierExpectOp(self.full, slot, sum(copy.bytes for copy in self.copies)))
        for copy in self.copies:
            indices = [_again(v, inside, self.tiles, block.add_op) for v in (*copy.coordinates, copy.at)]
            block.add_op(buffer := kernel.SubviewOp(self.rings[copy.target], slot))
            *coordinates, at = indices
            barrier = self.full, slot
            if self.cluster is not None and (sharing := self.cluster.sharing(copy)) is not None:
                part = shared_copy(copy, coordinates, buffer.result, at, barrier, sharing, block.add_op)
                block.add_op(part)
            else:
                block.add_op(kernel.BulkCopyOp(copy.map, coordinates, buffer.result, at, barrier))
        block.add_op(scf.YieldOp(*self._next(block.add_op, slot, parity)))
        return block

    # -- the warps that compute ----------------------------------------------------------------------------------------

    def _consume(self) -> None:
        """The loop waits for the copies of a buffer, and frees that of the product before."""
        body, old = self.loop.body.block, self.loop
        carried = 3 if self.release.in_flight else 2
        slot, parity, *former = (body.insert_arg(i32, len(body.args)) for _ in range(carried))
        assert body.first_op is not None and body.last_op is not None
        first = Inserter(body.first_op)
        first.add(kernel.MbarrierWaitOp(self.full, slot, parity))
        now = {local: first.add(kernel.SubviewOp(ring, slot)).results[0] for local, ring in self.rings.items()}
        for copy in self.copies:
            copy.detach()
            copy.erase()
        for local, view in now.items():
            local.replace_all_uses_with(view)
        for op in self.locals:
            op.detach()
            op.erase()
        last = Inserter(body.last_op)
        if self.release.in_flight:
            start_products(body)
            self.release.former(last.add, former[0])
        else:
            self.release.own(last.add, slot)
        if self.order is not None:
            self.order.give(last.add, self.order.take(old), old, body.args[0])
        following_ = [*self._next(last.add, slot, parity), slot]
        last.add(scf.YieldOp(*body.last_op.operands, *following_[:carried]))
        body.last_op.detach()
        sweep(body)
        place = Inserter(old)
        start = [*self._first(place.add, old.lb, old.ub, old.step), number(-1, place.add)][:carried]
        new = scf.ForOp(old.lb, old.ub, old.step, [*old.iter_args, *start], Region(old.body.detach_block(body)))
        new.attributes |= old.attributes
        place.add(new)
        for result, again in zip(old.results, new.results, strict=False):
            result.replace_all_uses_with(again)
        if self.release.in_flight:
            await_products(list(new.results[: len(old.results)]), old)
            self.release.former(place.add, new.results[-1], certain=_runs(old))
        old.detach()
        old.erase()

    def _first(self, add: Add, low: SSAValue, high: SSAValue, step: SSAValue) -> list[SSAValue]:
        """The buffer and the parity with which the loop of a tile begins: after those of a block's tiles before."""

        def made(kind: type[arith.SignlessIntegerBinaryOperation], a: SSAValue, b: SSAValue | int) -> SSAValue:
            add(op := kind(a, _constant(add, b) if isinstance(b, int) else b))
            return op.result

        last = made(arith.SubiOp, made(arith.AddiOp, made(arith.SubiOp, high, low), step), 1)
        add(iteration := kernel.IterationOp())
        before = made(arith.MuliOp, iteration.result, made(arith.FloorDivSIOp, last, step))
        rounds = made(arith.FloorDivSIOp, before, self.depth)
        found = [made(arith.RemSIOp, before, self.depth), made(arith.RemSIOp, rounds, 2)]
        return [Index(each, add).narrow() for each in found]

    def _next(self, add: Add, slot: SSAValue, parity: SSAValue) -> list[SSAValue]:
        """The buffer after ``slot``, and the parity of its phase, which changes when the ring begins again."""
        after, wraps = next_slot(add, slot, self.depth, 1)
        add(turned := arith.ExtUIOp(wraps, i32))
        add(other := arith.XOrIOp(parity, turned.result))
        return [after, other.result]


def _runs(loop: scf.ForOp) -> bool:
    """Whether a loop is known to have an iteration."""
    first, last = constant_of(loop.lb), constant_of(loop.ub)
    return first is not None and last is not None and first < last


def _constant(add: Add, value: int) -> SSAValue:
    add(op := arith.ConstantOp(IntegerAttr(value, IndexType())))
    return op.result


def _again(value: SSAValue, known: dict[SSAValue, SSAValue], around: Operation, add: Add) -> SSAValue:
    """A value that is computed within ``around``, computed again."""
    op = value.owner
    if value in known or not isinstance(op, Operation) or not around.is_ancestor(op):
        return known.get(value, value)
    for operand in op.operands:
        known[operand] = _again(operand, known, around, add)
    add(copy := op.clone(known))
    known[value] = copy.results[0]
    return known[value]
