"""Borders of blocks of a run-time extent.

A block may be shorter than a border, or empty, so that the neighbour alone may not have it: each rank gathers the last
and the first elements of all blocks, and takes those around its own.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from mlc.dialects.comm import AllGatherOp
from mlc.dialects.dist.states import SplitAttr
from mlc.dialects.graph import ComputeOp, ConcatOp, PadOp, SliceOp, TransposeOp
from mlc.dialects.graph.base import iterators
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.semantics.expr import Expr, Index, Load, parse
from mlc.dialects.types import shape_of
from mlc.passes.distribute.lowering.ranks import Ranks
from mlc.passes.distribute.rules.extents import expr_of
from mlc.passes.op_builder import OpBuilder


def with_ends(
    build: OpBuilder, x: SSAValue, source: SplitAttr, extent: DimLike, ends: tuple[int, int], ranks: Ranks
) -> SSAValue:
    """Return a rank's block of ``extent`` elements with ``ends`` elements of other ranks before and after it.

    Beyond the first and the last element of all they are any elements, which no window reads.
    """
    dim, blocks = source.dim, _Blocks(extent // source.granule, source.granule, ranks.blocks)
    low, high = ends
    parts = [x]
    if low:
        parts.insert(0, _taken(build, _last(build, x, dim, low), dim, low, blocks.before(low), ranks))
    if high:
        parts.append(_taken(build, _first(build, x, dim, high), dim, high, blocks.after(high), ranks))
    return build.emit(ConcatOp(parts, dim)) if len(parts) > 1 else x


class _Blocks:
    """Balanced blocks as expressions of the number ``x1`` of a rank and of the iterator ``i`` of its border."""

    def __init__(self, units: DimLike, granule: int, ranks: int) -> None:
        self.granule, self.ranks = granule, ranks
        self.least, self.rest = f"({expr_of(units // ranks)})", f"({expr_of(units % ranks)})"

    def first(self, rank: str) -> str:
        return f"(({rank}) * {self.least} + min({rank}, {self.rest})) * {self.granule}"

    def owner(self, element: str) -> str:
        """The rank that has an element."""
        unit, large = f"(({element}) // {self.granule})", f"({self.rest} * ({self.least} + 1))"
        late = f"{self.rest} + ({unit} - {large}) // max({self.least}, 1)"
        found = f"where({unit} < {large}, {unit} // ({self.least} + 1), {late})"
        return f"max(min({found}, {self.ranks - 1}), 0)"

    def before(self, low: int) -> str:
        """Where, among the last ``low`` elements of all blocks, element ``i`` of the border before a block is."""
        element = f"{self.first('x1[()]')} - {low} + i"
        owner = self.owner(element)
        at = f"({owner}) * {low} + {low} - ({self.first(f'({owner}) + 1')} - ({element}))"
        return f"max(min({at}, {self.ranks * low - 1}), 0)"

    def after(self, high: int) -> str:
        """The same of the first ``high`` elements, and the border after a block."""
        element = f"{self.first('(x1[()] + 1)')} + i"
        owner = self.owner(element)
        at = f"({owner}) * {high} + ({element}) - {self.first(owner)}"
        return f"max(min({at}, {self.ranks * high - 1}), 0)"


def _last(build: OpBuilder, x: SSAValue, dim: int, size: int) -> SSAValue:
    """Return the last elements of a block, after zeros where it has fewer."""
    return cut(build, build.emit(PadOp(x, _only(x, dim, size), _only(x, dim, 0))), dim, shape_of(x)[dim], size)


def _first(build: OpBuilder, x: SSAValue, dim: int, size: int) -> SSAValue:
    """Return the first elements of a block, before zeros where it has fewer."""
    return cut(build, build.emit(PadOp(x, _only(x, dim, 0), _only(x, dim, size))), dim, 0, size)


def _only(x: SSAValue, dim: int, size: int) -> list[DimLike]:
    return [size if n == dim else 0 for n in range(len(shape_of(x)))]


def cut(build: OpBuilder, x: SSAValue, dim: int, start: DimLike, size: int) -> SSAValue:
    """Return ``size`` elements of a dimension from ``start`` on."""
    shape = shape_of(x)
    starts = [start if n == dim else 0 for n in range(len(shape))]
    sizes = [size if n == dim else extent for n, extent in enumerate(shape)]
    return build.emit(SliceOp(x, starts, sizes, [1] * len(shape)))


def _taken(build: OpBuilder, x: SSAValue, dim: int, size: int, at: str, ranks: Ranks) -> SSAValue:
    """Return ``size`` elements of the borders ``x`` of all ranks, those at the index ``at``."""
    rank = len(shape_of(x))
    order = [dim, *(n for n in range(rank) if n != dim)]
    front = x if dim == 0 else build.emit(TransposeOp(x, order))
    found = build.emit(AllGatherOp(front, ranks.blocks, ranks.group))
    shape = [size if n == dim else extent for n, extent in enumerate(shape_of(x))]
    names = iterators(rank)
    where: Expr = parse(at.replace("+ i", f"+ {names[dim]}"))
    index = (where, *(Index(names[n]) for n in order[1:]))
    return build.emit(ComputeOp(str(Load(0, index)), [found, ranks.number], tuple(shape)))
