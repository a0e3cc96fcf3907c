"""The shared memory of a thread block: where its local arrays begin, and how many bytes the block needs.

The local arrays follow each other in the order of the kernel's text. After them come the bytes through which warps
combine the results of reductions. All passes and the printer use this one formula.
"""

from __future__ import annotations

from collections.abc import Collection
from math import prod

from xdsl.dialects import scf
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects import kernel
from mlc.dialects.poly import ScheduleError, schedule_of, thread_block_of
from mlc.dialects.types import ITEMSIZE, bytes_of, element_name
from mlc.target import GpuTarget

ROW, SWIZZLED = 16, 1024  # bytes: what a thread accesses at most, and eight rows of all banks


def alignment_of(op: kernel.LocalOp) -> int:
    """Return the alignment of a local array in bytes. A layout swizzles addresses, so an array with a layout begins at
    a multiple of eight rows of 128 bytes."""
    return ROW if op.layout is None else SWIZZLED


def local_bytes(op: kernel.LocalOp) -> int:
    """Return the bytes of a local array of constant extents, rounded up to a multiple of 16."""
    size = bytes_of(op.result)
    assert isinstance(size, int)
    return -(-size // ROW) * ROW


def local_offsets(
    fn: kernel.FuncOp, without: Collection[kernel.LocalOp] = ()
) -> tuple[dict[kernel.LocalOp, int], int]:
    """Return the byte offset in shared memory of each local array of constant extents, and the end of the last
    array."""
    offsets, end = dict[kernel.LocalOp, int](), 0
    for op in (o for o in fn.walk() if isinstance(o, kernel.LocalOp) and o not in without):
        if isinstance(bytes_of(op.result), int):
            unit = alignment_of(op)
            offsets[op] = -(-end // unit) * unit
            end = offsets[op] + local_bytes(op)
    return offsets, end


def reduction_bytes(fn: kernel.FuncOp, target: GpuTarget) -> int:
    """Return the most bytes through which the warps of a block combine results: an element of 8 bytes a warp, and for
    each result of a reduction along an axis an element of each warp."""
    block = thread_block_of(schedule_of(fn))
    threads, warps = block.threads(target.warp) or target.block_threads, block.warps or ()
    in_warps = len(warps) == 2 and warps[1] == 1  # each row of a tile is one warp's, whose shuffles combine it
    found = [o for o in fn.walk() if isinstance(o, kernel.MultiReductionOp)]
    reductions = [o for o in found if not (o.keeps_axis and in_warps)]
    sizes = [_vector_bytes(o.result) * threads // target.warp for o in reductions]
    return target.most_threads // target.warp * 8 + sum(-(-size // ROW) * ROW for size in sizes)


def _vector_bytes(value: SSAValue) -> int:
    assert isinstance(value.type, VectorType)
    return ITEMSIZE[element_name(value.type.element_type)] * prod(value.type.get_shape())


def shared_bytes(fn: kernel.FuncOp, target: GpuTarget, without: Collection[kernel.LocalOp] = ()) -> int:
    """Return the bytes of shared memory of a block: its local arrays except ``without``, and its reductions."""
    return local_offsets(fn, without)[1] + reduction_bytes(fn, target)


def check_shared(fn: kernel.FuncOp, target: GpuTarget, shares: bool = False) -> None:
    """Raise ScheduleError if a block needs more shared memory than the target allows.

    ``shares``: ``share-locals`` runs later, and lets loops over blocks use the same arrays, so each loop may need all
    of the shared memory.
    """
    loops = locals_of_loops(fn) if shares else []
    need = max((bytes_beside(mine[0], fn, target) for _, mine in loops if mine), default=shared_bytes(fn, target))
    if need > target.shared_optin:
        raise ScheduleError(f"a block needs {need} bytes of shared memory, of {target.shared_optin}; use smaller tiles")


def locals_of_loops(fn: kernel.FuncOp) -> list[tuple[scf.ParallelOp, list[kernel.LocalOp]]]:
    """Return the loops over blocks, each with the local arrays that no other operation uses."""
    locals_ = [o for o in fn.block.ops if isinstance(o, kernel.LocalOp)]
    users = {local: _users(local, fn.block) for local in locals_}
    loops = [o for o in fn.block.ops if isinstance(o, scf.ParallelOp)]
    return [(loop, [local for local in locals_ if users[local] == {loop}]) for loop in loops]


def _users(local: kernel.LocalOp, block: Block) -> set[Operation]:
    """Return the operations of the kernel's block that use an array, themselves or inside their regions."""
    found = (block.find_ancestor_op_in_block(use.operation) for use in local.result.uses)
    return {op for op in found if op is not None}


def bytes_beside(local: kernel.LocalOp, fn: kernel.FuncOp, target: GpuTarget) -> int:
    """Return the bytes of shared memory of a kernel without the arrays of the loops over blocks that do not use
    ``local``: its loop will share them."""
    others = [each for _, locals_ in locals_of_loops(fn) if local not in locals_ for each in locals_]
    return shared_bytes(fn, target, without=others)
