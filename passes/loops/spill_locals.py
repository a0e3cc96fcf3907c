"""Spilling of local arrays (``spill-locals``): local arrays that do not fit in shared memory, or on a CPU's stack,
become scratch in the arena.

    kernel.func @k(%x, %y) { %t = kernel.local : memref<65536xf32> … }
      →   kernel.func @k(%x, %y, %t : memref<864x65536xf32>) attributes {
            scratch = #kernel.scratch<arrays = 1, rows = 864>} {…}

Each thread block has its own row of the scratch array, which is an additional result of the calls; at most as many
blocks run as the array has rows. A serial kernel, which one thread runs, has one row; its arrays of symbolic extents
become scratch as well. On a CPU only serial kernels spill: ``lower-tiles`` refuses schedules of other kernels whose
local arrays do not fit on the stack.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from mlc.dialects import kernel
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.types import bytes_of, element_of, memref, shape_of, tensor
from mlc.passes.context import gpu_facts, machine_of
from mlc.passes.shared_memory import local_bytes, reduction_bytes
from mlc.target import Target


@dataclass(frozen=True)
class SpillLocals(ModulePass):
    name = "spill-locals"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = machine_of(ctx)
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp)]:
            if spilled := _too_many(fn, target):
                _spill(fn, op, spilled, 1 if fn.serial is not None else target.tasks())


def _too_many(fn: kernel.FuncOp, target: Target) -> list[kernel.LocalOp]:
    """Return the local arrays to spill: those of symbolic extents, and the largest others until the rest fit beside the
    shared memory that reductions need."""
    found = [o for o in fn.block.ops if isinstance(o, kernel.LocalOp)]
    spilled = [o for o in found if not isinstance(bytes_of(o.result), int)]
    left = sorted((o for o in found if o not in spilled), key=local_bytes, reverse=True)
    room = _room(fn, target)
    while sum(map(local_bytes, left)) > room:
        spilled.append(left.pop(0))
    return spilled


def _room(fn: kernel.FuncOp, target: Target) -> int:
    """Return the bytes of local arrays that a kernel may have."""
    return target.local_room - (reduction_bytes(fn, gpu_facts(target)) if target.thread_blocks else 0)


def _spill(fn: kernel.FuncOp, module: ModuleOp, spilled: list[kernel.LocalOp], blocks: int) -> None:
    args = add_results(fn, module, [(element_of(o.result), (blocks, *shape_of(o.result))) for o in spilled])
    for local, arg in zip(spilled, args, strict=True):
        local.result.replace_all_uses_with(arg)
        Rewriter.erase_op(local)
    fn.scratch = replace(fn.scratch, arrays=len(spilled), rows=blocks)


def add_results(
    fn: kernel.FuncOp, module: ModuleOp, shapes: Sequence[tuple[str, tuple[DimLike, ...]]]
) -> Sequence[SSAValue]:
    """Add buffers to a kernel, one for each element type and shape of ``shapes``; they are results of its calls that no
    operation reads."""
    args = [fn.block.insert_arg(memref(element, shape), len(fn.block.args)) for element, shape in shapes]
    fn.function_type = FunctionType.from_lists(list(fn.block.arg_types), [])
    for call in [o for o in module.walk() if isinstance(o, kernel.CallOp) and _calls(o, fn)]:
        _with_results(call, [tensor(element, shape) for element, shape in shapes])
    return args


def _calls(op: kernel.CallOp, fn: kernel.FuncOp) -> bool:
    return bool(op.callee.root_reference == fn.sym_name)


def _with_results(call: kernel.CallOp, more: list) -> None:
    """Replace a call by one with additional results, which no operation reads."""
    new = kernel.CallOp(call.callee.string_value(), list(call.args), [*call.result_types, *more])
    new.attributes |= call.attributes
    block = call.parent_block()
    assert block is not None
    block.insert_op_before(new, call)
    for old, result in zip(call.results, new.results, strict=False):
        old.replace_all_uses_with(result)
    Rewriter.erase_op(call)
