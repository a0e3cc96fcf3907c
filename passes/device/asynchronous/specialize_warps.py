"""Warp specialization (``specialize-warps``): additional warps copy operands through rings of buffers, and the others
multiply them.

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

One thread of the producer's warpgroup copies; each consumer warp signals when it has read a buffer. A product is in
flight while its warps wait for the next buffer, except if the ring has one buffer, if sums are promoted, or if an
operand is widened (to a single array). The ring has ``depth`` buffers, as many as the schedule gives or as fit in
shared memory. With ``cluster=2x2`` four blocks run together: those whose tiles are in one row or column each copy a
part of the operand that they share (multicast), and signal each other when they have read a buffer. With ``pingpong``
two groups of threads compute, each every second tile of a block: one multiplies while the other writes its results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region
from xdsl.passes import ModulePass

from mlc.dialects import kernel
from mlc.dialects.poly import schedule_of, thread_block_of
from mlc.passes.context import gpu_of
from mlc.passes.device.bulk.cluster_copies import ClusterCopies, check_cluster, tile_variables
from mlc.passes.device.bulk.consumer import Consumer
from mlc.passes.device.bulk.consumer_order import ConsumerOrder, check_locals, groups_of
from mlc.passes.device.bulk.mbarrier_ring import MbarrierRing, barriers
from mlc.passes.device.bulk.producer import Producer
from mlc.passes.device.bulk.products_in_flight import Release
from mlc.passes.device.distribution.block_threads import threads_of
from mlc.passes.device.distribution.warpgroup import WARPS
from mlc.passes.device.loops.insertion import Inserter
from mlc.passes.device.loops.ring_depth import ring_depth
from mlc.passes.schedule.apply_schedules import following
from mlc.passes.shared_memory import check_shared
from mlc.target import GpuTarget


@dataclass(frozen=True)
class SpecializeWarps(ModulePass):
    name = "specialize-warps"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp)]:
            if copies := [o for o in fn.walk() if isinstance(o, kernel.BulkCopyOp) and o.barrier is None]:
                with following(fn):
                    _Specialization(fn, copies, gpu_of(ctx)).run()


class _Specialization:
    """The rewriting of a kernel whose ``copies`` are in one loop, which is in a loop over the tiles of a block."""

    def __init__(self, fn: kernel.FuncOp, copies: Sequence[kernel.BulkCopyOp], target: GpuTarget):
        loop = copies[0].parent_op()
        assert isinstance(loop, scf.ForOp)
        tiles = loop.parent_op()
        assert isinstance(tiles, scf.ParallelOp)
        self.fn, self.copies, self.target, self.loop, self.tiles = fn, copies, target, loop, tiles
        self.threads = threads_of(fn, target) or target.block_threads
        self.extra, self.warps = WARPS * target.warp, self.threads // target.warp
        self.groups = groups_of(fn)

    def run(self) -> None:
        cluster = self._cluster()
        ring = self._ring(cluster)
        order = ConsumerOrder(barriers(self.tiles, self.warps, self.groups)) if self.groups > 1 else None
        release = Release(ring.empty, ring.depth, cluster.peers if cluster else None, self._no_product_in_flight(ring))
        Inserter(self.tiles).add(kernel.BarrierOp() if cluster is None else kernel.ClusterBarrierOp())
        producer = Producer(self.tiles, self.loop, self.copies, ring, cluster).loops()
        Consumer(self.loop, self.copies, ring, release, order).run()
        made = self._specialized(producer)
        check_shared(self.fn, self.target)
        if cluster is not None:  # no block ends while others use its shared memory
            assert isinstance(made.parent, Block)
            made.parent.insert_op_after(kernel.ClusterBarrierOp(), made)

    def _ring(self, cluster: ClusterCopies | None) -> MbarrierRing:
        """Return the ring of buffers. Each computing warp of every block that copies to a buffer signals when it has
        read the buffer."""
        owners = dict.fromkeys(copy.target.owner for copy in self.copies)
        locals_ = [o for o in owners if isinstance(o, kernel.LocalOp)]
        if self.groups > 1:
            check_locals(self.fn, locals_)
        threads = self.groups * self.threads + self.extra
        depth = ring_depth(self.fn, self.loop, locals_, threads, self.target)
        return MbarrierRing.made(locals_, depth, self.warps * (cluster.writers if cluster else 1), self.tiles)

    def _no_product_in_flight(self, ring: MbarrierRing) -> bool:
        """Return whether no product may be in flight, because sums are added in f32, or threads write an operand."""
        products = [o for o in self.loop.body.block.ops if isinstance(o, kernel.MmaOp)]
        return any(o.promoted or not {o.a, o.b} <= set(ring.buffers) for o in products)

    def _cluster(self) -> ClusterCopies | None:
        """Return how the blocks of a cluster share copies; None without a cluster."""
        cluster = thread_block_of(schedule_of(self.fn)).cluster
        if cluster is None:
            return None
        product = next(o for o in self.loop.body.block.ops if isinstance(o, kernel.MmaOp))
        variables = tile_variables(self.tiles, next(copy for copy in self.copies if copy.target is product.a))
        rows, columns = check_cluster(cluster, self.tiles, variables)
        self.fn.launch = replace(self.fn.launch, cluster=(rows, columns))
        return ClusterCopies(rows, columns, variables, self.tiles)

    def _specialized(self, producer: scf.ParallelOp) -> kernel.SpecializeOp:
        """Replace the loop over tiles by an operation with two such loops: one for the copying warps, one for the
        computing warps."""
        tiles, place = self.tiles, self.tiles.parent
        after = tiles.next_op
        assert place is not None and after is not None
        tiles.detach()
        stores = any(isinstance(o, kernel.BulkStoreOp) for o in tiles.walk())
        consumer = Block([tiles, kernel.BulkStoreWaitOp()] if stores else [tiles])
        made = kernel.SpecializeOp(self.extra, Region(Block([producer])), Region(consumer), self.groups)
        place.insert_op_before(made, after)
        return made
