"""Operand staging (``stage-operands``): a block copies what several steps of a sum read to shared memory, together.

    scf.for %k = 0 to 512 {                       scf.for %b = 0 to 512 step 16 {
      %a = kernel.read %A[…%k…] : 128x1             kernel.write (kernel.read %A[…%b…] : 16x128x1), %s
      %b = kernel.read %B[…%k…] : 1x128      →      kernel.write (kernel.read %B[…%b…] : 16x1x128), %t
      … }                                           scf.for %k = 0 to 16 { … kernel.read %s … kernel.read %t … } }

Each element of an operand is then read from memory once a block, by neighbouring threads, and not by each thread that
multiplies it. Steps beyond a multiple of 16 read as before. A schedule may say another number of steps (``k/32``). Of a
gather, as of the image of a convolution, the offsets of all staged steps are computed at once; what of them is the same
in all steps, before the loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp, UnitAttr, VectorType
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects import kernel
from mlc.dialects.poly import ScheduleError
from mlc.dialects.types import ITEMSIZE, element_of, memref
from mlc.passes.context import gpu_of
from mlc.passes.device.loops.coefficients import coefficient, constant_of, depends
from mlc.passes.device.loops.recompute import recomputed
from mlc.passes.device.loops.widening import Widening, can_widen
from mlc.passes.device.spill_locals import reduction_bytes
from mlc.passes.loops.body.tile_body import STAGED
from mlc.passes.schedule.apply_schedules import following, is_given
from mlc.passes.schedule.gpu.tile_sizes import padded
from mlc.passes.tile.tile_kernels import SERIAL
from mlc.target import GpuTarget

UNROLL = "unroll"
"""The attribute of a loop that the C compiler unrolls."""
STEPS = (16, 8, 4)  # of a sum that are staged together, the best first, where the schedule does not say it
NARROW = (32, *STEPS)  # the same of halves and bytes
LONG = (64, *NARROW)  # the same of what warpgroups multiply: rows of 128 bytes
REUSE = 4  # how often an element is read at least, where it is staged


@dataclass(frozen=True)
class StageOperands(ModulePass):
    name = "stage-operands"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp) and SERIAL not in o.attributes]:
            for loop in [o for o in fn.walk() if isinstance(o, scf.ForOp)]:
                with following(fn):
                    found = _staged(fn, loop, gpu_of(ctx))
                if found:
                    _Staging(fn, loop, *found).run()


@dataclass(frozen=True)
class _Read:
    """A read that is staged: its step along the loop (None where offsets are computed), and the rows of its local
    array."""

    op: kernel.ReadOp | kernel.GatherOp
    stride: int | SSAValue | None
    extents: tuple[int, ...]

    @property
    def row(self) -> int:
        """Elements of a row: of one step. Neighbouring rows begin in other banks."""
        return prod(self.extents) + BANKS

    @property
    def strides(self) -> tuple[int, ...]:
        """The row-major strides of a step's elements."""
        return tuple(prod(self.extents[n + 1 :]) for n in range(len(self.extents)))


BANKS = 8  # of shared memory between rows: a warp accesses 4 rows of 8 elements without conflicts


