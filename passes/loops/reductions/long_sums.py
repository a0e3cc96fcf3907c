"""Long sums of floats: a sum runs in chunks, each summed in f32 like a short sum, and the chunks are added to a total
in f64.

    %s = scf.for %j = 0 to %n step 64 …     →   %t = scf.for %c = 0 to %n step 2048 iter_args(%w = 0.0 : f64) {
           iter_args(%a = 0.0 : f32)                %s = scf.for %j = %c to min(%c + 2048, %n) step 64 …
                                                    arith.addf %w, arith.extf %s }  →  arith.truncf %t

The error of a sum in f32 grows with its number of terms, because equal terms round in one direction. For a chunk of 32
terms it is at most 5e-7 of the sum, and adding chunks in f64 loses nothing more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import f32, f64

from mlc.dialects.poly import TiledLoop
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.types import element_of
from mlc.passes.loops.body.open_loops import Piece
from mlc.passes.loops.body.tile_context import TileContext, Value, vector_type
from mlc.passes.loops.index.index_builder import IndexBuilder
from mlc.passes.schedule.polyhedral.statement_view import StatementView
from mlc.passes.schedule.rules.operand_roles import is_sum

CHUNK = 32  # terms that an accumulator sums in f32
SHORT = 160  # terms of an accumulator that are no long sum
SHORT_BLOCKS = 256  # partial sums that are added to a total in f32


@dataclass(frozen=True)
class Chunks:
    """The iterator of the loop that runs in chunks, and its points in a chunk."""

    iterator: str
    points: int


@dataclass(frozen=True)
class ReductionLoop:
    """A loop of a reduction: its extent, and the points of a step. ``blocked``: each step has its own partial sum."""

    iterator: str
    extent: DimLike
    step: int
    blocked: bool = False

    @property
    def steps(self) -> float:
        return -(-self.extent // self.step) if isinstance(self.extent, int) else math.inf


def chunks_of(
    s: StatementView, context: TileContext, loops: Sequence[TiledLoop], lane: tuple[TiledLoop, Piece] | None
) -> Chunks | None:
    """Return which loop of a reduction runs in chunks; None for a short reduction, and for other elements and
    monoids."""
    if s.op.monoid is None or s.op.monoid.data != "add" or element_of(s.op.out) != "f32":
        return None
    levels = [_level(s, context, loop) for loop in loops]
    if lane is not None:
        item, piece = lane
        levels.append(ReductionLoop(item.iterator, piece.stop - piece.start, piece.size))
    first = next((n for n, level in enumerate(levels) if level.blocked), None)
    added = levels if first is None else levels[: first + 1]
    limit = SHORT if first is None else SHORT_BLOCKS
    return _innermost_long(added) if math.prod(level.steps for level in added) > limit else None


def _level(s: StatementView, context: TileContext, loop: TiledLoop) -> ReductionLoop:
    extent = context.resolve(s.bounds[loop.iterator])
    step = block_size(s, loop, extent) if loop.partial_sums else 1
    return ReductionLoop(loop.iterator, extent, step, loop.partial_sums)


def block_size(s: StatementView, loop: TiledLoop, extent: DimLike) -> int:
    """Return the points of a partial sum. There are fewer in a long sum of single terms, whose additions cost no more
    than their reads."""
    long = not isinstance(extent, int) or extent > SHORT_BLOCKS * loop.size
    return max(1, loop.size * CHUNK // 128) if long and not is_sum(s) else loop.size


def _innermost_long(levels: Sequence[ReductionLoop]) -> Chunks | None:
    """Return the innermost loop with which a sum has more than ``CHUNK`` terms."""
    terms = 1.0
    for level in reversed(levels):
        if terms * level.steps > CHUNK:
            return Chunks(level.iterator, level.step * max(1, int(CHUNK // terms)))
        terms *= level.steps
    return None


def widened(out: IndexBuilder, value: Value, context: TileContext) -> Value:
    """Return ``value`` in f64."""
    to = vector_type(f64, value.axes, context.axes)
    return Value(out.emit(arith.ExtFOp.create(operands=[value.ssa], result_types=[to])), value.axes)


def narrowed(out: IndexBuilder, value: Value, context: TileContext) -> Value:
    """Return a total in f64, rounded to f32."""
    to = vector_type(f32, value.axes, context.axes)
    return Value(out.emit(arith.TruncFOp.create(operands=[value.ssa], result_types=[to])), value.axes)
