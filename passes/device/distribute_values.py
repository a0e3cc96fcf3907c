"""Distribution over threads (``distribute-values``): which registers, lanes and warps hold the elements of each
vector.

    %0 = kernel.read %a[%i] {strides = [64, 1]} : … -> vector<64x64xf32>
      →   %0 = kernel.read … {distribution = #kernel.layout<"register[0, 32]… lane[0, 1]… of 64x64">}

    kernel.func @k   →   kernel.func @k attributes {launch = #kernel.launch<computing = 256>}

Extents that are no powers of two are padded: threads of the padding hold no element, and neither read nor write. The
fastest axis is the one along which most reads and writes are contiguous; those of shared memory count last. The
schedule may give the number of warps, and their grid on a tile of the tensor cores (``warps=2x4``).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from math import prod

from xdsl.context import Context
from xdsl.dialects import vector
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects import kernel
from mlc.dialects.kernel.linear_layout import LinearLayout
from mlc.dialects.poly import schedule_of, thread_block_of
from mlc.dialects.types import ITEMSIZE, element_of
from mlc.passes.context import gpu_of
from mlc.passes.device.distribution.block_threads import threads_of
from mlc.passes.device.distribution.blocked import blocked
from mlc.passes.device.distribution.fragments import sums
from mlc.passes.device.distribution.value_classes import ValueClass, extents, value_classes
from mlc.passes.device.distribution.warpgroup import sums_of_warpgroups
from mlc.passes.schedule.apply_schedules import following
from mlc.passes.schedule.gpu.tile_sizes import padded
from mlc.target import GpuTarget

DISTRIBUTION = "distribution"
WORD = 4  # bytes
WINDOW = 4  # of one buffer at several offsets: those of a window
SOURCES = (kernel.ReadOp, kernel.GatherOp, kernel.StepOp, kernel.MultiReductionOp, vector.BroadcastOp)
"""The operations whose results have a distribution of their own; results of other operations have that of the
operands."""


@dataclass(frozen=True)
class DistributeValues(ModulePass):
    name = "distribute-values"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp)]:
            with following(fn):
                _distribute(fn, gpu_of(ctx))


def _distribute(fn: kernel.FuncOp, target: GpuTarget) -> None:
    classes = value_classes(fn)
    each = list({id(c): c for c in classes.values()}.values())
    shapes = {id(c): tuple(map(padded, c.shape)) for c in each}
    copied = (tuple(map(padded, o.extents)) for o in fn.walk() if isinstance(o, kernel.AsyncCopyOp))
    widest = max(map(prod, (*shapes.values(), *copied)), default=1)
    threads = threads_of(fn, target) or min(max(widest, target.warp), target.block_threads)
    fn.launch = replace(fn.launch, computing=threads)
    of_class = {id(c): _distribution(c, shapes[id(c)], _warps(fn, threads, target), target) for c in each}
    for op in fn.walk():
        of_warpgroups = isinstance(op, kernel.MmaOp) and op.warpgroup is not None
        if (isinstance(op, SOURCES) or of_warpgroups) and op.results[0] in classes:
            op.attributes[DISTRIBUTION] = kernel.LayoutAttr(of_class[id(classes[op.results[0]])])
        elif isinstance(op, kernel.AsyncCopyOp):
            op.attributes[DISTRIBUTION] = kernel.LayoutAttr(_of_copy(op, threads // target.warp, target))


def _warps(fn: kernel.FuncOp, threads: int, target: GpuTarget) -> tuple[int, ...]:
    """Return the grid of warps over a tile's rows and columns, or their number."""
    return thread_block_of(schedule_of(fn)).warps or (threads // target.warp,)


def _distribution(
    values: ValueClass, shape: tuple[int, ...], warps: tuple[int, ...], target: GpuTarget
) -> LinearLayout:
    """Return the distribution of a class of values: that of the tensor cores' results, or one by which threads access
    neighbouring elements."""
    if product := next((v.owner for v in values.values if isinstance(v.owner, kernel.MmaOp)), None):
        mma = product.shape
        rows, columns = max(shape[0], mma.rows), max(shape[1], mma.columns)
        if product.warpgroup:
            return sums_of_warpgroups((rows, columns), warps)
        return sums((rows, columns), warps, product.shape)
    order = _order(values)
    return blocked(
        shape, order, prod(warps), target.warp, order[1] if _slides(values) else None, WORD if _widens(values) else 1
    )


def _widens(values: ValueClass) -> bool:
    """Return whether a class holds bytes that are read from one local array and written to another. Then a thread holds
    the bytes of a word."""
    reads = [v.owner for v in values.values if isinstance(v.owner, kernel.ReadOp)]
    uses = [use.operation for v in values.values for use in v.uses]
    homes = [kernel.root_of(o.buffer).owner for o in (*reads, *uses) if isinstance(o, kernel.ReadOp | kernel.WriteOp)]
    local = len(reads) == 1 and len(homes) == 2 and all(isinstance(home, kernel.LocalOp) for home in homes)
    return local and ITEMSIZE[element_of(reads[0].buffer)] == 1


def _slides(values: ValueClass) -> bool:
    """Return whether a class has the points of a sliding window: one buffer is read at several offsets. A thread then
    has neighbours along the second axis, such as rows of an image, which share the elements that it reads."""
    reads = [v.owner for v in values.values if isinstance(v.owner, kernel.ReadOp)]
    if len(values.shape) < 2:
        return False
    kinds = Counter((o.buffer, o.strides, *o.dynamic, o.result.type) for o in reads if len(extents(o.result)) > 1)
    return max(kinds.values(), default=0) >= WINDOW


def _of_copy(op: kernel.AsyncCopyOp, warps: int, target: GpuTarget) -> LinearLayout:
    """Return the distribution of an asynchronous copy: neighbouring threads copy neighbouring chunks in memory."""
    strides = [int(s) for s in op.strides.get_values()]
    order = sorted(range(len(strides)), key=lambda n: (op.chunks[n] == 1, abs(strides[n]), -n))
    return blocked(tuple(map(padded, op.chunks)), order, warps, target.warp)


def _order(values: ValueClass) -> list[int]:
    """Return the axes of a class, the fastest first: those with most contiguous accesses, counted in elements, then the
    last ones. A reduced axis without contiguous accesses is the slowest, so that warps rather than threads have parts
    of the sums."""
    rank = len(values.shape)
    votes, local = _votes(values, Block), _votes(values, kernel.LocalOp)
    reduced = any(isinstance(use.operation, kernel.MultiReductionOp) for v in values.values for use in v.uses)
    last = rank - 1 if reduced and max(votes.values(), default=0) > votes[rank - 1] else rank
    return sorted(range(rank), key=lambda axis: (axis == last, -votes[axis], -local[axis], -axis))


def _votes(values: ValueClass, home: type) -> Counter[int]:
    """Return how many elements of a class are accessed contiguously along each axis."""
    votes = Counter[int]()
    for v in values.values:
        for axis in _contiguous(v, len(values.shape), home):
            votes[axis] += prod(extents(v))
    return votes


def _contiguous(value: SSAValue, rank: int, home: type) -> list[int]:
    """Return the axes along which the read that defines a value, and the writes of it, are contiguous. ``home``:
    whether accesses of arguments (``Block``) or of local arrays (``LocalOp``) count."""
    uses = [use.operation for use in value.uses if isinstance(use.operation, kernel.WriteOp | kernel.AsyncGatherOp)]
    accesses = [o for o in (value.owner, *uses) if isinstance(o, kernel.ReadOp | kernel.WriteOp | kernel.AsyncGatherOp)]
    axes = (_unit_axis(op, value, rank) for op in accesses if isinstance(kernel.root_of(op.buffer).owner, home))
    return [axis for axis in axes if axis is not None]


def _unit_axis(op: Operation, value: SSAValue, rank: int) -> int | None:
    shape = extents(value)
    if isinstance(op, kernel.AsyncGatherOp):
        return None if op.axis is None else rank - len(shape) + op.axis
    assert isinstance(op, kernel.ReadOp | kernel.WriteOp)
    strides = [int(s) for s in op.strides.get_values()]
    found = [n for n, (extent, stride) in enumerate(zip(shape, strides, strict=True)) if extent > 1 and stride == 1]
    return rank - len(shape) + found[-1] if found else None
