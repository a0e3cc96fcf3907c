"""Tile bodies: the statements of one tile instance on n-D vectors, which are register tiles; the printer unrolls
them.

A value has a vector dimension for each axis of the tile, of the axis' size if the value varies along it, otherwise of
extent 1. A reduction keeps its accumulator in registers. The next statement also reads a result of the same point from
registers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from mlc.dialects import kernel
from mlc.dialects.poly import TiledLoop
from mlc.dialects.semantics.dims import DimLike, dim_min
from mlc.passes.loops.body.open_loops import Piece, each_piece, open_for, pieces
from mlc.passes.loops.body.prefetch import Prefetch
from mlc.passes.loops.body.rolled_steps import FEWEST, shares_nothing
from mlc.passes.loops.body.statement_fusion import fusable_groups
from mlc.passes.loops.body.tile_context import TileAxis, TileContext, Value, broadcast
from mlc.passes.loops.body.tile_values import TileValues
from mlc.passes.loops.index.index_builder import IndexBuilder
from mlc.passes.loops.reductions.combine import bare, combine, horizontal, initial, masked
from mlc.passes.loops.reductions.long_sums import Chunks, block_size, chunks_of, narrowed, widened
from mlc.passes.loops.reductions.running import continued
from mlc.passes.schedule.polyhedral.statement_view import StatementView

Loops = Sequence[TiledLoop]
Span = tuple[DimLike, DimLike]
Lane = tuple[TiledLoop, Piece]
"""The loop over the vectorized iterator, and a range of it."""

UNROLLED = 9  # the most iterations of a reduction whose loops are unrolled
LONG_STEP = 64  # elements of a register tile from which on a step of a sum is written once, not unrolled


@dataclass
class TileBody:
    """A builder of the statements of one kind of tile, in order."""

    statements: Sequence[StatementView]
    values: TileValues
    prefetch: Prefetch | None = None
    before: Sequence[StatementView] = ()  # statements fused into the loops of a reduction, before its term
    chunked: bool = False  # long sums are made in chunks
    initial: bool = False  # writes the initial values of running reductions, and executes no statement

    def emit(self, out: IndexBuilder, context: TileContext, inner: Sequence[TiledLoop]) -> None:
        running = [[s] for s in self.statements if s.name in self.values.running.scales]
        for members in running if self.initial else fusable_groups(self.statements):
            loops = [i for i in inner if i.iterator in members[0].iters]
            *self.before, last = members
            if last.op.monoid:
                self._reduce(out, last, context, loops)
            else:
                self._map(out, members, context, loops)

    # -- statements ----------------------------------------------------------------------------------------------------

    def _map(self, out: IndexBuilder, members: Sequence[StatementView], context: TileContext, loops: Loops) -> None:
        if not loops:
            for s in members:
                self.values.write(out, s, context, self.values.body(out, s, context))
            return
        for inside, here in each_piece(out, members[0], context, loops[0]):
            self._map(inside, members, here, loops[1:])

    def _reduce(self, out: IndexBuilder, s: StatementView, context: TileContext, loops: Loops) -> None:
        """Add a reduction for each point of the outer loops, those over iterators that it does not reduce."""
        kept = next((i for i in loops if i.iterator in s.parallel), None)
        if kept is None:
            if self.initial:
                self.values.write(out, s, context, Value(initial(out, s)))
                return
            value = self._accumulate(out, s, context, loops)
            self.values.write(out, s, context, continued(out, self.values, s, context, value))
            return
        for inside, here in each_piece(out, s, context, kept):
            self._reduce(inside, s, here, [i for i in loops if i is not kept])

    def _term(self, out: IndexBuilder, s: StatementView, context: TileContext) -> Value:
        """Return the term of a reduction at one point, after the statements fused into its loops."""
        self._map(out, self.before, context, ())
        return self.values.body(out, s, context)

    def _accumulate(self, out: IndexBuilder, s: StatementView, context: TileContext, loops: Loops) -> Value:
        """Return the combination over ``loops``, in registers. A vectorized loop has one accumulator for each lane, and
        combines the lanes at the end."""
        total: Value | None = None
        lane = next((i for i in loops if i.vectorized), None)
        if lane is None:
            return self._nest(out, s, context, loops)
        others = [i for i in loops if i is not lane]
        for piece in pieces(out, context.resolve(s.bounds[lane.iterator]), lane, context):
            part = self._nest(out, s, context, others, (lane, piece))
            part = horizontal(out, s, part, lane.iterator)
            total = part if total is None else combine(out, s, total, part)
        return total or Value(initial(out, s))

    def _nest(
        self,
        out: IndexBuilder,
        s: StatementView,
        context: TileContext,
        loops: Loops,
        lane: Lane | None = None,
    ) -> Value:
        axes = frozenset(a.iterator for a in context.axes if a.iterator in s.parallel)
        shape_axes = context.axes
        if lane is not None:
            axes |= {lane[0].iterator}
            shape_axes = (*context.axes, TileAxis(lane[0].iterator, lane[1].size))
        if lane is not None and lane[1].once and not loops and bare(s):
            here = lane[1].at(out, context, lane[0], lane[1].start)
            return Value(broadcast(out, self._term(out, s, here), axes, here), axes)
        shape = TileContext(context.at, shape_axes)
        start = Value(broadcast(out, Value(initial(out, s)), axes, shape), axes)
        chunks = chunks_of(s, context, loops, lane) if self.chunked else None
        start = widened(out, start, shape) if chunks else start
        total = Value(self._reduce_loops(out, s, context, loops, lane, axes, start.ssa, chunks), axes)
        return narrowed(out, total, shape) if chunks else total

    def _reduce_loops(
        self, out: IndexBuilder, s: StatementView, context: TileContext, loops: Loops, lane: Lane | None,
        axes: frozenset[str], total: SSAValue, chunks: Chunks | None = None, span: Span | None = None,
    ) -> SSAValue:  # fmt: skip
        """Return the accumulator after ``loops``. ``span``: the part of the first loop's range, if that loop runs in
        ``chunks``."""
        first = [*loops, *(lane[:1] if lane else ())][:1]
        if chunks is not None and chunks.iterator in (loop.iterator for loop in first):
            return self._chunked(out, s, context, loops, lane, axes, total, chunks.points)
        if loops and loops[0].partial_sums:
            return self._partial_sums(out, s, context, loops, lane, axes, total, span)
        if loops and lane is None and not chunks and not span and _iterations(s, context, loops) <= UNROLLED:
            if self._is_rolled(s, context, loops):
                return self._rolled(out, s, context, loops[0], axes, total)
            return self._unrolled(out, s, context, loops, axes, total)
        if loops:
            item, extent = loops[0], context.resolve(s.bounds[loops[0].iterator])
            steps = span or (0, extent)
            self._prefetch_before(out, s, context, loops, lane, steps)
            with_loop = open_for(out, *steps, 1, (total,))
            if item.staged:
                kernel.set_loop(with_loop.op, kernel.Loop(staged=item.staged))
            here = context.extended(item.iterator, with_loop.variable)
            inside = self._reduce_loops(with_loop.inside, s, here, loops[1:], lane, axes, with_loop.carried[0], chunks)
            return with_loop.close((inside,))[0]
        if lane is not None:
            return self._lane_loop(out, s, context, lane, axes, total)
        if self.prefetch:
            self.prefetch.emit(out, s, context)
        value = self._term(out, s, context)
        return combine(out, s, Value(total, axes), Value(broadcast(out, value, axes, context), axes)).ssa

    def _prefetch_before(
        self, out: IndexBuilder, s: StatementView, context: TileContext, loops: Loops, lane: Lane | None, steps: Span
    ) -> None:
        if self.prefetch and lane is None and len(loops) == 1 and loops[0].iterator == s.reduced[-1]:
            self.prefetch.emit_before(out, s, context, steps)

    def _is_rolled(self, s: StatementView, context: TileContext, loops: Loops) -> bool:
        """Return whether the few steps of a sum are a loop, because they are long and share nothing."""
        tile = math.prod(axis.size for axis in context.axes)
        long = self.values.in_registers and not self.before and len(loops) == 1 and tile >= LONG_STEP
        many = _iterations(s, context, loops) >= FEWEST
        return long and many and shares_nothing(s, context, loops[0].iterator)

    def _rolled(
        self,
        out: IndexBuilder,
        s: StatementView,
        context: TileContext,
        item: TiledLoop,
        axes: frozenset[str],
        total: SSAValue,
    ) -> SSAValue:
        """Run a loop over few steps, after the prefetches of all: those of two steps may be of one cache line."""
        extent = context.resolve(s.bounds[item.iterator])
        assert isinstance(extent, int)
        if self.prefetch:
            for n in range(extent):
                self.prefetch.emit(out, s, context.extended(item.iterator, n))
        run = open_for(out, 0, extent, 1, (total,))
        term = self._term(run.inside, s, context.extended(item.iterator, run.variable))
        value = Value(broadcast(run.inside, term, axes, context), axes)
        return run.close((combine(run.inside, s, Value(run.carried[0], axes), value).ssa,))[0]

    def _unrolled(
        self,
        out: IndexBuilder,
        s: StatementView,
        context: TileContext,
        loops: Loops,
        axes: frozenset[str],
        total: SSAValue,
    ) -> SSAValue:
        """Unroll the loops of a small window, so that points share loads."""
        extents = [range(int(context.resolve(s.bounds[i.iterator]))) for i in loops]  # type: ignore[arg-type]
        for place in itertools.product(*extents):
            here = context
            for i, n in zip(loops, place, strict=True):
                here = here.extended(i.iterator, n)
            total = self._reduce_loops(out, s, here, (), None, axes, total)
        return total

    def _partial_sums(
        self, out: IndexBuilder, s: StatementView, context: TileContext, loops: Loops, lane: Lane | None,
        axes: frozenset[str], total: SSAValue, span: Span | None = None,
    ) -> SSAValue:  # fmt: skip
        """Run the first loop in blocks, each with its own partial sums in registers (blocked summation)."""
        item, extent = loops[0], context.resolve(s.bounds[loops[0].iterator])
        size = block_size(s, item, extent) if self.chunked else item.size
        first, end = span or (0, extent)
        blocks = open_for(out, first, end, size, (total,))
        inside = blocks.inside
        part = broadcast(inside, Value(initial(inside, s)), axes, context)
        if size == 1:
            here = context.extended(item.iterator, blocks.variable)
            part = self._reduce_loops(inside, s, here, loops[1:], lane, axes, part)
        else:
            stop = dim_min(blocks.variable + size, end)
            self._prefetch_before(inside, s, context, loops, lane, (blocks.variable, stop))
            run = open_for(inside, blocks.variable, stop, 1, (part,))
            here = context.extended(item.iterator, run.variable)
            part = run.close((self._reduce_loops(run.inside, s, here, loops[1:], lane, axes, run.carried[0]),))[0]
        sum_ = combine(inside, s, Value(blocks.carried[0], axes), Value(part, axes))
        return blocks.close((sum_.ssa,))[0]

    def _chunked(
        self, out: IndexBuilder, s: StatementView, context: TileContext, loops: Loops, lane: Lane | None,
        axes: frozenset[str], total: SSAValue, points: int,
    ) -> SSAValue:  # fmt: skip
        """Run the first loop in chunks of ``points``, and add the sum of each chunk to ``total``, in f64."""
        whole: Span = (0, context.resolve(s.bounds[loops[0].iterator])) if loops else (0, 0)
        first, stop = (lane[1].start, lane[1].stop) if lane and not loops else whole
        run = open_for(out, first, stop, points, (total,))
        inside, span = run.inside, (run.variable, dim_min(run.variable + points, stop))
        shape = context
        if lane is not None:
            shape = replace(context, axes=(*context.axes, TileAxis(lane[0].iterator, lane[1].size)))
            lane = lane if loops else (lane[0], replace(lane[1], start=span[0], stop=span[1]))
        part = broadcast(inside, Value(initial(inside, s)), axes, shape)
        part = self._reduce_loops(inside, s, context, loops, lane, axes, part, span=span if loops else None)
        sum_ = arith.AddfOp(run.carried[0], widened(inside, Value(part, axes), shape).ssa)
        return run.close((inside.emit(sum_),))[0]

    def _lane_loop(
        self,
        out: IndexBuilder,
        s: StatementView,
        context: TileContext,
        lane: Lane,
        axes: frozenset[str],
        total: SSAValue,
    ) -> SSAValue:
        item, piece = lane
        if piece.once:
            return self._lane_iteration(out, s, piece.at(out, context, item, piece.start), axes, total)
        run = open_for(out, piece.start, piece.stop, piece.size, (total,))
        here = piece.at(run.inside, context, item, run.variable)
        return run.close((self._lane_iteration(run.inside, s, here, axes, run.carried[0]),))[0]

    def _lane_iteration(
        self, out: IndexBuilder, s: StatementView, context: TileContext, axes: frozenset[str], total: SSAValue
    ) -> SSAValue:
        axis = context.axes[-1]
        ssa = broadcast(out, self._term(out, s, context), axes, context)
        if axis.lanes is not None:
            ssa = masked(out, s, context, axis, ssa)
        return combine(out, s, Value(total, axes), Value(ssa, axes)).ssa


def _iterations(s: StatementView, context: TileContext, loops: Loops) -> float:
    """Return the number of iterations of ``loops``; infinity if it is symbolic."""
    extents = [context.resolve(s.bounds[i.iterator]) for i in loops]
    return math.prod(e if isinstance(e, int) else math.inf for e in extents)
