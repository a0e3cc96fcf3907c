"""Operand staging (``stage-operands``): a thread block copies the operands of several steps of a sum to shared memory
together.

    scf.for %k = 0 to 512 {                       scf.for %b = 0 to 512 step 16 {
      %a = kernel.read %A[…%k…] : 128x1             kernel.write (kernel.read %A[…%b…] : 16x128x1), %s
      %b = kernel.read %B[…%k…] : 1x128      →      kernel.write (kernel.read %B[…%b…] : 16x1x128), %t
      … }                                           scf.for %k = 0 to 16 { … kernel.read %s … kernel.read %t … } }

Each element of an operand is then read from memory once a block, by neighbouring threads, and not by each thread that
multiplies it. Steps beyond a multiple of 16 read as before. A schedule may give another number of steps (``k/32``). For
a gather, such as that of a convolution's image, the offsets of all staged steps are computed at once; terms that are
equal in all steps are computed before the loop. Reads of narrow elements at offsets that are not linear (pixels of a
row) are handled like gathers.

In a stream on tensor cores each group of steps has its own local arrays, and there is no loop over groups, because the
copies of the stream's loop are pipelined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp, VectorType
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from mlc.dialects import kernel
from mlc.dialects.poly import ScheduleError, schedule_of
from mlc.dialects.types import ITEMSIZE, element_of, memref
from mlc.passes.context import gpu_of
from mlc.passes.device.distribution.block_threads import threads_of
from mlc.passes.device.gathers.widening import Widening
from mlc.passes.device.loops.coefficients import constant_of, most_of
from mlc.passes.device.loops.recompute import recomputed
from mlc.passes.device.loops.staged_reads import StagedRead, staged_reads
from mlc.passes.device.streaming.promote_locals import is_stream_of_fragments
from mlc.passes.loops.body.tile_values import offset_type
from mlc.passes.schedule.apply_schedules import following
from mlc.passes.schedule.gpu.tile_sizes import padded
from mlc.passes.shared_memory import shared_bytes
from mlc.target import GpuTarget

FRAGMENT = 16  # steps that a fragment of halves has


@dataclass(frozen=True)
class StageOperands(ModulePass):
    name = "stage-operands"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp) and o.serial is None]:
            for loop in [o for o in fn.walk() if isinstance(o, scf.ForOp)]:
                reads = staged_reads(fn, loop)
                with following(fn):
                    steps = _steps(fn, loop, reads, gpu_of(ctx)) if reads else None
                if steps:
                    _Staging(fn, loop, reads, steps).run()


def _steps(fn: kernel.FuncOp, loop: scf.ForOp, reads: Sequence[StagedRead], target: GpuTarget) -> int | None:
    """Return how many steps are staged together: the number that the schedule gives, or the best number that fits; None
    if the loop has fewer steps. Raises ScheduleError if the number in the schedule does not fit."""
    asked, trips = kernel.loop_of(loop).staged, constant_of(loop.ub)
    first = () if asked is None else (asked,)
    given = bool(first) and fn.origin.given
    sizes = first if given else (*first, *_sizes(reads, target))
    if is_stream_of_fragments(fn) and first:
        return first[0]
    if trips is not None and trips < min(sizes):
        return None
    used, limit = shared_bytes(fn, target), target.shared_optin if given else _limit(fn, target)
    each = sum(r.row * ITEMSIZE[element_of(r.op.buffer)] for r in reads)
    room = (limit - used) // each
    if given and sizes[0] > room:
        need = used + sizes[0] * each
        raise ScheduleError(f"{sizes[0]} steps need {need} bytes of shared memory, of {limit}; stage {room} or fewer")
    return next((n for n in sizes if n <= room and (trips is None or trips >= n)), None)


def _limit(fn: kernel.FuncOp, target: GpuTarget) -> int:
    """Return the bytes of shared memory for one buffer of a ring of two, with which a multiprocessor runs as many
    blocks as its registers allow."""
    return max(target.shared, target.shared_of(threads_of(fn, target) or target.block_threads) // 2)


def _sizes(reads: Sequence[StagedRead], target: GpuTarget) -> tuple[int, ...]:
    """Return the numbers of steps that may be staged together, the best first; narrow elements allow more steps."""
    sizes, known = {ITEMSIZE[element_of(r.op.buffer)] for r in reads}, target.heuristics
    if any(size >= 4 for size in sizes):
        return known.staged_steps
    return known.long_steps if max(sizes) == 2 and target.warpgroups else known.narrow_steps


@dataclass
class _Staging:
    fn: kernel.FuncOp
    loop: scf.ForOp
    reads: Sequence[StagedRead]
    steps: int
    left: SSAValue | None = None  # the steps of a group that are the sum's, where others are beside them
    end: SSAValue | None = None  # the steps of a sum whose last group may have others, too

    def run(self) -> None:
        """Replace the loop by one over groups of steps, and one over the remaining steps."""
        block = self.loop.parent
        assert block is not None
        self.block = block
        zero, one, steps = self.loop.lb, self.loop.step, self._index(self.steps)
        trips = constant_of(self.loop.ub)
        most = trips if trips is not None else self._most_steps()
        if most is not None and trips is None:
            self.end = self.loop.ub
        if most is not None and is_stream_of_fragments(self.fn):
            self._replace(self._each_group(most))
            return
        if self.end is not None:
            self._replace(self._groups(zero, self._whole(steps, up=True), steps, one))
            return
        whole = self._whole(steps) if trips is None else self._index(trips // self.steps * self.steps)
        last: Sequence[SSAValue] = self._groups(zero, whole, steps, one)
        if trips is None or trips % self.steps:
            last = self._insert(self._copy_of_loop(whole, last)).results
        self._replace(last)

    def _most_steps(self) -> int | None:
        """Return the most steps of a sum in a padded block of a stream all of whose operands, staged or computed, are 0
        beyond its end; None for other sums."""
        reads = [o for o in self.loop.body.block.ops if isinstance(o, kernel.ReadOp | kernel.GatherOp)]
        others = [o for o in reads if o not in [r.op for r in self.reads]]
        computed = all(isinstance(o.buffer.owner, kernel.LocalOp) for o in others)
        most = most_of(self.loop.ub) if computed and any(nest.streamed for nest in schedule_of(self.fn)) else None
        whole = most is not None and (most % self.steps == 0 or is_stream_of_fragments(self.fn))
        return most if whole else None

    def _replace(self, last: Sequence[SSAValue]) -> None:
        """Replace the results of the loop by ``last``, and erase it."""
        for old, new in zip(self.loop.results, last, strict=True):
            old.replace_all_uses_with(new)
        Rewriter.erase_op(self.loop)

    def _insert(self, op: Operation) -> Operation:
        self.block.insert_op_before(op, self.loop)
        return op

    def _index(self, value: int) -> SSAValue:
        return self._insert(arith.ConstantOp(IntegerAttr(value, IndexType()))).results[0]

    def _whole(self, steps: SSAValue, up: bool = False) -> SSAValue:
        """Return the number of steps in whole groups, rounded down, or ``up``."""
        total = self.loop.ub
        if up:
            total = self._insert(arith.AddiOp(total, self._index(self.steps - 1))).results[0]
        groups = self._insert(arith.FloorDivSIOp(total, steps)).results[0]
        return self._insert(arith.MuliOp(groups, steps)).results[0]

    def _local(self, read: StagedRead) -> SSAValue:
        """Return the local array of a read, added at the start of the kernel."""
        first = self.fn.block.first_op
        assert first is not None
        local = kernel.LocalOp(memref(element_of(read.op.buffer), (self.steps, read.row)))
        self.fn.block.insert_op_before(local, first)
        return local.result

    def _each_group(self, trips: int) -> Sequence[SSAValue]:
        """Insert the groups one after the other, without a loop, and return the last values. The last group may have
        fewer steps, rounded up to whole fragments: operands are 0 there."""
        carried: Sequence[SSAValue] = self.loop.iter_args
        for start in range(0, trips, self.steps):
            left = min(self.steps, trips - start)
            self.steps = max(padded(left), FRAGMENT)
            self.left = self._index(left) if left < self.steps and self.end is None else None
            body = self._group_body(carried, self.loop.lb, self._index(self.steps), self.loop.step)
            inner = body.last_op
            assert isinstance(inner, scf.YieldOp)
            at, carried = self._index(start), tuple(inner.operands)
            Rewriter.erase_op(inner)
            Rewriter.inline_block(body, InsertPoint.before(self.loop), [at, *self.loop.iter_args])
        return carried

    def _groups(self, zero: SSAValue, whole: SSAValue, steps: SSAValue, one: SSAValue) -> Sequence[SSAValue]:
        body = self._group_body(None, zero, steps, one)
        return self._insert(scf.ForOp(zero, whole, steps, self.loop.iter_args, Region(body))).results

    def _group_body(self, carried: Sequence[SSAValue] | None, zero: SSAValue, steps: SSAValue, one: SSAValue) -> Block:
        """Return a block with the copies and the steps of a group. They begin with the values ``carried``, or if it is
        None, with the block's arguments."""
        self.locals = [self._local(r) for r in self.reads]
        block = Block(arg_types=[IndexType(), *(v.type for v in self.loop.iter_args)])
        if self.end is not None:
            block.add_op(left := arith.SubiOp(self.end, block.args[0]))
            self.left = left.result
        taken = [self._group(block, read) for read in self.reads]  # all in flight before one is waited for
        start = arith.ConstantOp(IntegerAttr(0, IndexType()))
        block.add_op(start)
        for read, value, local in zip(self.reads, taken, self.locals, strict=True):
            block.add_op(kernel.WriteOp(value, local, start.result, [read.row, *read.strides]))
        inner = self._steps(block, carried or block.args[1:], zero, steps, one)
        block.add_ops([inner, scf.YieldOp(*inner.results)])
        return block

    def _group(self, block: Block, read: StagedRead) -> SSAValue:
        """Return the elements that a group of steps reads."""
        op, type_ = read.op, read.op.result.type
        assert isinstance(type_, VectorType)
        wide = VectorType(type_.element_type, [self.steps, *read.extents])
        valid = {axis + 1: value for axis, value in kernel.valid_of(op).items()}
        if self.left is not None:
            valid = {0: self.left, **valid}
        if read.stride is None:
            taken: Operation = kernel.GatherOp(op.buffer, self._offsets(block, op, read.extents), wide, valid=valid)
        else:
            assert isinstance(op, kernel.ReadOp)
            known: dict[SSAValue, SSAValue] = {self.loop.body.block.args[0]: block.args[0]}
            offset = recomputed(op.offset, known, self.loop.body.block, block.add_op)
            strides = [read.stride, *op.mixed_strides]
            taken = kernel.ReadOp(op.buffer, offset, strides, wide, valid=valid)
        block.add_op(taken)
        return taken.results[0]

    def _offsets(self, block: Block, op: kernel.GatherOp | kernel.ReadOp, extents: Sequence[int]) -> SSAValue:
        """Return the offsets of a group of steps."""
        type_ = offset_type(op.buffer)
        if isinstance(op, kernel.GatherOp):
            type_ = op.offsets.type.element_type  # type: ignore[attr-defined]
        widening = Widening(self.loop, block, block.args[0], self.steps, type_, len(extents), self._insert)
        if isinstance(op, kernel.GatherOp):
            return widening.value(op.offsets, extents)
        made = widening.value(op.offset, extents)
        for axis, stride in enumerate(op.strides.get_values()):
            if extents[axis] > 1 and stride:
                points = widening.points(axis, extents, int(stride))
                block.add_op(total := arith.AddiOp(made, points))
                made = total.result
        return made

    def _steps(
        self, outer: Block, carried: Sequence[SSAValue], zero: SSAValue, steps: SSAValue, one: SSAValue
    ) -> scf.ForOp:
        """Return the loop over the steps of a group, which reads the local arrays."""
        block = Block(arg_types=[IndexType(), *(v.type for v in self.loop.iter_args)])
        at = arith.AddiOp(outer.args[0], block.args[0])
        block.add_op(at)
        known: dict[SSAValue, SSAValue] = dict(
            zip(self.loop.body.block.args, (at.result, *block.args[1:]), strict=True)
        )
        for read, local in zip(self.reads, self.locals, strict=True):
            row = arith.ConstantOp(IntegerAttr(read.row, IndexType()))
            start = arith.MuliOp(block.args[0], row.result)
            taken = kernel.ReadOp(local, start.result, _unit(read), read.op.result.type)
            block.add_ops([row, start, taken])
            known[read.op.result] = taken.result
        _copy_body(self.loop.body.block, block, known, {r.op for r in self.reads})
        made = scf.ForOp(zero, steps, one, carried, Region(block))
        kernel.set_loop(made, kernel.Loop(unroll=True))
        return made

    def _copy_of_loop(self, start: SSAValue, carried: Sequence[SSAValue]) -> scf.ForOp:
        """Return a copy of the loop from ``start`` on."""
        old = self.loop.body.block
        block = Block(arg_types=old.arg_types)
        _copy_body(old, block, dict(zip(old.args, block.args, strict=True)), set())
        return scf.ForOp(start, self.loop.ub, self.loop.step, carried, Region(block))


def _unit(read: StagedRead) -> list[int]:
    """Return the strides of a step in its row; 0 along axes of extent 1."""
    return [s if extent > 1 else 0 for s, extent in zip(read.strides, read.extents, strict=True)]


def _copy_body(old: Block, new: Block, known: dict[SSAValue, SSAValue], without: set[Operation]) -> None:
    for op in old.ops:
        if op not in without:
            new.add_op(op.clone(known))
