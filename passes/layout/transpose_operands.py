"""Operand transposition (``transpose-operands``): right operands become contiguous along the axis along which products
read them.

    %s = graph.contract "bmk,bnk->bmn"(%q, %k)    →    %t = graph.transpose(%k) {perm = [0, 2, 1]}
                                                       %s = graph.contract "bmk,bkn->bmn"(%q, %t)

On a CPU the right operands of batched products become contiguous along the columns: a micro-kernel multiplies a scalar
of the left operand with consecutive elements of the right one, as in Q·Kᵀ of an attention. For few rows, a sum along
the contiguous axis costs less than moving the operand (``contract_transposed``). Products that are not batched are
packed (``pack-operands``).

On a GPU with warpgroups, weights of 8 bits become contiguous along the sum, "mk,nk->mn": wgmma reads halves in either
order from shared memory, but 8-bit elements only in this one. Constant folding then transposes the weights when the
model is compiled. A weight that another operator reads too is not transposed: a copy would take memory.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.graph import ContractOp, TransposeOp, source_nodes, with_nodes
from mlc.dialects.semantics.dims import product
from mlc.dialects.types import FLOAT8, element_of, is_float
from mlc.passes.context import machine_of
from mlc.passes.graph.patterns.constants import constant_values
from mlc.passes.graph.patterns.contract_patterns import DOT, batched
from mlc.passes.rewriter import bodies, erase_unused
from mlc.target import Target


@dataclass(frozen=True)
class TransposeOperands(ModulePass):
    """Transpose right operands of products. ``numerics``: only with ``relaxed`` do warpgroups multiply floats of 8
    bits."""

    name = "transpose-operands"
    numerics: str = "default"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = machine_of(ctx)
        for body in bodies(op):
            found = self._weights(body, target) if target.thread_blocks else _batched(body)
            for contract, last in found:
                _transpose(contract, last)

    def _weights(self, body: Block, target: Target) -> list[tuple[ContractOp, str]]:
        """Return the products whose weights warpgroups cannot read as they are stored, each with the letter of its
        sum."""
        elements = {"i8", "ui8", *(FLOAT8 if self.numerics == "relaxed" else ())}
        constants = constant_values(body) if target.warpgroups else set()
        contracts = [o for o in body.ops if isinstance(o, ContractOp) and _is_strided(o, constants, elements)]
        return [(o, o.terms[0][-1]) for o in contracts]


def _batched(body: Block) -> list[tuple[ContractOp, str]]:
    """Return the batched products for which a transposition of the right operand pays, each with the letter of its
    columns."""
    return [(o, o.terms[2][-1]) for o in body.ops if isinstance(o, ContractOp) and _pays(o)]


def _is_strided(op: ContractOp, constants: set[SSAValue], elements: set[str]) -> bool:
    """Return whether the left operand is contiguous along the only summed axis, and the right one, a constant without
    other readers, is not."""
    if op.rhs not in constants or op.layouts or not {element_of(v) for v in op.operands} <= elements:
        return False
    lhs, rhs, out = op.terms
    summed = [c for c in lhs if c in rhs and c not in out]
    plain = len({*lhs}) == len(lhs) and len({*rhs}) == len(rhs) and len(list(op.rhs.uses)) == 1
    return plain and len(summed) == 1 and lhs[-1] == summed[0] != rhs[-1]


def _pays(op: ContractOp) -> bool:
    lhs, rhs, out = op.terms
    if op.layouts or op.product or not is_float(element_of(op.result)) or not batched(op) or not rhs or not out:
        return False
    if rhs[-1] in out or rhs[-1] not in lhs or out[-1] in lhs or out[-1] not in rhs or len(set(rhs)) < len(rhs):
        return False
    extents = op.extents()
    rows, terms = product(extents[c] for c in lhs if c in out and c not in rhs), extents[rhs[-1]]
    return isinstance(rows, int) and isinstance(terms, int) and rows * DOT > terms


def _transpose(op: ContractOp, last: str) -> None:
    """Transpose the right operand of ``op`` so that it is contiguous along the letter ``last``."""
    lhs, rhs, out = op.terms
    order = [*(c for c in rhs if c != last), last]
    move = TransposeOp(op.rhs, [rhs.index(c) for c in order])
    new = ContractOp(f"{lhs},{''.join(order)}->{out}", op.lhs, move.result, product=op.product)
    assert (block := op.parent) is not None
    block.insert_ops_before([with_nodes(o, source_nodes(op)) for o in (move, new)], op)
    new.result.name_hint = op.result.name_hint
    op.result.replace_all_uses_with(new.result)
    erase_unused([op])
