"""The alignment of a kernel's arguments in memory: whole buffers are aligned, views of parts may not be. The host
program copies a caller's tensor on the device that is not."""

from __future__ import annotations

from math import gcd

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from mlc.dialects import kernel
from mlc.dialects.graph import ConcatOp, SliceOp
from mlc.dialects.semantics.dims import Dim, DimLike
from mlc.dialects.types import ITEMSIZE, element_of
from mlc.passes.fuse.grouping.views import part_offsets, slice_offset, source_of
from mlc.passes.rewriter import bodies


def aligned_arguments(fn: kernel.FuncOp) -> list[int]:
    """The numbers of the arguments that a kernel copies several elements of at a time, all of which are aligned for it.
    Arguments of kernels in loops may be parts of something: whatever a loop carries."""
    units: dict[SSAValue, int] = {}
    for op in (o for o in fn.walk() if isinstance(o, kernel.AsyncCopyOp | kernel.AsyncGatherOp)):
        if op.width.value.data > 1:
            size = op.width.value.data * ITEMSIZE[element_of(op.buffer)]
            units[op.buffer] = max(units.get(op.buffer, 1), size)
    own = range(len(fn.block.args) - fn.scratch.arrays)
    return [n for n in own if (unit := units.get(fn.block.args[n])) and _of_main(fn) and are_aligned(fn, n, unit)]


def _of_main(fn: kernel.FuncOp) -> bool:
    """Whether all calls of a kernel are in the body of a function, not of a loop."""
    return all(isinstance(call.parent_op(), FuncOp) for call in _calls(fn))


def _calls(fn: kernel.FuncOp) -> list[kernel.CallOp]:
    module = fn.parent_op()
    assert isinstance(module, ModuleOp)
    calls = (o for block in bodies(module) for o in block.ops if isinstance(o, kernel.CallOp))
    return [call for call in calls if call.callee.root_reference == fn.sym_name]


def are_aligned(fn: kernel.FuncOp, argument: int, unit: int) -> bool:
    """Whether an argument or a result of all calls of a kernel is at a multiple of ``unit`` bytes of a whole one."""
    return all(_is_aligned([*call.args, *call.results][argument], unit) for call in _calls(fn))


def _is_aligned(value: SSAValue, unit: int) -> bool:
    """Whether a value begins at a multiple of ``unit`` bytes, also as a slice, which is a view of its operand, or
    as a part of a concatenation, which is written in place."""
    source = source_of(value)
    offsets: list[DimLike | None] = []
    if isinstance(source.owner, SliceOp):
        offsets.append(slice_offset(source.owner))
        if not _is_aligned(source.owner.input, unit):
            return False
    for op in (o for o in _users(source) if isinstance(o, ConcatOp)):
        parts = part_offsets(op) or []
        offsets += [at for part, at in zip(op.args, parts, strict=False) if source_of(part) is source]
    return all(at is not None and _divisor(at) * ITEMSIZE[element_of(value)] % unit == 0 for at in offsets)


def _users(value: SSAValue) -> list[object]:
    """The operations that use a value, through reshapes too."""
    found = list[object]()
    for use in value.uses:
        found.append(use.operation)
        for result in use.operation.results:
            if source_of(result) is value:
                found += _users(result)
    return found


def _divisor(dim: DimLike) -> int:
    """A number that divides a dimension for all sizes."""
    return gcd(*(c for _, c in dim.terms)) if isinstance(dim, Dim) else dim
