"""The code of one tile instance: its statements on n-D vector values, register tiles that the printer unrolls.

A value has one vector dimension for each axis of the tile it varies along and extent 1 along the others; a reduction
keeps its accumulator in registers. Results that the next statement reads at the same point are handed over without
touching memory.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from mlc.dialects.dims import dim_min
from mlc.passes.loops.combine import bare, combine, horizontal, initial, masked
from mlc.passes.loops.index_math import Emitter
from mlc.passes.loops.open_loops import Piece, each_piece, open_for, pieces
from mlc.passes.loops.point import Axis, Point, Value, broadcast
from mlc.passes.loops.prefetch import Prefetch
from mlc.passes.loops.tile_values import TileValues
from mlc.passes.loops.together import together
from mlc.passes.schedule.schedule import Item
from mlc.passes.schedule.view import StatementView

UNROLLED = 9  # turns of the loops of a reduction that are written out


@dataclass
class TileBody:
    """Emits the statements of one kind of tile, one after the other."""

    statements: Sequence[StatementView]
    values: TileValues
    prefetch: Prefetch | None = None
    before: Sequence[StatementView] = ()  # what runs in the loops of a reduction, before its term

    def emit(self, out: Emitter, point: Point, inner: Sequence[Item]) -> None:
        for members in together(self.statements):
            loops = [i for i in inner if i.iterator in members[0].iters]
            *self.before, last = members
            if last.op.monoid:
                self._reduce(out, last, point, loops)
            else:
                self._map(out, members, point, loops)

    # -- statements ----------------------------------------------------------------------------------------------------

    def _map(self, out: Emitter, members: Sequence[StatementView], point: Point, loops: Sequence[Item]) -> None:
        if not loops:
            for s in members:
                self.values.write(out, s, point, self.values.body(out, s, point))
            return
        for inside, there in each_piece(out, members[0], point, loops[0]):
            self._map(inside, members, there, loops[1:])

    def _reduce(self, out: Emitter, s: StatementView, point: Point, loops: Sequence[Item]) -> None:
        """A reduction for each point of the loops it keeps, which stand outside of those it reduces."""
        kept = next((i for i in loops if i.iterator in s.parallel), None)
        if kept is None:
            if self.prefetch:
                self.prefetch.prepare(out, s, point)
            self.values.write(out, s, point, self._accumulate(out, s, point, loops))
            return
        for inside, there in each_piece(out, s, point, kept):
            self._reduce(inside, s, there, [i for i in loops if i is not kept])

    def _term(self, out: Emitter, s: StatementView, point: Point) -> Value:
        """What a reduction combines at ``point``, behind the statements that run in its loops."""
        self._map(out, self.before, point, ())
        return self.values.body(out, s, point)

    def _accumulate(self, out: Emitter, s: StatementView, point: Point, loops: Sequence[Item]) -> Value:
        """The combination over ``loops``, in registers; over a lane loop each lane sums its own, then lanes combine."""
        total: Value | None = None
        lane = next((i for i in loops if i.lanes), None)
        if lane is None:
            return self._nest(out, s, point, loops)
        others = [i for i in loops if i is not lane]
        for piece in pieces(out, s.bounds[lane.iterator], lane):
            part = self._nest(out, s, point, others, (lane, piece))
            part = horizontal(out, s, part)
            total = part if total is None else combine(out, s, total, part)
        return total or Value(initial(out, s))

    def _nest(
        self,
        out: Emitter,
        s: StatementView,
        point: Point,
        loops: Sequence[Item],
        lane: tuple[Item, Piece] | None = None,
    ) -> Value:
        axes = frozenset(a.iterator for a in point.axes if a.iterator in s.parallel)
        shape_axes = point.axes
        if lane is not None:
            axes |= {lane[0].iterator}
            shape_axes = (*point.axes, Axis(lane[0].iterator, lane[1].size))
        if lane is not None and lane[1].once and not loops and bare(s):
            there = lane[1].at(point, lane[0], lane[1].start)
            return Value(broadcast(out, self._term(out, s, there), axes, there), axes)
        start = broadcast(out, Value(initial(out, s)), axes, Point(point.at, shape_axes))
        return Value(self._reduce_loops(out, s, point, loops, lane, axes, start), axes)

    def _reduce_loops(
        self, out: Emitter, s: StatementView, point: Point, loops: Sequence[Item], lane: tuple[Item, Piece] | None,
        axes: frozenset[str], total: SSAValue,
    ) -> SSAValue:  # fmt: skip
        if loops and loops[0].partial:
            return self._partial_sums(out, s, point, loops, lane, axes, total)
        if loops and lane is None and _turns(s, point, loops) <= UNROLLED:
            return self._unrolled(out, s, point, loops, axes, total)
        if loops:
            item, extent = loops[0], point.resolve(s.bounds[loops[0].iterator])
            with_loop = open_for(out, 0, extent, 1, (total,))
            there = point.extended(item.iterator, with_loop.variable)
            inside = self._reduce_loops(with_loop.inside, s, there, loops[1:], lane, axes, with_loop.carried[0])
            return with_loop.close((inside,))[0]
        if lane is not None:
            return self._lane_loop(out, s, point, lane, axes, total)
        if self.prefetch:
            self.prefetch.emit(out, s, point)
        value = self._term(out, s, point)
        return combine(out, s, Value(total, axes), Value(broadcast(out, value, axes, point), axes)).ssa

    def _unrolled(
        self, out: Emitter, s: StatementView, point: Point, loops: Sequence[Item], axes: frozenset[str], total: SSAValue
    ) -> SSAValue:
        """One point of a small window after the other: what several of them read is read once."""
        extents = [range(int(point.resolve(s.bounds[i.iterator]))) for i in loops]  # type: ignore[arg-type]
        for place in itertools.product(*extents):
            there = Point({**point.at, **{i.iterator: n for i, n in zip(loops, place, strict=True)}}, point.axes)
            total = self._reduce_loops(out, s, there, (), None, axes, total)
        return total

    def _partial_sums(
        self, out: Emitter, s: StatementView, point: Point, loops: Sequence[Item], lane: tuple[Item, Piece] | None,
        axes: frozenset[str], total: SSAValue,
    ) -> SSAValue:  # fmt: skip
        """The first loop in blocks; each block sums into registers of its own, which are then added to the total."""
        item, extent = loops[0], point.resolve(s.bounds[loops[0].iterator])
        blocks = open_for(out, 0, extent, item.size, (total,))
        inside = blocks.inside
        part = broadcast(inside, Value(initial(inside, s)), axes, point)
        if item.size == 1:
            there = point.extended(item.iterator, blocks.variable)
            part = self._reduce_loops(inside, s, there, loops[1:], lane, axes, part)
        else:
            stop = dim_min(blocks.variable + item.size, extent)
            run = open_for(inside, blocks.variable, stop, 1, (part,))
            there = point.extended(item.iterator, run.variable)
            part = run.close((self._reduce_loops(run.inside, s, there, loops[1:], lane, axes, run.carried[0]),))[0]
        sum_ = combine(inside, s, Value(blocks.carried[0], axes), Value(part, axes))
        return blocks.close((sum_.ssa,))[0]

    def _lane_loop(
        self,
        out: Emitter,
        s: StatementView,
        point: Point,
        lane: tuple[Item, Piece],
        axes: frozenset[str],
        total: SSAValue,
    ) -> SSAValue:
        item, piece = lane
        if piece.once:
            return self._lane_turn(out, s, piece.at(point, item, piece.start), axes, total)
        run = open_for(out, piece.start, piece.stop, piece.size, (total,))
        there = piece.at(point, item, run.variable)
        return run.close((self._lane_turn(run.inside, s, there, axes, run.carried[0]),))[0]

    def _lane_turn(
        self, out: Emitter, s: StatementView, point: Point, axes: frozenset[str], total: SSAValue
    ) -> SSAValue:
        axis = point.axes[-1]
        ssa = broadcast(out, self._term(out, s, point), axes, point)
        if axis.lanes is not None:
            ssa = masked(out, s, point, axis, ssa)
        return combine(out, s, Value(total, axes), Value(ssa, axes)).ssa


def _turns(s: StatementView, point: Point, loops: Sequence[Item]) -> float:
    """How often the body of ``loops`` runs; infinity where that is not known."""
    extents = [point.resolve(s.bounds[i.iterator]) for i in loops]
    return math.prod(e if isinstance(e, int) else math.inf for e in extents)
