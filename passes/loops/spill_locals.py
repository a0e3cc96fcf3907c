"""Spilling of local arrays (``spill-locals``): what does not fit in shared memory, or on a CPU's stack, becomes scratch
of the arena.

    kernel.func @k(%x, %y) { %t = kernel.local : memref<65536xf32> … }
      →   kernel.func @k(%x, %y, %t : memref<864x65536xf32>) attributes {scratch = 1} {…}

A block has a row of its own in the scratch array, which is one more result of the calls; at most as many blocks run as
it has rows. A serial kernel, which one thread runs, has one row; its arrays of symbolic extents are scratch as well. On
a CPU only serial kernels spill: ``lower-tiles`` refuses schedules of others whose local arrays do not fit on the stack.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, IntegerAttr, ModuleOp, VectorType, i64
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects import kernel
from mlc.dialects.poly import schedule_of, thread_block_of
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.types import ITEMSIZE, bytes_of, element_name, element_of, memref, shape_of, tensor
from mlc.passes.context import machine_of
from mlc.passes.tile.tile_kernels import SERIAL
from mlc.target import CpuTarget, GpuTarget, Target

SCRATCH = "scratch"
"""The number of a kernel's last arguments that are scratch, and BLOCKS their rows: the most blocks of a launch."""
BLOCKS = "most_blocks"


@dataclass(frozen=True)
class SpillLocals(ModulePass):
    name = "spill-locals"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = machine_of(ctx)
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp)]:
            if spilled := _too_many(fn, target):
                _spill(fn, op, spilled, 1 if SERIAL in fn.attributes else target.tasks())


def _too_many(fn: kernel.FuncOp, target: Target) -> list[kernel.LocalOp]:
    """The local arrays of symbolic extents, and the largest, until the others fit beside what reductions need."""
    found = [o for o in fn.block.ops if isinstance(o, kernel.LocalOp)]
    spilled = [o for o in found if not isinstance(bytes_of(o.result), int)]
    left = sorted((o for o in found if o not in spilled), key=local_bytes, reverse=True)
    room = _room(fn, target)
    while sum(map(local_bytes, left)) > room:
        spilled.append(left.pop(0))
    return spilled


def _room(fn: kernel.FuncOp, target: Target) -> int:
    """Bytes of local arrays that a kernel may have."""
    if isinstance(target, CpuTarget):
        return target.stack
    assert isinstance(target, GpuTarget)
    return target.shared - reduction_bytes(fn, target)


def shared_bytes(fn: kernel.FuncOp, target: GpuTarget) -> int:
    """Bytes of shared memory that a kernel uses: of its local arrays, and those by which warps combine."""
    return sum(local_bytes(o) for o in fn.walk() if isinstance(o, kernel.LocalOp)) + reduction_bytes(fn, target)


def reduction_bytes(fn: kernel.FuncOp, target: GpuTarget) -> int:
    """Bytes of shared memory by which the warps of a block combine at most: an element of 8 bytes each, and an element
    of each warp for each result of a reduction along an axis."""
    threads = thread_block_of(schedule_of(fn)).threads(target.warp) or target.block_threads
    warps = thread_block_of(schedule_of(fn)).warps or ()
    in_warps = len(warps) == 2 and warps[1] == 1  # each row of a tile is one warp's, whose shuffles combine it
    found = [o for o in fn.walk() if isinstance(o, kernel.MultiReductionOp)]
    reductions = [o for o in found if not (o.keeps_axis and in_warps)]
    sizes = [_vector_bytes(o.result) * threads // target.warp for o in reductions]
    return target.most_threads // target.warp * 8 + sum(-(-size // 16) * 16 for size in sizes)


def _vector_bytes(value: SSAValue) -> int:
    assert isinstance(value.type, VectorType)
    return ITEMSIZE[element_name(value.type.element_type)] * prod(value.type.get_shape())


def local_bytes(op: kernel.LocalOp) -> int:
    """Bytes of a local array of constant extents, which begins at a multiple of 16."""
    size = bytes_of(op.result)
    assert isinstance(size, int)
    return -(-size // 16) * 16


def scratch_arrays(fn: kernel.FuncOp) -> int:
    """How many arguments of a kernel, the last ones, have a row for each block."""
    found = fn.attributes.get(SCRATCH)
    return found.value.data if isinstance(found, IntegerAttr) else 0


def _spill(fn: kernel.FuncOp, module: ModuleOp, spilled: list[kernel.LocalOp], blocks: int) -> None:
    args = add_results(fn, module, [(element_of(o.result), (blocks, *shape_of(o.result))) for o in spilled])
    for local, arg in zip(spilled, args, strict=True):
        local.result.replace_all_uses_with(arg)
        local.detach()
        local.erase()
    fn.attributes |= {SCRATCH: IntegerAttr(len(spilled), i64), BLOCKS: IntegerAttr(blocks, i64)}


def add_results(
    fn: kernel.FuncOp, module: ModuleOp, shapes: Sequence[tuple[str, tuple[DimLike, ...]]]
) -> Sequence[SSAValue]:
    """More buffers of a kernel, each an element type and a shape, which are results of its calls that nobody reads."""
    args = [fn.block.insert_arg(memref(element, shape), len(fn.block.args)) for element, shape in shapes]
    fn.function_type = FunctionType.from_lists(list(fn.block.arg_types), [])
    for call in [o for o in module.walk() if isinstance(o, kernel.CallOp) and _calls(o, fn)]:
        _with_results(call, [tensor(element, shape) for element, shape in shapes])
    return args


def _calls(op: kernel.CallOp, fn: kernel.FuncOp) -> bool:
    return bool(op.callee.root_reference == fn.sym_name)


def _with_results(call: kernel.CallOp, more: list) -> None:
    """Replace a call by one with more results, which nobody reads."""
    new = kernel.CallOp(call.callee.string_value(), list(call.args), [*call.result_types, *more])
    new.attributes |= call.attributes
    block = call.parent_block()
    assert block is not None
    block.insert_op_before(new, call)
    for old, result in zip(call.results, new.results, strict=False):
        old.replace_all_uses_with(result)
    Operation.detach(call)
    call.erase()
