"""Packing (``pack-weights``, BLIS): constant right operands of matrix products are stored in panels of columns;
``pack-operands`` packs operands that are not constant.

    %y = graph.contract "bmk,kn->bmn"(%x, %w : 64x90)

  → %p = graph.pack(%w) {layout = #graph.layout<"Ba32b">} : 3x64x32
    %y = graph.contract "bmk,kn->bmn"(%x, %p)
           {layouts = [#graph.layout<"abc">, #graph.layout<"Ba32b", padding = [6]>, #graph.layout<"abc">]}

The micro-kernel then reads consecutive memory. Transposed weights ("nk") are transposed; a constant on the left becomes
the right operand, with the other operand and the result transposed where needed. Bytes become packed integers of four
rows each, and bf16 of two, for dot products.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.graph import ContractOp, LayoutAttr, PackOp, layout
from mlc.dialects.semantics.dims import DimLike, product
from mlc.dialects.types import ITEMSIZE, element_of, is_float, shape_of
from mlc.passes.context import target_of
from mlc.passes.graph.patterns.constants import constant_values
from mlc.passes.layout.blocking.blocked_layout import LayoutBuilder, panels
from mlc.passes.layout.blocking.packed_products import OF_HALVES, OF_NARROW_WEIGHTS, packing
from mlc.passes.layout.blocking.panel_width import few_rows, panel_width
from mlc.passes.rewriter import bodies, erase_unused
from mlc.target import CpuTarget

FEW_COLUMNS = 8  # below this a panel would be mostly padding


@dataclass(frozen=True)
class PackWeights(ModulePass):
    """Pack constant matrices. A panel has two vectors of columns (half as many columns for 8-byte elements)."""

    name = "pack-weights"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for body in bodies(op):
            constants = constant_values(body)
            for contract in [o for o in body.ops if isinstance(o, ContractOp)]:
                _pack(_oriented(contract, constants), constants, target_of(ctx))


def _oriented(op: ContractOp, constants: set[SSAValue]) -> ContractOp:
    """Swap the operands of a product whose left operand is constant: "mk,bkn->bmn"(w, x) becomes "bnk,mk->bnm"(xᵀ, w),
    whose result is transposed."""
    lhs, rhs, out = op.terms
    if op.lhs not in constants or len(lhs) != 2 or op.rhs in constants or op.product not in (None, OF_HALVES):
        return op
    kept = [c for c in lhs if c in out and c not in rhs]
    if len(kept) != 1:
        return op
    (m,) = kept
    result = out.replace(m, "") + m
    (k,) = set(lhs) - {m}
    builder = LayoutBuilder(op)
    terms = (*(c for c in result if c in rhs), k)
    if k in out or k not in rhs or set(terms) != set(rhs):
        return op
    moved = builder.transpose(op.rhs, [rhs.index(c) for c in terms])
    new = ContractOp(f"{''.join(terms)},{lhs}->{result}", moved, op.lhs, op.product)
    builder.emit(new)
    op.result.replace_all_uses_with(builder.transpose(new.result, [result.index(c) for c in out]))
    erase_unused([op])
    return new


def _pack(op: ContractOp, constants: set[SSAValue], target: CpuTarget) -> None:
    if not _is_packable(op, constants):
        return
    (lhs, rhs, out), element = op.terms, element_of(op.result)
    k, n = lhs[-1], out[-1]
    extents = dict(zip(rhs, shape_of(op.rhs), strict=True))
    rows, columns = product(shape_of(op.lhs)[:-1]), extents[n]
    if extents[k] != shape_of(op.lhs)[-1] or not isinstance(columns, int) or columns < _enough(op, rows, target):
        return
    stride = extents[k] * ITEMSIZE[element_of(op.lhs)]
    block = panel_width((rows, extents[k], columns), stride, target) * 4 // ITEMSIZE[element]
    builder = LayoutBuilder(op)
    matrix = builder.transpose(op.rhs, [rhs.index(k), rhs.index(n)])  # [K, N]
    words = packing(op)
    if words is None:
        _replace(op, f"{lhs},{k}{n}->{out}", matrix, block, op.product)
        return
    op.operands[0] = builder.packed(builder.fill(op.lhs, len(lhs) - 1, words.count))
    _replace(op, f"{lhs},{k}{n}->{out}", builder.packed_rows(matrix, words.count), block, words.product)


def _is_packable(op: ContractOp, constants: set[SSAValue]) -> bool:
    """Return whether ``op`` is a product of floats, bf16 or bytes with a constant right operand "kn" or "nk", and a
    left operand "…k" that is not constant."""
    lhs, rhs, out = op.terms
    element = element_of(op.result)
    if op.layouts or len(rhs) != 2 or ITEMSIZE[element] < 4 or op.lhs in constants or op.rhs not in constants:
        return False
    if not packing(op) and not (op.product in (None, OF_NARROW_WEIGHTS) and is_float(element)):
        return False
    if not out or not lhs or out[-1] not in rhs or lhs[-1] not in rhs:
        return False
    return out == lhs[:-1] + out[-1] and lhs[-1] not in out


def _enough(op: ContractOp, rows: DimLike, target: CpuTarget) -> int:
    """Return the fewest columns for which panels are faster than one dot product for each column. The threshold is a
    row of a panel that fills a cache line."""
    by_columns = op.terms[1][-1] == op.terms[0][-1]
    return target.l1.line // 4 + 1 if by_columns and few_rows(rows, target) and op.product is None else FEW_COLUMNS


def _replace(op: ContractOp, equation: str, matrix: SSAValue, block: int, by: StringAttr | None = None) -> None:
    """Replace ``op`` by a product with ``matrix`` [K, N], packed in panels."""
    builder = LayoutBuilder(op)
    lhs, _, out = (layout(len(letters)) for letters in op.terms)
    held = panels(int(shape_of(matrix)[1]), block)  # type: ignore[arg-type]
    packed = builder.emit(PackOp(matrix, LayoutAttr(held.tag)))  # [N/b, K, b]
    new: Operation = ContractOp(equation, op.lhs, packed, by, [lhs, held, out])
    op.result.replace_all_uses_with(builder.emit(new))
    erase_unused([op])
