"""Launch geometry (``set-launch-geometry``): the thread blocks of a launch, their threads, and their shared memory.

    kernel.func @k(…) attributes {launch = #kernel.launch<computing = 256>} { "scf.parallel"(%c0, %n, %c1) … }
      →   kernel.func @k(…) attributes {
            launch = #kernel.launch<computing = 256, launched = 256, grid = "n", resident = 2, shared = 4352>} {…}

Each iteration of the outermost parallel loops is a block. A grid may have fewer blocks than there are iterations: each
block then takes every grid-th iteration. With ``persist`` in the schedule there are as many blocks as run at a time. A
serial kernel has one block.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, VectorType, i64
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from mlc.dialects import kernel
from mlc.dialects.poly import schedule_of, thread_block_of
from mlc.dialects.semantics.dims import DimLike, dim_max, dim_min
from mlc.passes.context import gpu_of
from mlc.passes.device.distribution.value_classes import extents
from mlc.passes.device.loops.argument_alignment import aligned_arguments
from mlc.passes.device.loops.index_dims import dim_of
from mlc.passes.schedule.apply_schedules import following
from mlc.passes.shared_memory import check_shared, local_offsets, shared_bytes
from mlc.target import GpuTarget
from mlc.target.gpu import KIB

COPY_REGISTERS, REGISTER_STEP, MOST_REGISTERS = 40, 8, 240  # of a copying thread; of other threads, in steps
MOST_BLOCKS = 2**31 - 1  # of one axis of a grid (CUDA)


@dataclass(frozen=True)
class SetLaunchGeometry(ModulePass):
    name = "set-launch-geometry"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = gpu_of(ctx)
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp)]:
            with following(fn):
                check_shared(fn, target)
            fn.launch = _geometry(fn, target)
            for warps in (o for o in fn.walk() if isinstance(o, kernel.SpecializeOp)):
                warps.registers = DenseArrayBase.from_list(i64, _shared_registers(fn, warps, target))


def _geometry(fn: kernel.FuncOp, target: GpuTarget) -> kernel.Launch:
    shared = shared_bytes(fn, target)
    return replace(
        fn.launch,
        launched=_launched(fn, target),
        grid=_grid(fn, target),
        resident=resident_blocks(fn, target),
        shared=shared,
        dynamic=local_offsets(fn)[1] if shared > target.shared else 0,
        aligned=tuple(aligned_arguments(fn)),
    )


def _calls_library(fn: kernel.FuncOp) -> bool:
    return any(isinstance(o, kernel.LibraryCallOp) for o in fn.walk())


def _launched(fn: kernel.FuncOp, target: GpuTarget) -> int:
    """Return the number of all threads of a block: each group that computes a tile, and those that copy."""
    if _calls_library(fn):
        return target.library_threads
    assert fn.launch.computing is not None, "distribute-values runs before"
    return fn.launch.computing * consumer_groups(fn) + producer_threads(fn)


def producer_threads(fn: kernel.FuncOp) -> int:
    """Return the number of threads of a block that copy the operands of the others."""
    return sum(o.threads.value.data for o in fn.walk() if isinstance(o, kernel.SpecializeOp))


def consumer_groups(fn: kernel.FuncOp) -> int:
    """Return how many groups of threads of a block each compute their own tile."""
    return max((o.groups.value.data for o in fn.walk() if isinstance(o, kernel.SpecializeOp) and o.groups), default=1)


def resident_blocks(fn: kernel.FuncOp, target: GpuTarget) -> int:
    """Return the least number of blocks that a multiprocessor runs at a time, for which the compiler limits the
    registers of a thread. It is at most the number of blocks that fit in shared memory."""
    own = shared_bytes(fn, target)
    return min(_by_registers(fn, target), max(1, (target.shared_optin + KIB) // (own + KIB)))


def _by_registers(fn: kernel.FuncOp, target: GpuTarget) -> int:
    """Return the number of blocks for which a multiprocessor has registers.

    The target's figure is halved if a loop carries more than half of a thread's registers. Of three or more blocks, one
    is dropped if the values held while a loop runs leave too few registers.
    """
    threads, computing = _launched(fn, target), fn.launch.computing or target.library_threads
    each, carried = target.thread_registers, _carried(fn)
    if 2 * carried > each * computing:
        return max(1, target.registers // (2 * each * threads))
    resident = max(1, target.registers // (each * threads))
    working = target.heuristics.working_registers * computing
    tight = carried + _staged(fn) + _scattered(fn) + working >= each * computing
    return resident - 1 if tight and resident > 2 else resident


def _shared_registers(fn: kernel.FuncOp, op: kernel.SpecializeOp, target: GpuTarget) -> list[int]:
    """Return the registers of a copying thread and of a computing thread (CUDA: setmaxnreg), which together are all
    registers of a block."""
    threads, more = _launched(fn, target), op.threads.value.data
    each = min(target.registers // (threads * resident_blocks(fn, target)), MOST_REGISTERS)
    each = each // REGISTER_STEP * REGISTER_STEP
    taken = (each * threads - COPY_REGISTERS * more) // (threads - more) // REGISTER_STEP * REGISTER_STEP
    return [COPY_REGISTERS, min(taken, MOST_REGISTERS)]


def _carried(fn: kernel.FuncOp) -> int:
    """Return the number of elements that threads hold in a loop: the largest vector that it carries, and products
    beside it."""
    return max((_in_loop(o) for o in fn.walk() if isinstance(o, scf.ForOp)), default=1)


def _in_loop(loop: scf.ForOp) -> int:
    carried = (prod(extents(r)) for r in loop.results if isinstance(r.type, VectorType))
    assert loop.body.block.last_op is not None
    kept = set(loop.body.block.last_op.operands)
    made = (o for o in loop.body.block.ops if isinstance(o, kernel.MmaOp) and not o.in_flight)
    beside = sum(prod(extents(o.result)) for o in made if o.promoted or o.result not in kept)
    return max(carried, default=1) + beside


def _staged(fn: kernel.FuncOp) -> int:
    """Return the most registers that copies of one loop take: elements on their way to shared memory, and addresses of
    asynchronous copies."""
    return max((sum(map(_copy_registers, o.body.block.ops)) for o in fn.walk() if isinstance(o, scf.ForOp)), default=0)


def _copy_registers(op: Operation) -> int:
    """Return the registers of all threads that a copy to shared memory takes; a computed offset takes one beside the
    address."""
    if isinstance(op, kernel.AsyncCopyOp):
        return prod(op.chunks)
    if isinstance(op, kernel.AsyncGatherOp):
        return 2 * prod(extents(op.offsets))
    if not isinstance(op, kernel.WriteOp) or not isinstance(op.buffer.owner, kernel.LocalOp):
        return 0
    return prod(extents(op.value)) if isinstance(op.value.owner, kernel.ReadOp | kernel.GatherOp) else 0


def _scattered(fn: kernel.FuncOp) -> int:
    """Return the most offsets that are computed for the elements of a write, while these are held."""
    return max((prod(extents(o.value)) for o in fn.walk() if isinstance(o, kernel.ScatterOp)), default=0)


def _grid(fn: kernel.FuncOp, target: GpuTarget) -> DimLike:
    """Return the number of blocks, at least one: the iterations of all parallel loops."""
    if fn.serial is not None:
        return 1
    if _calls_library(fn):
        return target.multiprocessors
    limit = fn.scratch.rows or MOST_BLOCKS
    if thread_block_of(schedule_of(fn)).persist:
        limit = min(limit, target.in_clusters(prod(fn.launch.cluster)) * resident_blocks(fn, target))
    grid: DimLike = 0
    for op in fn.walk():
        if isinstance(op, scf.ParallelOp) and not _produces(op):
            count = _iterations(op)
            grid = grid + (target.tasks() if count is None else count)
    grid = dim_max(grid, 1)
    return dim_min(grid, limit) if isinstance(grid, int) or limit != MOST_BLOCKS else grid


def _produces(op: scf.ParallelOp) -> bool:
    """Return whether a loop over tiles is that of the copying warps: the computing warps have the same tiles."""
    around = op.parent_op()
    return isinstance(around, kernel.SpecializeOp) and op.parent is around.producer.block


def _iterations(op: scf.ParallelOp) -> DimLike | None:
    """Return the iterations of a parallel loop of step 1, as a dimension expression; None if its bounds are no
    dimension expressions."""
    count: DimLike = 1
    for low, high in zip(op.lowerBound, op.upperBound, strict=True):
        first, last = dim_of(low), dim_of(high)
        if first is None or last is None:
            return None
        count = count * (last if first == 0 else dim_max(last - first, 0))
    return count
