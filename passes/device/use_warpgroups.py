"""Products of warpgroups (``use-warpgroups``): four warps multiply operands that they read from shared memory.

    kernel.mma %acc, %s, %t {steps = 32, …}   →   kernel.mma %acc, %s, %t {steps = 32, …, warpgroup = 128}

The local arrays of the operands get the layouts that the instruction's matrix descriptors require (wgmma of sm_90a): no
fragments are loaded to registers. Operands that are not halves (bytes, TF32) must be contiguous along the sum. If the
tile does not consist of whole parts of warpgroups, warps multiply fragments as before. Tensor cores of sm_90 add
products of floats of 8 bits in about 14 bits (DeepSeek-V3 technical report, 3.3.2). So they are used with ``relaxed``
numerics only, and the sums of the steps that are staged together are added in f32.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, VectorType, i64
from xdsl.passes import ModulePass

from mlc.dialects import kernel
from mlc.dialects.poly import ScheduleError, schedule_of, thread_block_of
from mlc.dialects.types import ITEMSIZE, element_of
from mlc.passes.context import gpu_of
from mlc.passes.device.distribution.warpgroup import columns_of, operand_layout
from mlc.passes.schedule.apply_schedules import following
from mlc.target import GpuTarget

ROWS = (32, 64, 128)  # bytes of a row of an operand whose neighbours are along the sum


@dataclass(frozen=True)
class UseWarpgroups(ModulePass):
    """Let warpgroups compute products. ``numerics``: only with ``relaxed`` do they multiply floats of 8 bits, whose
    products they add in about 14 bits."""

    name = "use-warpgroups"
    numerics: str = "default"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp)]:
            with following(fn):
                for product in [o for o in fn.walk() if isinstance(o, kernel.MmaOp) and not o.held]:
                    _use(fn, product, gpu_of(ctx), self.numerics == "relaxed")


def _use(fn: kernel.FuncOp, op: kernel.MmaOp, target: GpuTarget, relaxed: bool) -> None:
    block = thread_block_of(schedule_of(fn))
    warps = block.warps or (target.block_threads // target.warp,)
    asked = block.mma is not None and kernel.is_of_warpgroup(block.mma)
    why = _refused(op, warps, target, relaxed)
    columns = columns_of(_tile(op), warps)
    shape = kernel.warpgroup_shape(element_of(op.a), columns or 0)
    if not why and asked and block.mma != str(shape):
        why = f"a tile of {' x '.join(map(str, _tile(op)))} has {shape}"
    if asked and why:
        raise ScheduleError(f"'mma={block.mma}': {why}")
    if not why and (asked or block.mma is None):
        _convert(op, columns or 0)


def _tile(op: kernel.MmaOp) -> tuple[int, int]:
    assert isinstance(op.result.type, VectorType)
    rows, columns = op.result.type.get_shape()
    return rows, columns


def _refused(op: kernel.MmaOp, warps: Sequence[int], target: GpuTarget, relaxed: bool) -> str | None:
    """Return why warpgroups cannot compute a product; None if they can."""
    mma, element = op.shape, element_of(op.a)
    if not target.warpgroups:
        return f"'{target.name}' has no products of warpgroups, sm_90a alone does (cuda:sm_90)"
    if op.split:
        return "warpgroups multiply no sums of two TF32; leave it out, or take relaxed numerics"
    if mma.promoted and not relaxed:
        return f"warpgroups add products of {element} in about 14 bits; leave it out, or take relaxed numerics"
    if mma.bits != 16 and not op.along:
        return f"warpgroups read factors of {element} whose neighbours are along the sum"
    if columns_of(_tile(op), warps) not in kernel.WARPGROUP_COLUMNS:
        rows, columns = _tile(op)
        return f"a tile of {rows} x {columns} is not 64 rows and 64, 128 or 256 columns for each four warps"
    sums, most = prod(_tile(op)) // (prod(warps) * target.warp), target.thread_registers // (2 if mma.promoted else 1)
    if sums > most:
        return f"a thread would have {sums} sums, more than {most}"
    steps = [row // ITEMSIZE[element] for row in ROWS]
    if any(not _across(op, n) and op.steps.value.data not in steps for n in range(2)):
        few, more, most = steps
        return f"operands with neighbours along the sum have {few}, {more} or {most} steps, not {op.steps.value.data}"
    return None


def _across(op: kernel.MmaOp, operand: int) -> bool:
    """Return whether neighbours of an operand are across the sum."""
    return int(op.strides.get_values()[2 * operand]) != 1


def _convert(op: kernel.MmaOp, columns: int) -> None:
    op.warpgroup = IntegerAttr(columns, i64)
    for n, (buffer, extent) in enumerate(zip((op.a, op.b), _tile(op), strict=True)):
        local = buffer.owner
        assert isinstance(local, kernel.LocalOp)
        layout = operand_layout(extent, op.steps.value.data, _across(op, n), ITEMSIZE[element_of(op.a)])
        local.layout = kernel.LayoutAttr(layout)
