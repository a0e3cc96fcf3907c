"""Packing (``pack-weights``, BLIS): right operands of matrix products are stored in panels of columns, where they are
constant, or transposed.

    %y = graph.contract "bmk,kn->bmn"(%x, %w : 64x90)

  → %p = graph.pack(%w) {layout = #graph.layout<"Ba32b">} : 3x64x32
    %y = graph.contract "bmk,kn->bmn"(%x, %p)
           {layouts = [#graph.layout<"abc">, #graph.layout<"Ba32b", padding = [6]>, #graph.layout<"abc">]}

The micro-kernel then reads consecutive memory. Transposed weights ("nk") are transposed; a constant on the left becomes
the right operand, with the other operand and the result transposed where needed. Bytes become packed integers of four
rows each, for dot products.
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
from mlc.passes.graph.patterns.quantized import DOT4, PRODUCT, WORD
from mlc.passes.layout.blocking.blocked_layout import LayoutBuilder, panels
from mlc.passes.rewriter import bodies, erase_unused
from mlc.target import CpuTarget

FEW_COLUMNS = 8  # below this a panel would be mostly padding
TRANSPOSED_ROWS = 8  # of the left operand, for which a transposition at run time pays


@dataclass(frozen=True)
class PackWeights(ModulePass):
    """Pack constant matrices, and transposed ones at run time. A panel has two vectors of columns (half as
    many columns for 8-byte elements).

    ``runtime_rows``: from so many rows of the left operand on, a kernel packs a right operand that is not constant at
    run time; 0: never.
    """

    name = "pack-weights"
    runtime_rows: int = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for body in bodies(op):
            constants = constant_values(body)
            for contract in [o for o in body.ops if isinstance(o, ContractOp)]:
                _pack(_oriented(contract, constants), constants, target_of(ctx), self.runtime_rows)


def _oriented(op: ContractOp, constants: set[SSAValue]) -> ContractOp:
    """Swap the operands of a product whose left one is constant: "mk,bkn->bmn" of w, x is "bnk,mk->bnm" of xᵀ, w,
    transposed."""
    lhs, rhs, out = op.terms
    if op.lhs not in constants or len(lhs) != 2 or op.rhs in constants or op.product:
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
    new = ContractOp(f"{''.join(terms)},{lhs}->{result}", moved, op.lhs)
    builder.emit(new)
    op.result.replace_all_uses_with(builder.transpose(new.result, [result.index(c) for c in out]))
    erase_unused([op])
    return new


def _pack(op: ContractOp, constants: set[SSAValue], target: CpuTarget, runtime_rows: int) -> None:
    lhs, rhs, out = op.terms
    element = element_of(op.result)
    if op.layouts or len(rhs) != 2 or ITEMSIZE[element] < 4:
        return
    if op.product != PRODUCT and not (op.product is None and is_float(element)):
        return
    if (
        op.lhs in constants
        or not out
        or not lhs
        or out[-1] not in rhs
        or lhs[-1] not in rhs
        or out != lhs[:-1] + out[-1]
        or lhs[-1] in out
    ):
        return
    k, n = lhs[-1], out[-1]
    extents = dict(zip(rhs, shape_of(op.rhs), strict=True))
    rows, columns = product(shape_of(op.lhs)[:-1]), extents[n]
    least = TRANSPOSED_ROWS if rhs[-1] == k else runtime_rows
    if op.rhs not in constants and not (least and isinstance(rows, int) and rows >= least):
        return
    if extents[k] != shape_of(op.lhs)[-1] or not isinstance(columns, int) or columns < _enough(op, rows, target):
        return
    stride = extents[k] * ITEMSIZE[element_of(op.lhs)]
    block = _block((rows, extents[k], columns), stride, target) * 4 // ITEMSIZE[element]
    builder = LayoutBuilder(op)
    matrix = builder.transpose(op.rhs, [rhs.index(k), rhs.index(n)])  # [K, N]
    if op.product is None:
        _replace(op, f"{lhs},{k}{n}->{out}", matrix, block)
        return
    op.operands[0] = builder.packed_bytes(builder.fill(op.lhs, len(lhs) - 1, WORD))
    _replace(op, f"{lhs},{k}{n}->{out}", builder.packed_rows(matrix), block, DOT4)


def _block(shape: tuple[DimLike, DimLike, int], stride: DimLike, target: CpuTarget) -> int:
    """Columns of a panel of a product M x K x N, with ``stride`` bytes between the rows of the left operand. Wide
    panels are chosen where they add little padding."""
    rows, terms, columns = shape
    usual = 2 * target.lanes
    block, long = _wide(target) if _conflicts(stride, target) else usual, 2 * usual
    small = isinstance(terms, int) and terms * columns <= target.products_in_a_barrier
    if _few(rows, target) and columns >= (1 if small else target.tasks(2)) * long:
        block = max(block, long)
    return block if -columns % block * 8 <= columns else usual


def _wide(target: CpuTarget) -> int:
    """Columns of a panel where the rows of the left operand conflict in the L1 cache; with few registers, as without
    conflicts, because register tiles have few rows anyway."""
    return (4 if target.vector_registers > 16 else 2) * target.lanes


def _enough(op: ContractOp, rows: DimLike, target: CpuTarget) -> int:
    """The fewest columns for which panels are faster than a dot product a column: a panel's row fills a cache line."""
    by_columns = op.terms[1][-1] == op.terms[0][-1]
    return target.l1.line // 4 + 1 if by_columns and _few(rows, target) and op.product is None else FEW_COLUMNS


def _few(rows: DimLike, target: CpuTarget) -> bool:
    """Whether rows × two vectors are at most half of the sums that a CPU keeps in flight: each addition then waits for
    the previous one."""
    return isinstance(rows, int) and 4 * rows <= target.sums_in_flight


def _conflicts(stride: DimLike, target: CpuTarget) -> bool:
    """Whether rows at a distance of ``stride`` bytes fall into one set of the L1 cache. Register tiles of few rows and
    wide panels are then best (6 x 64 instead of 14 x 32)."""
    return isinstance(stride, int) and stride % target.l1.period == 0


def _replace(op: ContractOp, equation: str, matrix: SSAValue, block: int, by: StringAttr | None = None) -> None:
    """Replace ``op`` by a product with ``matrix`` [K, N] in panels."""
    builder = LayoutBuilder(op)
    lhs, _, out = (layout(len(letters)) for letters in op.terms)
    held = panels(int(shape_of(matrix)[1]), block)  # type: ignore[arg-type]
    packed = builder.emit(PackOp(matrix, LayoutAttr(held.tag)))  # [N/b, K, b]
    new: Operation = ContractOp(equation, op.lhs, packed, by, [lhs, held, out])
    op.result.replace_all_uses_with(builder.emit(new))
    erase_unused([op])