def _staged(fn: kernel.FuncOp, loop: scf.ForOp, target: GpuTarget) -> tuple[list[_Read], int] | None:
    """The reads of a loop that are staged, and how many steps at a time; None where it is not worth it."""
    if not _steps_by_one(loop) or any(o.regions for o in loop.body.block.ops):
        return None
    written = {o.buffer for o in fn.walk() if isinstance(o, kernel.WriteOp)}
    tile = max((prod(r.type.get_shape()) for r in loop.results if isinstance(r.type, VectorType)), default=1)
    found = [r for o in loop.body.block.ops if (r := _candidate(o, loop, tile))]
    reads = [r for r in found if r.op.buffer not in written]
    local = any(isinstance(r.op.buffer.owner, kernel.LocalOp) for r in found)
    used = sum(_bytes(o) for o in fn.walk() if isinstance(o, kernel.LocalOp)) + reduction_bytes(fn, target)
    each = sum(r.row * ITEMSIZE[element_of(r.op.buffer)] for r in reads)
    trips = constant_of(loop.ub)
    wanted, given = loop.attributes.get(STAGED), is_given(fn)
    sizes = _sizes(reads, target)
    if isinstance(wanted, IntegerAttr):
        sizes = (wanted.value.data,) if given else (wanted.value.data, *sizes)
    limit = target.shared_optin if isinstance(wanted, IntegerAttr) and given else target.shared
    room = (limit - used) // max(each, 1)
    if len(reads) + local < 2 or not reads or trips is not None and trips < min(sizes):
        return None
    if isinstance(wanted, IntegerAttr) and given and sizes[0] > room:
        need = used + sizes[0] * each
        raise ScheduleError(f"{sizes[0]} steps need {need} bytes of shared memory, of {limit}; stage {room} or fewer")
    steps = next((n for n in sizes if n <= room and (trips is None or trips >= n)), None)
    return (reads, steps) if steps else None


def _sizes(reads: Sequence[_Read], target: GpuTarget) -> tuple[int, ...]:
    """The steps that may be staged together, the best first: of narrow elements more."""
    sizes = {ITEMSIZE[element_of(r.op.buffer)] for r in reads}
    if any(size >= 4 for size in sizes):
        return STEPS
    return LONG if sizes == {2} and target.warpgroups else NARROW


def _steps_by_one(loop: scf.ForOp) -> bool:
    return bool(loop.iter_args) and constant_of(loop.step) == 1 and constant_of(loop.lb) == 0


def _candidate(op: Operation, loop: scf.ForOp, tile: int) -> _Read | None:
    """A read of fewer elements than the tile has, whose offset is linear in the loop's variable, or a gather whose
    offsets are index arithmetic on it."""
    if not isinstance(op, kernel.ReadOp | kernel.GatherOp) or not isinstance(op.result.type, VectorType):
        return None
    extents, block = tuple(op.result.type.get_shape()), loop.body.block
    limits = (*op.valid, *(op.dynamic if isinstance(op, kernel.ReadOp) else ()))
    if prod(map(padded, extents)) * REUSE > tile or any(depends(v, block) for v in limits):
        return None
    if isinstance(op, kernel.GatherOp):
        return _Read(op, None, extents) if op.lane_offsets is None and can_widen(op.offsets, loop) else None
    stride = coefficient(op.offset, block.args[0])
    return _Read(op, stride, extents) if op.odd is None and stride not in (None, 0) else None


def _bytes(op: kernel.LocalOp) -> int:
    return int(prod(op.result.type.get_shape())) * ITEMSIZE[element_of(op.result)]


