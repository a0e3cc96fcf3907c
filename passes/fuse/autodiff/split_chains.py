"""Split chains (``split-chains``): on a GPU a chain of products sums along rows in one kernel, and along columns in
another.

    %s = graph.contract "mk,kn->mn"(%q, %k)            %s = …   %p = …
    %p = graph.map "exp(x0)"(%s)                       %a = graph.contract "mn,nv->mv"(%p, %v)
    %a = graph.contract "mn,nv->mv"(%p, %v)        →   %s' = graph.contract "mk,kn->mn"(%q, %k)
    %b = graph.contract "mn,mv->nv"(%p, %g)            %p' = graph.map "exp(x0)"(%s')
                                                       %b = graph.contract "mn,mv->nv"(%p', %g)

Thread blocks do not add to each other's results. So in one kernel a block has rows and steps over columns, and in the
other it has columns and steps over rows; both compute the matrices. In the backward pass of an attention these kernels
compute the derivative by queries, and those by keys and values (Dao, FlashAttention-2, 2023). CPUs have one kernel,
whose threads have one head each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.passes.context import machine_of
from mlc.passes.fuse.grouping.product_chains import Chain, chains, is_one_kernel
from mlc.passes.graph.patterns.cleanup import eliminate_dead
from mlc.passes.rewriter import bodies


@dataclass(frozen=True)
class SplitChains(ModulePass):
    name = "split-chains"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = machine_of(ctx)
        if not target.thread_blocks:
            return
        for block in bodies(op):
            for chain in chains(list(block.ops)):
                rows, columns = chain.parts()
                if rows and columns and all(is_one_kernel(chain.of(sinks), target) for sinks in (rows, columns)):
                    _copy(chain, columns, block)
        eliminate_dead(op)


def _copy(chain: Chain, sinks: Sequence[Operation], block: Block) -> None:
    """Let ``sinks`` read copies of the matrices."""
    copies: dict[SSAValue, SSAValue] = {}
    matrices = chain.matrices
    for op in chain.ops:
        if op in sinks:
            op.operands = [copies.get(v, v) for v in op.operands]
        elif op in matrices:
            copy = op.clone({v: copies.get(v, v) for v in op.operands})
            block.insert_op_after(copy, op)
            copies[op.results[0]] = copy.results[0]
