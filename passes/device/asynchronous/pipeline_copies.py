"""Software pipelining (``pipeline-copies``): the copies of later iterations are in flight while an iteration
computes.

    scf.for %b = 0 to %n step 16 {                       kernel.async_copy %A[…0…] to %s[0]; kernel.async_group
      kernel.write (kernel.read %A[…%b…]), %s            kernel.async_copy %A[…16…] to %s[1]; kernel.async_group
      … kernel.read %s … }                           →   scf.for %b = 0 to %n step 16 iter_args(%slot = 0) {
                                                           kernel.async_wait {groups = 1}
                                                           kernel.async_copy %A[…%b + 32…] to %s[%slot - 1]
                                                           kernel.async_group
                                                           … kernel.read %s[%slot] … }
                                                         kernel.async_wait {groups = 0}

The staged operands have a ring of ``depth`` buffers, as many as the schedule gives or as fit in shared memory. Elements
at computed offsets (the pixels of a convolution) are copied one by one, or if they have less than 4 bytes, several
neighbours at a time (the channels of a pixel, NHWC). A copy is not changed if a cast or a computation is between memory
and shared memory, or if elements of less than 4 bytes are not neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.ir import Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from mlc.dialects import kernel
from mlc.dialects.types import element_of, memref, shape_of
from mlc.passes.context import gpu_of
from mlc.passes.device.distribution.block_threads import threads_of
from mlc.passes.device.gathers.axis_info import FirstNeighbours
from mlc.passes.device.loops.index import number
from mlc.passes.device.loops.insertion import Inserter, next_slot
from mlc.passes.device.loops.pipelined_copies import Copy, copies_of, has_registers
from mlc.passes.device.loops.recompute import recomputed
from mlc.passes.device.loops.ring_depth import ring_depth
from mlc.passes.device.streaming.promote_locals import is_stream_of_fragments
from mlc.passes.device.streaming.values.guards import is_guard
from mlc.passes.effects import erase_dead
from mlc.passes.schedule.apply_schedules import following
from mlc.passes.shared_memory import check_shared
from mlc.target import GpuTarget


@dataclass(frozen=True)
class PipelineCopies(ModulePass):
    name = "pipeline-copies"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp)]:
            for loop in [o for o in fn.walk() if isinstance(o, scf.ForOp) and not is_guard(o)]:
                copies = [copy for copy in copies_of(fn, loop) if has_registers(fn, loop, copy, gpu_of(ctx))]
                with following(fn):
                    depth = _depth(fn, loop, copies, gpu_of(ctx)) if copies else 1
                if depth > 1:
                    _Pipeline(loop, copies, depth).run()
                    with following(fn):
                        check_shared(fn, gpu_of(ctx), shares=is_stream_of_fragments(fn))


def _depth(fn: kernel.FuncOp, loop: scf.ForOp, copies: Sequence[Copy], target: GpuTarget) -> int:
    threads = threads_of(fn, target) or target.block_threads
    return ring_depth(fn, loop, [copy.local for copy in copies], threads, target)


@dataclass
class _Pipeline:
    loop: scf.ForOp
    copies: Sequence[Copy]
    depth: int
    rings: dict[Copy, SSAValue] = field(default_factory=dict)

    def run(self) -> None:
        for copy in self.copies:
            self.rings[copy] = self._ring(copy)
        before = Inserter(self.loop)
        first = number(0, before.add)
        for n in range(self.depth - 1):
            self._prologue(before, n)
        new = self._steady(first)
        before.add(new)
        before.add(kernel.AsyncWaitOp(0))
        for old, result in zip(self.loop.results, new.results, strict=False):
            old.replace_all_uses_with(result)
        Rewriter.erase_op(self.loop)

    def _ring(self, copy: Copy) -> SSAValue:
        type_ = memref(element_of(copy.local.result), (self.depth, *shape_of(copy.local.result)))
        ring = kernel.LocalOp(type_, copy.local.layout)
        block = copy.local.parent
        assert block is not None
        block.insert_op_before(ring, copy.local)
        return ring.result

    def _prologue(self, build: Inserter, n: int) -> None:
        """Start the copies of iteration ``n``, to buffer ``n``, before the loop."""
        ahead = build.add(arith.MuliOp(self.loop.step, build.index(n))).results[0]
        self._start(build, build.add(arith.AddiOp(self.loop.lb, ahead)).results[0], number(n, build.add))

    def _start(self, build: Inserter, variable: SSAValue, slot: SSAValue) -> None:
        """Start the copies of the iteration with the loop variable ``variable``, to the buffers ``slot``, as one
        group."""
        exists = build.add(arith.CmpiOp(variable, self.loop.ub, "slt")).results[0]
        body = self.loop.body.block
        known: dict[SSAValue, SSAValue] = {body.args[0]: variable}
        for copy in self.copies:
            target = build.add(kernel.SubviewOp(self.rings[copy], slot)).results[0]
            build.add(self._copy(build, copy, known, target, exists))
        build.add(kernel.AsyncGroupOp())

    def _copy(
        self, build: Inserter, copy: Copy, known: dict[SSAValue, SSAValue], target: SSAValue, exists: SSAValue
    ) -> Operation:
        """Return an asynchronous copy with the addresses of another iteration."""
        read, write = copy.read, copy.write

        def there(values: Sequence[SSAValue]) -> list[SSAValue]:
            return [recomputed(v, known, self.loop.body.block, build.add) for v in values]

        (at,), limits = there([write.offset]), there(read.valid)
        valid = dict(zip(kernel.valid_of(read), limits, strict=True))
        fixed = [s for s in write.mixed_strides if isinstance(s, int)]
        if isinstance(read, kernel.GatherOp):
            offsets = self._offsets(build, copy, read.offsets, known)
            return kernel.AsyncGatherOp(read.buffer, offsets, target, at, fixed, copy.width, valid, when=exists)
        (offset,), dynamic = there([read.offset]), there(read.dynamic)
        strides = [s if isinstance(s, int) else dynamic.pop(0) for s in read.mixed_strides]
        shape = read.result.type.get_shape()  # type: ignore[attr-defined]
        return kernel.AsyncCopyOp(
            read.buffer, offset, strides, target, at, fixed, shape, copy.width, valid, when=exists
        )

    def _offsets(self, build: Inserter, copy: Copy, offsets: SSAValue, known: dict[SSAValue, SSAValue]) -> SSAValue:
        """Return the offsets of elements, or of the first of each ``width`` neighbours, in another iteration."""
        if copy.width == 1:
            return recomputed(offsets, known, self.loop.body.block, build.add)
        strides = copy.write.mixed_strides
        axis = strides.index(1) - len(strides)
        return FirstNeighbours(axis, copy.width, self.loop.body.block, known, build.add).of(offsets)

    def _steady(self, first: SSAValue) -> scf.ForOp:
        """Return the loop that waits for the oldest group, and starts the copies of the iteration ``depth - 1``
        later."""
        body = self.loop.body.block
        slot = body.insert_arg(i32, len(body.args))
        assert body.first_op is not None
        build = Inserter(body.first_op)
        build.add(kernel.AsyncWaitOp(self.depth - 2))
        far = build.add(arith.MuliOp(self.loop.step, build.index(self.depth - 1))).results[0]
        ahead = build.add(arith.AddiOp(body.args[0], far)).results[0]
        self._start(build, ahead, next_slot(build.add, slot, self.depth, -1)[0])
        for copy in self.copies:
            now = build.add(kernel.SubviewOp(self.rings[copy], slot)).results[0]
            copy.local.result.replace_all_uses_with(now)
        for op in [o for copy in self.copies for o in (copy.write, copy.read, copy.local)]:
            Rewriter.erase_op(op)
        last = body.last_op
        assert last is not None
        following, _ = next_slot(Inserter(last).add, slot, self.depth, 1)
        Inserter(last).add(scf.YieldOp(*last.operands, following))
        Rewriter.erase_op(last)
        erase_dead(body.ops)
        region = Region(self.loop.body.detach_block(body))
        new = scf.ForOp(self.loop.lb, self.loop.ub, self.loop.step, [*self.loop.iter_args, first], region)
        new.attributes |= self.loop.attributes
        return new
