"""Blocks of a stream on a GPU: the tiles of its statements in a block of rows and of points of the reduction."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mlc.dialects.poly import LoopNest, Partition, TiledLoop
from mlc.passes.schedule.gpu.tile_sizes import lanes_of
from mlc.passes.schedule.polyhedral.shared_axes import Axis
from mlc.passes.schedule.polyhedral.statement_view import StatementView
from mlc.passes.schedule.rules.operand_roles import is_sum
from mlc.passes.schedule.rules.streaming import Stream

COLUMNS = 128  # of a result at most that a tile has


@dataclass(frozen=True)
class Blocks:
    """A stream in equal blocks of at most so many ``rows`` and ``points`` of the reduction."""

    stream: Stream
    rows: int
    points: int

    def partitions(self, s: StatementView) -> tuple[Partition, ...]:
        *outer, last = self.stream.rows
        splits = [Partition(last[s.name], self._count(last, self.rows), tiled=True)]
        splits += [Partition(axis[s.name], self.stream.extent(axis)) for axis in outer]
        if s.name in self.stream.along:
            along = self.stream.along
            splits.append(Partition(along[s.name], self._count(along, self.points), streamed=True))
        return tuple(splits)

    def sizes(self, s: StatementView) -> Mapping[str, int]:
        """Points of a block along each iterator that has blocks of several."""
        splits = ((split, s.bounds[split.iterator]) for split in self.partitions(s) if split.tiled or split.streamed)
        return {split.iterator: -(-extent // split.blocks) for split, extent in splits if isinstance(extent, int)}

    def _count(self, axis: Axis, most: int) -> int:
        return -(-self.stream.extent(axis) // most)


def nests_of(blocks: Blocks) -> Iterator[LoopNest]:
    """The nests of all statements: those of the stream, then those after it."""
    stream = blocks.stream
    after = [[*stage] for _, stage in itertools.groupby(stream.after, lambda s: s.bounds)]
    for n, stage in enumerate([*([s] for s in stream.inside), *after]):
        yield _nest(stage, blocks, joined=n > 0)


def _nest(stage: Sequence[StatementView], blocks: Blocks, joined: bool) -> LoopNest:
    """A nest whose tile is the whole block, or as many columns of a result as it has."""
    first, names = stage[0], tuple(s.name for s in stage)
    row, sizes = blocks.stream.rows[-1][first.name], blocks.sizes(first)
    along_rows = bool(first.op.monoid) and not is_sum(first)  # rows are lanes, which share what they reduce
    lanes = row if along_rows else lanes_of(first)
    others = [i for i in first.parallel if i not in sizes and i != lanes]
    band = [TiledLoop(i) for i in others]
    band += [_loop(i, sizes[i], False) for i in first.parallel if i in sizes and i != lanes]
    band += [_loop(lanes, sizes.get(lanes) or columns_of(first, lanes), True)]
    inner = [TiledLoop(i) for i in first.reduced]
    if along_rows:
        inner[-1] = _loop(first.reduced[-1], sizes.get(first.reduced[-1]) or columns_of(first, first.reduced[-1]), True)
    rule = "contraction" if is_sum(first) else "rows" if along_rows else "elementwise"
    return LoopNest(rule, names, tuple(band), tuple(inner), blocks.partitions(first), joined)


def _loop(iterator: str, size: int, vectorized: bool) -> TiledLoop:
    return TiledLoop(iterator, ((size, None),), vectorized) if size > 1 or vectorized else TiledLoop(iterator)


def columns_of(s: StatementView, iterator: str) -> int:
    """The columns of a statement's tile."""
    extent = s.bounds[iterator]
    return min(extent, COLUMNS) if isinstance(extent, int) else COLUMNS


def blocks_of(stream: Stream, rows: int) -> int:
    """How many thread blocks there are, each with so many rows."""
    *outer, last = map(stream.extent, stream.rows)
    return math.prod(outer) * -(-last // rows)


def is_loop(stream: Stream, rows: int) -> bool:
    """Whether blocks of each size are several, of which isl makes a loop."""
    *outer, last = map(stream.extent, stream.rows)
    blocks = -(-last // rows)
    return math.prod(outer) > 1 or blocks > 1 and last % blocks == 0
