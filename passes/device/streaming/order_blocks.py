"""Order of blocks (``order-blocks``; longest processing time first: Graham, 1969): blocks of rows with more blocks of
keys begin first.

    scf.parallel (%i, %b) = (0, 0) to (16, 12) {          scf.parallel (%n, %b) = (0, 0) to (16, 12) {
      scf.for %j = 0 to %i + 1 { … } }               →      %i = 15 - %n
                                                            scf.for %j = 0 to %i + 1 { … } }

A GPU assigns blocks to its multiprocessors in the order of their numbers. If the last blocks are the longest, as below
the diagonal of a causal mask, only few multiprocessors work at the end.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from mlc.dialects import kernel
from mlc.dialects.poly import schedule_of
from mlc.dialects.semantics.dims import DimLike, evaluate
from mlc.passes.device.loops.coefficients import constant_of
from mlc.passes.device.loops.index_dims import dim_of
from mlc.passes.device.streaming.values.guards import is_guard


@dataclass(frozen=True)
class OrderBlocks(ModulePass):
    name = "order-blocks"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp)]:
            if any(nest.streamed for nest in schedule_of(fn)):
                for blocks in [o for o in fn.walk() if isinstance(o, scf.ParallelOp)]:
                    for axis in range(len(blocks.body.block.args)):
                        if _is_longer_at_the_end(blocks, axis):
                            _reverse(blocks, axis)


def _is_longer_at_the_end(blocks: scf.ParallelOp, axis: int) -> bool:
    """Return whether the last block along an axis has more iterations than the first one."""
    first, after = constant_of(blocks.lowerBound[axis]), constant_of(blocks.upperBound[axis])
    names: dict[SSAValue, str] = {arg: f"i{n}" for n, arg in enumerate(blocks.body.block.args)}
    loops = [o for o in blocks.body.block.ops if isinstance(o, scf.ForOp)]
    counts = [(dim_of(o.lb, names), dim_of(o.ub, names)) for o in loops if not is_guard(o)]

    def iterations(at: int) -> DimLike | None:
        known = {name: at if n == axis else 0 for n, name in enumerate(names.values())}
        total: DimLike = 0
        for low, high in counts:
            if low is None or high is None:
                return None
            total = total + evaluate(high, known) - evaluate(low, known)
        return total

    if first is None or after is None:
        return False
    least, most = iterations(first), iterations(after - 1)
    return isinstance(least, int) and isinstance(most, int) and most > least


def _reverse(blocks: scf.ParallelOp, axis: int) -> None:
    """Let the last block along an axis begin first."""
    body, arg = blocks.body.block, blocks.body.block.args[axis]
    first, after = constant_of(blocks.lowerBound[axis]), constant_of(blocks.upperBound[axis])
    assert first is not None and after is not None and body.first_op is not None
    last = arith.ConstantOp(IntegerAttr(first + after - 1, IndexType()))
    number = arith.SubiOp(last, arg)
    body.insert_ops_before([last, number], body.first_op)
    arg.replace_uses_with_if(SSAValue.get(number.result), lambda use: use.operation is not number)
