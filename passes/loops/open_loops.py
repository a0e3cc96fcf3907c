"""scf.for loops that are open for their body: over an iterator, or over lanes in whole vectors and what is left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Region, SSAValue

from mlc.dialects.dims import Dim, DimLike, floordiv
from mlc.passes.loops.index_math import Emitter
from mlc.passes.loops.point import Axis, Point
from mlc.passes.schedule.schedule import Item
from mlc.passes.schedule.view import StatementView


@dataclass(frozen=True)
class Piece:
    """Part of a lane iterator: ``[start, stop)`` in steps of ``size``, the last ``lanes`` valid where given."""

    start: DimLike
    stop: DimLike
    size: int
    lanes: SSAValue | None = None

    @property
    def once(self) -> bool:
        """Whether it is one turn, on any input."""
        return self.lanes is None and self.stop - self.start == self.size

    def at(self, point: Point, item: Item, start: DimLike) -> Point:
        """One turn, from ``start`` on."""
        axis = Axis(item.iterator, self.size, self.lanes)
        return point.extended(item.iterator, start + Dim.symbol(axis.symbol), axis)


def pieces(out: Emitter, extent: DimLike, item: Item) -> list[Piece]:
    whole = floordiv(extent, item.size) * item.size
    pieces = [Piece(0, whole, item.size)] if whole != 0 else []
    rest = extent - whole
    if rest == 0:
        return pieces
    if isinstance(rest, int):
        return [*pieces, Piece(whole, extent, rest)]
    return [*pieces, Piece(whole, extent, item.size, out.dim(rest))]


@dataclass
class Loop:
    op: scf.ForOp
    outer: Emitter
    inside: Emitter
    variable: Dim

    @property
    def carried(self) -> Sequence[SSAValue]:
        return self.op.body.block.args[1:]

    def close(self, values: Sequence[SSAValue]) -> Sequence[SSAValue]:
        self.op.body.block.add_op(scf.YieldOp(*values))
        return self.op.results


def open_for(out: Emitter, start: DimLike, stop: DimLike, step: int, carried: Sequence[SSAValue]) -> Loop:
    """Open an scf.for with ``carried`` values; its variable is a fresh name of the environment."""
    block = Block(arg_types=[IndexType(), *(v.type for v in carried)])
    op = scf.ForOp(out.dim(start), out.dim(stop), out.constant(step), carried, Region(block))
    out.block.add_op(op)
    name = f"l{len(out.env)}"
    out.env[name] = block.args[0]
    return Loop(op, out, out.at(block), Dim.symbol(name))


def each_piece(out: Emitter, s: StatementView, point: Point, item: Item) -> Iterator[tuple[Emitter, Point]]:
    """Where the body of the loops over one iterator stands, a lane iterator's in whole vectors and then the rest; the
    body is written before the next is asked for. A single turn has no loop."""
    extent = point.resolve(s.bounds[item.iterator])
    if not item.lanes:
        loop = open_for(out, 0, extent, 1, ())
        yield loop.inside, point.extended(item.iterator, loop.variable)
        loop.close(())
        return
    for piece in pieces(out, extent, item):
        if piece.once:
            yield out, piece.at(point, item, piece.start)
            continue
        loop = open_for(out, piece.start, piece.stop, piece.size, ())
        yield loop.inside, piece.at(point, item, loop.variable)
        loop.close(())
