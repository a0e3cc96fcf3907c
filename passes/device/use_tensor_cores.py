"""Tensor cores (``use-tensor-cores``): warps multiply staged operands as matrix fragments.

    scf.for %k = 0 to 16 {                                      kernel.mma %acc, %s, %t {steps = 16}
      %x = kernel.read %s[%k] : 128x1                     →
      %y = kernel.read %t[%k] : 1x128
      %acc + %x·%y }

For relaxed numerics only: factors of 32 bits are rounded to TF32.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import arith, scf, vector
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, VectorType, f32
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from mlc.dialects import kernel
from mlc.dialects.poly import schedule_of, thread_block_of
from mlc.passes.context import gpu_of
from mlc.passes.device.loops.coefficients import coefficient
from mlc.passes.device.stage_operands import UNROLL
from mlc.target import GpuTarget

Factor = tuple[SSAValue, int]  # a staged operand, and the elements of its rows


@dataclass(frozen=True)
class UseTensorCores(ModulePass):
    name = "use-tensor-cores"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp)]:
            for loop in [o for o in fn.walk() if isinstance(o, scf.ForOp) and UNROLL in o.attributes]:
                if (factors := _factors(loop)) and _is_whole(loop, fn, gpu_of(ctx)):
                    _replace(loop, *factors)


def _is_whole(loop: scf.ForOp, fn: kernel.FuncOp, target: GpuTarget) -> bool:
    """Whether the tile consists of whole fragments, in steps of a fragment, with one or more for each warp."""
    type_ = loop.results[0].type
    assert isinstance(type_, VectorType)
    tile, steps = type_.get_shape(), _steps(loop)
    whole = all(n & (n - 1) == 0 and n >= each for n, each in zip(tile, kernel.FRAGMENT, strict=False))
    warps = thread_block_of(schedule_of(fn)).warps or (target.block_threads // target.warp,)
    counts = [n // each for n, each in zip(tile, kernel.FRAGMENT, strict=False)]
    enough = prod(counts) >= warps[0] if len(warps) == 1 else all(n >= w for n, w in zip(counts, warps, strict=True))
    return whole and steps % kernel.FRAGMENT[2] == 0 and enough


def _steps(loop: scf.ForOp) -> int:
    op = loop.ub.owner
    assert isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr)
    return int(op.value.value.data)


def _factors(loop: scf.ForOp) -> tuple[Factor, Factor] | None:
    """The staged operands of a loop that adds products of a column and a row to a matrix; None for other loops."""
    last, type_ = loop.body.block.last_op, loop.results[0].type
    if len(loop.results) != 1 or last is None or not isinstance(type_, VectorType) or len(type_.get_shape()) != 2:
        return None
    total = last.operands[0].owner
    if type_.element_type != f32 or not isinstance(total, arith.AddfOp):
        return None
    products = [v.owner for v in total.operands if v is not loop.body.block.args[1]]
    if len(products) != 1 or not isinstance(products[0], arith.MulfOp):
        return None
    found = {axis: factor for v in products[0].operands if (side := _factor(v, loop)) for axis, factor in [side]}
    return (found[0], found[1]) if set(found) == {0, 1} else None


def _factor(value: SSAValue, loop: scf.ForOp) -> tuple[int, Factor] | None:
    """(axis along which a factor varies, the factor), where it is one step of a staged operand."""
    op = value.owner
    read = op.source.owner if isinstance(op, vector.BroadcastOp) else None
    if not isinstance(read, kernel.ReadOp) or not isinstance(read.buffer.owner, kernel.LocalOp) or read.valid:
        return None
    strides = [int(s) for s in read.strides.get_values()]
    row = coefficient(read.offset, loop.body.block.args[0])
    return (strides.index(1), (read.buffer, row)) if sorted(strides) == [0, 1] and isinstance(row, int) else None


def _replace(loop: scf.ForOp, a: Factor, b: Factor) -> None:
    product = kernel.MmaOp(loop.iter_args[0], a[0], b[0], _steps(loop), [a[1], b[1]])
    assert loop.parent is not None
    loop.parent.insert_op_before(product, loop)
    loop.results[0].replace_all_uses_with(product.result)
    loop.detach()
    loop.erase()
