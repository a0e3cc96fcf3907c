"""Operand transposition (``transpose-operands``): right operands of batched products are contiguous along the columns.

    %s = graph.contract "bmk,bnk->bmn"(%q, %k)    →    %t = graph.transpose(%k) {perm = [0, 2, 1]}
                                                       %s = graph.contract "bmk,bkn->bmn"(%q, %t)

A micro-kernel multiplies a scalar of the left operand with consecutive elements of the right one, as in Q·Kᵀ of an
attention. Of few rows a sum along the contiguous axis costs less than moving the operand (``contract_transposed``).
Products that are not batched are packed (``pack-operands``).
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from mlc.dialects.graph import ContractOp, TransposeOp, source_nodes, with_nodes
from mlc.dialects.semantics.dims import product
from mlc.dialects.types import element_of, is_float
from mlc.passes.graph.patterns.contract_patterns import DOT, batched
from mlc.passes.rewriter import bodies, erase_unused


@dataclass(frozen=True)
class TransposeOperands(ModulePass):
    name = "transpose-operands"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for body in bodies(op):
            for contract in [o for o in body.ops if isinstance(o, ContractOp)]:
                if _pays(contract):
                    _transpose(contract)


def _pays(op: ContractOp) -> bool:
    lhs, rhs, out = op.terms
    if op.layouts or op.product or not is_float(element_of(op.result)) or not batched(op) or not rhs or not out:
        return False
    if rhs[-1] in out or rhs[-1] not in lhs or out[-1] in lhs or out[-1] not in rhs or len(set(rhs)) < len(rhs):
        return False
    extents = op.extents()
    rows, terms = product(extents[c] for c in lhs if c in out and c not in rhs), extents[rhs[-1]]
    return isinstance(rows, int) and isinstance(terms, int) and rows * DOT > terms


def _transpose(op: ContractOp) -> None:
    lhs, rhs, out = op.terms
    order = [*(c for c in rhs if c != out[-1]), out[-1]]
    move = TransposeOp(op.rhs, [rhs.index(c) for c in order])
    new = ContractOp(f"{lhs},{''.join(order)}->{out}", op.lhs, move.result)
    assert (block := op.parent) is not None
    block.insert_ops_before([with_nodes(o, source_nodes(op)) for o in (move, new)], op)
    new.result.name_hint = op.result.name_hint
    op.result.replace_all_uses_with(new.result)
    erase_unused([op])
