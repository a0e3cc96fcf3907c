"""Packed integers as floats (``unpack-blocks``): a product of many rows with a weight of a few bits multiplies it as
floats.

    %y = graph.compute "x0[…] * (f32((x1[…] >> …) & 15) - 8) * x2[…])"(%x : 64x512, %w, %s) {reduce = [16, 4, 8]}

  → %v = graph.compute "(f32((x0[i1, i0 // 32, …] >> …) & 15) - 8) * x1[i1, i0 // 32]"(%w, %s)
    %y = graph.contract "mk,kn->mn"(%x, %v)

Constant folding unpacks the weight when the model is compiled. Few rows read fewer bytes from memory as they are
stored, and so does a symbolic number of them, which may be few.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.graph import ComputeOp, ContractOp, dims_of
from mlc.dialects.semantics.block_sums import FEW_ROWS, BlockSum
from mlc.dialects.types import shape_of
from mlc.passes.op_builder import OpBuilder
from mlc.passes.rewriter import bodies, erase_unused


@dataclass(frozen=True)
class UnpackBlocks(ModulePass):
    """Unpack the weights of products with more than ``FEW_ROWS`` rows."""

    name = "unpack-blocks"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for body in bodies(op):
            for each in [o for o in body.ops if isinstance(o, ComputeOp)]:
                rows = dims_of(each.shape)[0] if each.shape else 0
                if isinstance(rows, int) and rows > FEW_ROWS and (sum_ := each.block_sum):
                    builder = OpBuilder(each)
                    weight = _unpacked(each, sum_, builder)
                    each.result.replace_all_uses_with(builder.emit(ContractOp("mk,kn->mn", each.args[0], weight)))
                    erase_unused([each])


def _unpacked(op: ComputeOp, sum_: BlockSum, builder: OpBuilder) -> SSAValue:
    """Return the weight [terms, columns] in f32."""
    per, block = sum_.per, sum_.block
    integer = f"((x0[i1, i0 // {block}, i0 % {block} // {per}] >> i32(i0 % {per} * {sum_.bits})) & {sum_.mask})"
    zero = f"f32(x2[i1, i0 // {block}])" if sum_.zeros else str(sum_.middle)
    text = f"(f32({integer}) - {zero}) * x1[i1, i0 // {block}]"
    shape = (shape_of(op.args[0])[1], dims_of(op.shape)[1])
    return builder.emit(ComputeOp(text, op.args[1:], shape))
