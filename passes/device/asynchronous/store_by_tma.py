"""Bulk stores of results (``store-by-tma``): if one thread copies the operands, one thread of a warpgroup copies the
results too.

    kernel.write %v, %y[…] valid(…)   →   kernel.bulk_store %v through %staging to %y[%n, %m] {extents, strides, box, …}

Threads write their elements to swizzled shared memory, from where whole rows of 128 bytes are copied to the tensor.
Elements beyond its extents are not copied, so the last tiles have no conditions. Results must have 16 or 32 bits, rows
that begin at multiples of 16 bytes, and one operation that writes them. Threads write other results to the tensor as
before, as they do with ``store=threads``, and if the buffers of the operands leave no room in shared memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp, VectorType
from xdsl.ir import Block, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from mlc.dialects import kernel
from mlc.dialects.poly import schedule_of, thread_block_of
from mlc.dialects.types import ITEMSIZE, element_of, memref
from mlc.passes.context import gpu_of
from mlc.passes.device.bulk.consumer_order import groups_of
from mlc.passes.device.bulk.positions import place_along, variables_of
from mlc.passes.device.distribution.block_threads import threads_of
from mlc.passes.device.distribution.tensor_box import CHUNK, TensorAxis, Variable, box_layout, refused, tensor_axes
from mlc.passes.device.distribution.value_classes import value_classes
from mlc.passes.device.distribution.warpgroup import WARPS
from mlc.passes.device.loops.argument_alignment import are_aligned
from mlc.passes.device.loops.insertion import Inserter
from mlc.passes.device.loops.ring_depth import ring_depth, ring_room
from mlc.passes.effects import erase_dead
from mlc.passes.schedule.apply_schedules import following
from mlc.passes.shared_memory import check_shared
from mlc.target import GpuTarget

PART, WIDTH = kernel.PART, kernel.WIDTH
SIZES = (2, 4)  # bytes of an element
BUFFERS = 2  # of a warpgroup at most: one is written while the other is read


@dataclass(frozen=True)
class StoreByTma(ModulePass):
    name = "store-by-tma"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp)]:
            copies = [o for o in fn.walk() if isinstance(o, kernel.BulkCopyOp)]
            if copies and thread_block_of(schedule_of(fn)).store != "threads":
                with following(fn):
                    _store(fn, copies, gpu_of(ctx))


def _store(fn: kernel.FuncOp, copies: list[kernel.BulkCopyOp], target: GpuTarget) -> None:
    loop = copies[0].parent_op()
    assert isinstance(loop, scf.ForOp) and isinstance(loop.parent, Block)
    variables = variables_of(loop) or {}
    writes = [o for o in loop.parent.ops if isinstance(o, kernel.WriteOp)]
    found = {write: axes for write in writes if (axes := _axes(fn, write, variables)) is not None}
    threads = threads_of(fn, target) or target.block_threads
    threads *= groups_of(fn)
    groups = threads // (WARPS * target.warp)
    if not found or not (buffers := _buffers(fn, loop, copies, next(iter(found)), groups, threads, target)):
        return
    element = element_of(next(iter(found)).buffer)
    found = {write: axes for write, axes in found.items() if element_of(write.buffer) == element}  # one staging for all
    columns = kernel.part_columns(ITEMSIZE[element])
    layout = kernel.LayoutAttr(box_layout(PART, columns, ITEMSIZE[element]))
    staging = kernel.LocalOp(memref(element, (groups * buffers, PART, columns)), layout)
    first = fn.block.first_op
    assert first is not None
    fn.block.insert_op_before(staging, first)
    check_shared(fn, target)
    for write, axes in found.items():
        _replace(write, axes, variables, staging.result)
    erase_dead(loop.parent.ops)


def _axes(fn: kernel.FuncOp, write: kernel.WriteOp, variables: Mapping[SSAValue, Variable]) -> list[TensorAxis] | None:
    """Return the axes of the tensor that an operation writes; None if no tensor map describes the write."""
    buffer, type_ = write.buffer, write.value.type
    (product,) = [o for o in fn.walk() if isinstance(o, kernel.MmaOp)]
    classes = value_classes(fn)
    assert isinstance(type_, VectorType)
    if buffer.owner is not fn.block or ITEMSIZE[element_of(buffer)] not in SIZES or len(list(buffer.uses)) != 1:
        return None
    if classes[write.value] is not classes[product.result] or type_.get_shape() != product.acc.type.get_shape():  # type: ignore[attr-defined]
        return None
    axes = tensor_axes(write, variables)
    if isinstance(axes, str) or refused(axes, ITEMSIZE[element_of(buffer)]):
        return None
    rows, columns = type_.get_shape()
    tiles = [axis.tile for axis in axes if axis.tile > 1]
    aligned = are_aligned(fn, fn.block.args.index(buffer), CHUNK)
    return axes if aligned and axes[0].tile == columns and tiles == [columns, rows] else None


def _buffers(
    fn: kernel.FuncOp,
    loop: scf.ForOp,
    copies: list[kernel.BulkCopyOp],
    write: kernel.WriteOp,
    groups: int,
    threads: int,
    target: GpuTarget,
) -> int:
    """Return how many buffers a warpgroup has for results, without a shorter ring of operands."""
    locals_ = [o for o in dict.fromkeys(copy.target.owner for copy in copies) if isinstance(o, kernel.LocalOp)]
    threads += WARPS * target.warp
    depth = ring_depth(fn, loop, locals_, threads, target)
    assert isinstance(write.value.type, VectorType)
    bytes_ = groups_of(fn) * prod(write.value.type.get_shape()) * ITEMSIZE[element_of(write.buffer)]
    parts = bytes_ // (groups * PART * WIDTH)
    for buffers in range(min(BUFFERS, parts), 0, -1):
        if ring_room(fn, locals_, threads, target, groups * buffers * PART * WIDTH) >= depth:
            return buffers
    return 0


def _replace(
    write: kernel.WriteOp, axes: list[TensorAxis], variables: Mapping[SSAValue, Variable], staging: SSAValue
) -> None:
    itemsize, build = ITEMSIZE[element_of(write.buffer)], Inserter(write)
    coordinates = [place_along(axis, variables, build) for axis in axes]
    strides, extents = tuple(axis.stride * itemsize for axis in axes[1:]), tuple(axis.extent for axis in axes)
    columns = kernel.part_columns(itemsize)
    box = tuple(min(axis.tile, PART if n else columns) for n, axis in enumerate(axes))
    made = kernel.TensorMap(write.buffer, extents, strides, box, WIDTH)
    build.add(kernel.BulkStoreOp(write.value, staging, made, coordinates))
    Rewriter.erase_op(write)
