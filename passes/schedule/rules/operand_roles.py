"""The roles of a contraction's operands, which follow from their strides: A is broadcast, B is read along the
vectorized axis."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import BlockArgument

from mlc.dialects import kernel
from mlc.dialects.semantics.dims import Dim, DimLike
from mlc.passes.schedule.polyhedral.statement_view import Access, StatementView
from mlc.passes.schedule.rules.partial_sums import SUM_BLOCK

PRODUCTS = (["arith.mulf"], ["arith.muli"], ["dot4"], ["dot2_i16"], ["dot2"])
WIDENED = (  # narrower factors
    "arith.extsi", "arith.extui", "arith.extf", "builtin.unrealized_conversion_cast", *kernel.WIDENING.values(),
)  # fmt: skip


def is_sum(s: StatementView) -> bool:
    return s.op.monoid is not None and s.op.monoid.data == "add" and len(s.reads) > 1


def is_matrix_product(s: StatementView) -> bool:
    """Return whether a sum of products has rows, on which the second factor does not depend, and columns, on which the
    first one does not."""
    if not is_sum(s) or len(s.reads) != 2:
        return False
    first, second = ({i for i in s.parallel if r.depends_on(i)} for r in s.reads)
    return bool(first - second and second - first)


def factors(s: StatementView) -> Iterator[tuple[Access, tuple[Access, ...]]]:
    """Yield pairs (factor that is one access, accesses of the other factor). The other factor is one operand, or is
    computed from quantized integers and scales."""
    ops = {o: o.op.data if isinstance(o, kernel.LanewiseOp) else o.name for o in s.op.body.block.ops}
    product = [name for name in ops.values() if name not in (*WIDENED, "poly.yield")]
    last = list(ops)[-1].operands[0].owner
    integers = any(isinstance(argument.type, IntegerType) for argument in s.op.body.block.args)
    dequantized = integers and ops.get(last) == "arith.mulf" and kernel.GatherOp.name not in product
    if not dequantized and (len(s.reads) != 2 or product not in PRODUCTS):
        return
    for value in last.operands:
        while not isinstance(value, BlockArgument) and ops.get(value.owner) in WIDENED:
            value = value.owner.operands[0]
        if isinstance(value, BlockArgument):
            yield s.reads[value.index], tuple(r for n, r in enumerate(s.reads) if n != value.index)


def scaled_dots(s: StatementView, lanes: str) -> tuple[Access, tuple[Access, ...]] | None:
    """Return (an access of the left factor, the accesses of the right one) where each term is a sum of dot products,
    scaled; None for other sums."""
    names = [o.op.data if isinstance(o, kernel.LanewiseOp) else o.name for o in s.op.body.block.ops]
    left = [r for r in s.reads if not r.depends_on(lanes)]
    right = tuple(r for r in s.reads if r.depends_on(lanes))
    scaled = {"dot4", "dot2x2"} & {*names} and "arith.mulf" in names and kernel.GatherOp.name not in names
    return (left[0], right) if scaled and left and right else None


def stored_panel_width(access: Access, name: str) -> int | None:
    """Return the panel width b if the access has the indices (name // b, name % b); None otherwise."""
    monomials = (monomial for index in access.index if isinstance(index, Dim) for monomial, _ in index.terms)
    atoms = (atom for monomial in monomials for atom in monomial if not isinstance(atom, str))
    widths: Iterator[DimLike] = (atom[2] for atom in atoms if atom[:2] == ("//", Dim.symbol(name)))
    return next((width for width in widths if isinstance(width, int)), None)


def unit_stride(access: Access, name: str) -> bool:
    """Return whether the access is contiguous along ``name``, at least within an aligned panel."""
    linear = access.linear
    plain = sum((c for m, c in linear.terms if m == (name,)), 0) if isinstance(linear, Dim) else 0
    return plain == 1 and (access.stride(name) == 1 or stored_panel_width(access, name) is not None)


@dataclass(frozen=True)
class OperandRoles:
    s: StatementView
    lanes: str
    a: Access
    b: Access
    dequantized: bool = False  # B is computed from integers and scales, anew for each tile of rows
    sums: int = 1  # registers for each vector of a tile: its sum, and a term that several dot products add up

    @property
    def rows(self) -> list[str]:
        """The iterators of the result on which only A depends, innermost last."""
        return [i for i in self.s.parallel if i != self.lanes and self.a.depends_on(i) and not self.b.depends_on(i)]

    @property
    def slides(self) -> bool:
        """Whether a small window slides over B and no two rows read the same elements, as in a depthwise
        convolution."""
        terms = math.prod(n if isinstance(n := self.s.bounds[i], int) else math.inf for i in self.s.reduced)
        over = any(self.b.slides(p, k) for p in self.panels for k in self.s.reduced)
        return over and not self.rows and terms <= SUM_BLOCK

    @property
    def panels(self) -> list[str]:
        """The iterators on which only B depends, except the vectorized one."""
        return [i for i in self.s.parallel if i != self.lanes and self.b.depends_on(i) and not self.a.depends_on(i)]