@dataclass
class _Staging:
    fn: kernel.FuncOp
    loop: scf.ForOp
    reads: Sequence[_Read]
    steps: int

    def run(self) -> None:
        """Replace the loop by one over groups of steps, and one over the steps that are left."""
        block = self.loop.parent
        assert block is not None
        self.block = block
        self.locals = [self._local(r) for r in self.reads]
        zero, one, steps = self.loop.lb, self.loop.step, self._index(self.steps)
        trips = constant_of(self.loop.ub)
        whole = self._whole(steps) if trips is None else self._index(trips // self.steps * self.steps)
        last: Sequence[SSAValue] = self._groups(zero, whole, steps, one)
        if trips is None or trips % self.steps:
            last = self._insert(self._copy_of_loop(whole, last)).results
        for old, new in zip(self.loop.results, last, strict=True):
            old.replace_all_uses_with(new)
        self.loop.detach()
        self.loop.erase()

    def _insert(self, op: Operation) -> Operation:
        self.block.insert_op_before(op, self.loop)
        return op

    def _index(self, value: int) -> SSAValue:
        return self._insert(arith.ConstantOp(IntegerAttr(value, IndexType()))).results[0]

    def _whole(self, steps: SSAValue) -> SSAValue:
        groups = self._insert(arith.FloorDivSIOp(self.loop.ub, steps)).results[0]
        return self._insert(arith.MuliOp(groups, steps)).results[0]

    def _local(self, read: _Read) -> SSAValue:
        """The local array of a read, at the head of the kernel."""
        first = self.fn.block.first_op
        assert first is not None
        local = kernel.LocalOp(memref(element_of(read.op.buffer), (self.steps, read.row)))
        self.fn.block.insert_op_before(local, first)
        return local.result

    def _groups(self, zero: SSAValue, whole: SSAValue, steps: SSAValue, one: SSAValue) -> Sequence[SSAValue]:
        block = Block(arg_types=[IndexType(), *(v.type for v in self.loop.iter_args)])
        taken = [self._group(block, read) for read in self.reads]  # all in flight before one is waited for
        start = arith.ConstantOp(IntegerAttr(0, IndexType()))
        block.add_op(start)
        for read, value, local in zip(self.reads, taken, self.locals, strict=True):
            block.add_op(kernel.WriteOp(value, local, start.result, [read.row, *read.strides]))
        inner = self._steps(block, zero, steps, one)
        block.add_ops([inner, scf.YieldOp(*inner.results)])
        return self._insert(scf.ForOp(zero, whole, steps, self.loop.iter_args, Region(block))).results

    def _group(self, block: Block, read: _Read) -> SSAValue:
        """The elements that a group of steps reads."""
        op, type_ = read.op, read.op.result.type
        assert isinstance(type_, VectorType)
        wide = VectorType(type_.element_type, [self.steps, *read.extents])
        valid = {axis + 1: value for axis, value in kernel.valid_of(op).items()}
        if isinstance(op, kernel.GatherOp):
            taken: Operation = kernel.GatherOp(op.buffer, self._offsets(block, op, read.extents), wide, valid=valid)
        else:
            assert read.stride is not None
            known: dict[SSAValue, SSAValue] = {self.loop.body.block.args[0]: block.args[0]}
            offset = recomputed(op.offset, known, self.loop.body.block, block.add_op)
            strides = [read.stride, *op.mixed_strides]
            taken = kernel.ReadOp(op.buffer, offset, strides, wide, valid=valid)
        block.add_op(taken)
        return taken.results[0]

    def _offsets(self, block: Block, op: kernel.GatherOp, extents: Sequence[int]) -> SSAValue:
        """The offsets of a group of steps."""
        type_ = op.offsets.type.element_type  # type: ignore[attr-defined]
        widening = Widening(self.loop, block, block.args[0], self.steps, type_, len(extents), self._insert)
        return widening.value(op.offsets, extents)

    def _steps(self, outer: Block, zero: SSAValue, steps: SSAValue, one: SSAValue) -> scf.ForOp:
        """The steps of a group, which read the local arrays."""
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
        made = scf.ForOp(zero, steps, one, outer.args[1:], Region(block))
        made.attributes[UNROLL] = UnitAttr()
        return made

    def _copy_of_loop(self, start: SSAValue, carried: Sequence[SSAValue]) -> scf.ForOp:
        """The loop from ``start`` on."""
        old = self.loop.body.block
        block = Block(arg_types=old.arg_types)
        _copy_body(old, block, dict(zip(old.args, block.args, strict=True)), set())
        return scf.ForOp(start, self.loop.ub, self.loop.step, carried, Region(block))


def _unit(read: _Read) -> list[int]:
    """The strides of a step in its row; 0 along axes of extent 1."""
    return [s if extent > 1 else 0 for s, extent in zip(read.strides, read.extents, strict=True)]


def _copy_body(old: Block, new: Block, known: dict[SSAValue, SSAValue], without: set[Operation]) -> None:
    for op in old.ops:
        if op not in without:
            new.add_op(op.clone(known))
