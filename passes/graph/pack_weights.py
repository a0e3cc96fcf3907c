"""``pack-weights``: constant right operands of matrix products are stored in panels of columns.

    %y = graph.contract "bmk,kn->bmn"(%x, %w : 64x90)

  → %p = (%w padded to 64x96, reshaped and transposed) : 3x64x32
    %y = graph.contract "bmk,kn->bmn"(%x, %p) {columns = 90, block = 32}

A micro-kernel then reads its columns one behind the other. Transposed weights ("nk") are turned round; a constant
on the left goes to the right, with the operands and the result transposed where that is what it takes. Bytes become
words of four rows each, for dot products.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.dims import DimLike, product
from mlc.dialects.graph import ContractOp
from mlc.dialects.types import ITEMSIZE, element_of, is_float, shape_of
from mlc.passes.graph.constants import constant_values
from mlc.passes.graph.layout import Emitter
from mlc.passes.graph.quantized import DOT4, PRODUCT, WORD
from mlc.passes.rewriter import bodies, erase_unused

L1_PERIOD = 4096  # bytes after which addresses share a set of the L1 cache: 64 sets of 64-byte lines
FEW_ROWS = 2  # up to which a block's two vectors are fewer sums than a CPU adds to at once, so that each waits
MANY_PANELS = 8  # that threads can share out
ONE_THREAD = 1 << 16  # products that are done before a second thread could help
FEW_COLUMNS = 8  # below this a panel would be mostly padding
ONE_VECTOR = 16  # columns up to which, in few rows, each sum would wait for its last addition


@dataclass(frozen=True)
class PackWeights(ModulePass):
    """Pack constant matrices. ``block``: columns of a panel, for 4-byte elements (half as many for 8 bytes); ``wide``:
    the same where the rows of the left operand conflict in the L1 cache. Where it has few rows, panels have two
    blocks."""

    name = "pack-weights"
    block: int = 32
    wide: int = 64

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for body in bodies(op):
            constants = constant_values(body)
            for contract in [o for o in body.ops if isinstance(o, ContractOp)]:
                _pack(_oriented(contract, constants), constants, self)


def _oriented(op: ContractOp, constants: set[SSAValue]) -> ContractOp:
    """A constant matrix on the left goes to the right: "mk,bkn->bmn" of w, x is "bnk,mk->bnm" of xᵀ, w, transposed."""
    lhs, rhs, out = op.terms
    if op.lhs not in constants or len(lhs) != 2 or op.rhs in constants or op.product:
        return op
    kept = [c for c in lhs if c in out and c not in rhs]
    if len(kept) != 1:
        return op
    (m,) = kept
    result = out.replace(m, "") + m
    (k,) = set(lhs) - {m}
    emitter = Emitter(op)
    terms = (*(c for c in result if c in rhs), k)
    if k in out or k not in rhs or set(terms) != set(rhs):
        return op
    moved = emitter.transpose(op.rhs, [rhs.index(c) for c in terms])
    new = ContractOp(f"{''.join(terms)},{lhs}->{result}", moved, op.lhs)
    emitter.emit(new)
    op.result.replace_all_uses_with(emitter.transpose(new.result, [result.index(c) for c in out]))
    erase_unused([op])
    return new


def _pack(op: ContractOp, constants: set[SSAValue], options: PackWeights) -> None:
    lhs, rhs, out = op.terms
    element = element_of(op.result)
    if op.packing or len(rhs) != 2 or ITEMSIZE[element] < 4 or op.rhs not in constants:
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
    if extents[k] != shape_of(op.lhs)[-1] or not isinstance(columns, int) or columns < _enough(op, rows):
        return
    stride = extents[k] * ITEMSIZE[element_of(op.lhs)]
    block = _block((rows, extents[k], columns), stride, options) * 4 // ITEMSIZE[element]
    emitter = Emitter(op)
    matrix = emitter.transpose(op.rhs, [rhs.index(k), rhs.index(n)])  # [K, N]
    if op.product is None:
        _replace(op, f"{lhs},{k}{n}->{out}", matrix, block)
        return
    op.operands[0] = emitter.words(emitter.fill(op.lhs, len(lhs) - 1, WORD))
    _replace(op, f"{lhs},{k}{n}->{out}", emitter.by_fours(matrix), block, DOT4)


def _block(shape: tuple[DimLike, DimLike, int], stride: DimLike, options: PackWeights) -> int:
    """Columns of a panel of a product M x K x N with ``stride`` bytes between the rows of the left operand; wider ones
    where little is padding."""
    rows, terms, columns = shape
    block, long = options.wide if _conflicts(stride) else options.block, 2 * options.block
    small = isinstance(terms, int) and terms * columns <= ONE_THREAD
    if _few(rows) and columns >= (1 if small else MANY_PANELS) * long:
        block = max(block, long)
    return block if -columns % block * 8 <= columns else options.block


def _enough(op: ContractOp, rows: DimLike) -> int:
    """Columns from which on panels are faster than a dot product a column."""
    by_columns = op.terms[1][-1] == op.terms[0][-1]
    return ONE_VECTOR + 1 if by_columns and _few(rows) and op.product is None else FEW_COLUMNS


def _few(rows: DimLike) -> bool:
    return isinstance(rows, int) and rows <= FEW_ROWS


def _conflicts(stride: DimLike) -> bool:
    """Whether rows ``stride`` bytes apart lie in one set of the L1 cache: then register tiles of few rows and wide
    panels are best (6 x 64, and not 14 x 32)."""
    return isinstance(stride, int) and stride % L1_PERIOD == 0


def _replace(
    op: ContractOp, equation: str, matrix: SSAValue, block: int, by: StringAttr | None = None
) -> None:
    """Put a product with ``matrix`` [K, N] in panels in the place of ``op``."""
    emitter = Emitter(op)
    panels = emitter.transpose(emitter.split(matrix, 1, block), [1, 0, 2])  # [N/b, K, b]
    packing = int(shape_of(op.result)[-1]), block  # type: ignore[arg-type]
    new: Operation = ContractOp(equation, op.lhs, panels, packing, by)
    op.result.replace_all_uses_with(emitter.emit(new))
    erase_unused([op])
