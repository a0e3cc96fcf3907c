"""Builders of scf.for loops: over an iterator, or over the vectorized axis in whole vectors and a remainder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Region, SSAValue

from mlc.dialects.poly import TiledLoop
from mlc.dialects.semantics.dims import Dim, DimLike, ceildiv, dim_max, dim_min, floordiv
from mlc.passes.loops.body.tile_context import TileAxis, TileContext
from mlc.passes.loops.index.index_builder import IndexBuilder
from mlc.passes.schedule.polyhedral.statement_view import StatementView


@dataclass(frozen=True)
class Piece:
    """A range of a vectorized iterator: ``[start, stop)`` in steps of ``size``. ``lanes``: the number of valid lanes,
    if not all are; ``unmasked``: none of its points is masked; ``partial``: the last step ends with the range."""

    start: DimLike
    stop: DimLike
    size: int
    lanes: SSAValue | None = None
    unmasked: bool = False
    partial: bool = False

    @property
    def once(self) -> bool:
        """Whether the range is one iteration for all inputs."""
        return self.lanes is None and not self.partial and self.stop - self.start == self.size

    def at(self, out: IndexBuilder, context: TileContext, item: TiledLoop, start: DimLike) -> TileContext:
        """Return the context of the iteration at ``start``."""
        axis = TileAxis(item.iterator, self.size, out.dim(self.stop - start) if self.partial else self.lanes)
        context = replace(context, unmasked=True) if self.unmasked else context
        return context.extended(item.iterator, start + Dim.symbol(axis.symbol), axis)


def pieces(out: IndexBuilder, extent: DimLike, item: TiledLoop, context: TileContext) -> list[Piece]:
    """Return the ranges of an iterator: whole vectors, where those without masked points are separate ranges, and the
    remainder."""
    whole = floordiv(extent, item.size) * item.size
    pieces = _whole_vectors(whole, item, context)
    rest = extent - whole
    if rest == 0:
        return pieces
    if isinstance(rest, int):
        return [*pieces, Piece(whole, extent, rest)]
    if len(item.sizes) > 1:
        return [*pieces, Piece(whole, extent, item.sizes[-1][0], partial=True)]
    return [*pieces, Piece(whole, extent, item.size, out.dim(rest))]


def _whole_vectors(stop: DimLike, item: TiledLoop, context: TileContext) -> list[Piece]:
    if item.iterator not in context.full:
        return [Piece(0, stop, item.size)] if stop != 0 else []
    first, last = context.full[item.iterator]
    start = first if first == 0 else dim_max(0, dim_min(ceildiv(first, item.size) * item.size, stop))
    end = dim_max(start, dim_min(floordiv(last, item.size) * item.size, stop))
    ranges = [(0, start, False), (start, end, True), (end, stop, False)]
    return [Piece(a, b, item.size, unmasked=full) for a, b, full in ranges if a != b]


@dataclass
class OpenLoop:
    op: scf.ForOp
    outer: IndexBuilder
    inside: IndexBuilder
    variable: Dim

    @property
    def carried(self) -> Sequence[SSAValue]:
        return self.op.body.block.args[1:]

    def close(self, values: Sequence[SSAValue]) -> Sequence[SSAValue]:
        self.op.body.block.add_op(scf.YieldOp(*values))
        return self.op.results


def open_for(out: IndexBuilder, start: DimLike, stop: DimLike, step: int, carried: Sequence[SSAValue]) -> OpenLoop:
    """Open an scf.for with ``carried`` values; its variable gets a fresh name in the environment."""
    block = Block(arg_types=[IndexType(), *(v.type for v in carried)])
    op = scf.ForOp(out.dim(start), out.dim(stop), out.constant(step), carried, Region(block))
    out.block.add_op(op)
    name = f"l{len(out.env)}"
    out.env[name] = block.args[0]
    return OpenLoop(op, out, out.at(block), Dim.symbol(name))


def each_piece(
    out: IndexBuilder, s: StatementView, context: TileContext, item: TiledLoop
) -> Iterator[tuple[IndexBuilder, TileContext]]:
    """Yield the builder and context for each body of the loops over one iterator; a vectorized iterator has whole
    vectors first, then the remainder. The caller must build one body before it requests the next. A single iteration
    has no loop."""
    extent = context.resolve(s.bounds[item.iterator])
    if not item.vectorized:
        loop = open_for(out, 0, extent, 1, ())
        yield loop.inside, context.extended(item.iterator, loop.variable)
        loop.close(())
        return
    for piece in pieces(out, extent, item, context):
        if piece.once:
            yield out, piece.at(out, context, item, piece.start)
            continue
        loop = open_for(out, piece.start, piece.stop, piece.size, ())
        yield loop.inside, piece.at(loop.inside, context, item, loop.variable)
        loop.close(())
