"""Packing at run time (``pack-operands``, BLIS): right operands of large matrix products are copied into panels of
columns.

    %y = graph.contract "bsk,nk->bsn"(%x : 8x128x90, %w : 64x90)

  → %p = graph.pack(%wᵀ) {layout = #graph.layout<"Ba32b">} : 2x90x32
    %y = graph.contract "bsk,kn->bsn"(%x, %p)
           {layouts = [#graph.layout<"abc">, #graph.layout<"Ba32b">, #graph.layout<"abc">]}

Such operands occur in training, where weights change and the derivative of a product is a product with transposed
operands. The packing kernel reads and writes the operand once; the micro-kernel then reads consecutive memory. Constant
operands are packed when the weights file is written (``pack-weights``). The operands are swapped if the left one has
the columns of the result, as in derivatives by weights. A left operand whose rows are contiguous, as in these, is
packed too where a register tile has few rows:

    %y = graph.contract "km,kn->mn"(%x : 1024x768, %g : 1024x768)

  → %l = graph.pack(%x) {layout = #graph.layout<"Ba6b">} : 128x1024x6
    %y = graph.contract "km,kn->mn"(%l, %p) {layouts = [#graph.layout<"Ba6b">, #graph.layout<"Ba16b">, …]}
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.graph import ContractOp, LayoutAttr, LoopOp, PackOp, layout
from mlc.dialects.semantics.dims import DimLike, product
from mlc.dialects.types import ITEMSIZE, element_of, is_float, shape_of
from mlc.passes.context import target_of
from mlc.passes.graph.patterns.constants import constant_values
from mlc.passes.layout.blocking.blocked_layout import LayoutBuilder, panels
from mlc.passes.layout.blocking.panel_width import panel_rows, panel_width
from mlc.passes.rewriter import bodies, erase_unused
from mlc.target import CpuTarget

TRANSPOSED_ROWS = 8  # of the left operand, for which a transposition of the right one pays


@dataclass(frozen=True)
class PackOperands(ModulePass):
    """Pack right operands that are not constant.

    ``rows``: the fewest rows of the left operand for which a right operand is packed whose rows are contiguous; 0:
    never.
    """

    name = "pack-operands"
    rows: int = 256

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for body in bodies(op):
            constants = constant_values(body)
            for contract in [o for o in body.ops if isinstance(o, ContractOp)]:
                if not constants & {contract.lhs, contract.rhs} and self._pays(ordered := _commuted(contract)):
                    _pack(ordered, target_of(ctx))

    def _pays(self, op: ContractOp) -> bool:
        """Return whether ``op`` is a product of matrices of floats with enough rows and columns."""
        lhs, rhs, out = op.terms
        element = element_of(op.result)
        if op.layouts or op.product or not is_float(element) or ITEMSIZE[element] < 4 or not _is_matrix(op):
            return False
        extents = op.extents()
        rows, columns = product(extents[c] for c in out if c != out[-1]) * _iterations(op), extents[out[-1]]
        least = self.rows if rhs[-1] == out[-1] else TRANSPOSED_ROWS
        enough = isinstance(rows, int) and isinstance(columns, int) and 0 < least <= rows
        return enough and isinstance(columns, int) and columns >= TRANSPOSED_ROWS


def _commuted(op: ContractOp) -> ContractOp:
    """Return ``op`` if its right operand has the last letter of the result; otherwise swap its operands and return the
    new product."""
    lhs, rhs, out = op.terms
    if op.layouts or op.product or not out or out[-1] in rhs or out[-1] not in lhs:
        return op
    new = ContractOp(f"{rhs},{lhs}->{out}", op.rhs, op.lhs)
    LayoutBuilder(op).emit(new)
    new.result.name_hint = op.result.name_hint
    op.result.replace_all_uses_with(new.result)
    erase_unused([op])
    return new


def _iterations(op: ContractOp) -> DimLike:
    """Return how many iterations of a loop read the right operand unchanged (1 outside of loops). It is then packed
    once, before the loop (``hoist-loop-invariants``)."""
    loop = op.parent_op()
    if not isinstance(loop, LoopOp) or not isinstance(op.rhs, BlockArgument):
        return 1
    return loop.most if op.rhs.index >= len(loop.states) else 1


def _is_matrix(op: ContractOp) -> bool:
    """Return whether the right operand has the last letter of the result and the letters of the sum, the left operand
    has the letters of the sum side by side, and no operand is broadcast."""
    lhs, rhs, out = op.terms
    summed = "".join(c for c in lhs if c not in out)
    if not out or not summed or out[-1] in lhs or sorted(rhs) != sorted(summed + out[-1]) or summed not in lhs:
        return False
    extents = op.extents()
    shapes = zip((lhs, rhs), (shape_of(op.lhs), shape_of(op.rhs)), strict=True)
    return all(d == extents[c] for letters, shape in shapes for c, d in zip(letters, shape, strict=True))


def _pack(op: ContractOp, target: CpuTarget) -> None:
    """Replace ``op`` by a product whose sum has one letter and whose right operand is in panels."""
    lhs, rhs, out = op.terms
    summed = "".join(c for c in lhs if c not in out)
    k, n, builder = summed[0], out[-1], LayoutBuilder(op)
    ordered = builder.transpose(op.rhs, [rhs.index(c) for c in summed + n])
    terms, columns = product(shape_of(ordered)[:-1]), int(shape_of(ordered)[-1])  # type: ignore[arg-type]
    block = _panel(op, terms, columns, target)
    packed = builder.emit(PackOp(builder.reshape(ordered, (terms, columns)), layout(2, [(1, block)], (1, 0))))
    left, letters = _merged(op.lhs, lhs, summed, builder), lhs.replace(summed, k)
    left, held = _packed_left(op, left, letters, block, target)
    layouts = [held, panels(columns, block), layout(len(out))]
    new = ContractOp(f"{letters},{k}{n}->{out}", left, packed, None, layouts)
    op.result.replace_all_uses_with(builder.emit(new))
    erase_unused([op])


def _panel(op: ContractOp, terms: DimLike, columns: int, target: CpuTarget) -> int:
    """Return the columns of a panel. If the rows of the left operand are contiguous, its elements along a column
    conflict in no cache."""
    lhs, _, out = op.terms
    size = ITEMSIZE[element_of(op.result)]
    rows = product(op.extents()[c] for c in out[:-1])
    stride = size if lhs[-1] in out else terms * size
    return panel_width((rows, terms, columns), stride, target) * 4 // size


def _packed_left(
    op: ContractOp, left: SSAValue, letters: str, columns: int, target: CpuTarget
) -> tuple[SSAValue, LayoutAttr]:
    """Return the left operand and its layout: in panels of the rows of a register tile if its rows are contiguous and
    that pays, else as it is."""
    shape, size = shape_of(left), ITEMSIZE[element_of(op.result)]
    if len(letters) != 2 or letters[-1] not in op.terms[2]:
        return left, layout(len(letters))
    rows = panel_rows(shape, columns, size, target)
    if not rows:
        return left, layout(2)
    held = layout(2, [(1, rows)], (1, 0))
    return LayoutBuilder(op).emit(PackOp(left, held)), held


def _merged(x: SSAValue, letters: str, some: str, builder: LayoutBuilder) -> SSAValue:
    """Return ``x`` with the neighbouring dimensions ``some`` merged into one."""
    first, shape = letters.index(some), shape_of(x)
    last = first + len(some)
    return builder.reshape(x, (*shape[:first], product(shape[first:last]), *shape[last:]))
