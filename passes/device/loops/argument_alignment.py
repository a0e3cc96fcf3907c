"""The alignment of a kernel's arguments in memory: whole buffers are aligned, views of parts may not be. The host
program copies a caller's tensor on the device that is not aligned."""

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
    """Return the numbers of the arguments of which a kernel copies several elements at a time, if they are aligned for
    that in all calls. Arguments of kernels in loops may be parts of whatever the loop carries, so they do not count."""
    units: dict[SSAValue, int] = {}
    for op in (o for o in fn.walk() if isinstance(o, kernel.AsyncCopyOp | kernel.AsyncGatherOp)):
        if op.width.value.data > 1:
            size = op.width.value.data * ITEMSIZE[element_of(op.buffer)]
            units[op.buffer] = max(units.get(op.buffer, 1), size)
    own = range(len(fn.block.args) - fn.scratch.arrays)
    return [n for n in own if (unit := units.get(fn.block.args[n])) and _of_main(fn) and are_aligned(fn, n, unit)]


def _of_main(fn: kernel.FuncOp) -> bool:
    """Return whether all calls of a kernel are in the body of a function, not of a loop."""
    return all(isinstance(call.parent_op(), FuncOp) for call in _calls(fn))


def _calls(fn: kernel.FuncOp) -> list[kernel.CallOp]:
    module = fn.parent_op()
    assert isinstance(module, ModuleOp)
    calls = (o for block in bodies(module) for o in block.ops if isinstance(o, kernel.CallOp))
    return [call for call in calls if call.callee.root_reference == fn.sym_name]


def are_aligned(fn: kernel.FuncOp, argument: int, unit: int) -> bool:
    """Return whether an argument or a result begins, in all calls of a kernel, at a multiple of ``unit`` bytes of a
    whole buffer."""
    return all(_is_aligned([*call.args, *call.results][argument], unit) for call in _calls(fn))


def _is_aligned(value: SSAValue, unit: int) -> bool:
    """Return whether a value begins at a multiple of ``unit`` bytes, also if it is a slice, which is a view of its
    operand, or a part of a concatenation, which is written in place."""
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
    """Return the operations that use a value, directly or through reshapes."""
    found = list[object]()
    for use in value.uses:
        found.append(use.operation)
        for result in use.operation.results:
            if source_of(result) is value:
                found += _users(result)
    return found


def _divisor(dim: DimLike) -> int:
    """Return a number that divides a dimension for all values of its symbols."""
    return gcd(*(c for _, c in dim.terms)) if isinstance(dim, Dim) else dim
