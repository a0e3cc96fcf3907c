"""Blocks of a stream on a GPU: a thread block has a block of rows and steps over blocks of the reduction; this file
computes the tiles of its statements."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mlc.dialects.poly import LoopNest, Partition, TiledLoop
from mlc.passes.schedule.gpu.tile_sizes import lanes_of, points
from mlc.passes.schedule.polyhedral.shared_axes import Axis
from mlc.passes.schedule.polyhedral.statement_view import StatementView
from mlc.passes.schedule.rules.operand_roles import is_sum
from mlc.passes.schedule.rules.streaming import Stream

HALF_FULL = 9  # rows of a fragment of 16 at least


@dataclass(frozen=True)
class StreamBlocks:
    """A stream in equal blocks of at most ``rows`` rows and ``points`` points of the reduction. Along symbolic extents
    blocks have exactly so many, and the last one may be partly beyond the extent. ``columns``: the most columns of a
    sum's tile. ``fragments``: matrices are in
    registers, as left factors of the products that sum them, and their rows are those of the block."""

    stream: Stream
    rows: int
    points: int
    columns: int
    fragments: bool = False

    def partitions(self, s: StatementView) -> tuple[Partition, ...]:
        *outer, last = self.stream.rows
        splits = [replace(self._split(last, s, self.rows), tiled=True)]
        splits += [self._split(axis, s, 1) for axis in outer]
        if s.name in self.stream.along:
            splits.append(replace(self._split(self.stream.along, s, self.points), streamed=True))
        return tuple(splits)

    def sizes(self, s: StatementView) -> Mapping[str, int]:
        """Return the points of a block along each iterator that has blocks of several points."""
        splits = (split for split in self.partitions(s) if split.tiled or split.streamed)
        sizes = ((split.iterator, split.size(s.bounds[split.iterator])) for split in splits)
        return {iterator: size for iterator, size in sizes if size is not None}

    def lanes(self, s: StatementView) -> str:
        """Return the iterator of a tile's lanes."""
        along = self.stream.along.get(s.name)
        return along if self.fragments and along in s.parallel else lanes_of(s)

    def _split(self, axis: Axis, s: StatementView, most: int) -> Partition:
        """Return the partition of an axis into blocks of at most ``most`` points."""
        extent = self.stream.any_extent(axis)
        if isinstance(extent, int):
            rows_of_chain = axis is self.stream.rows[-1] and not self.stream.rescales
            return Partition(axis[s.name], self._count(extent, most, HALF_FULL if rows_of_chain else 2))
        return Partition(axis[s.name], 0, points=most)

    def _count(self, extent: int, most: int, least: int) -> int:
        """Return the number of blocks of at most ``most`` points, such that the last one has at least ``least`` points
        in its fragments: a single point is no axis, and a few rows make no fragments."""
        blocks = -(-extent // most)
        while self.fragments and extent > blocks and 0 < extent % -(-extent // blocks) < least:
            blocks += 1
        return blocks


def nests_of(blocks: StreamBlocks) -> Iterator[LoopNest]:
    """Yield the nests of all statements: those of the stream, then those after it."""
    stream = blocks.stream
    after = [[*stage] for _, stage in itertools.groupby(stream.after, lambda s: s.bounds)]
    for n, stage in enumerate([*([s] for s in stream.inside), *after]):
        yield _nest(stage, blocks, joined=n > 0)


def _nest(stage: Sequence[StatementView], blocks: StreamBlocks, joined: bool) -> LoopNest:
    """Return a nest whose tile is the whole block, or as many columns of a result as ``columns_of`` allows."""
    first, names = stage[0], tuple(s.name for s in stage)
    row, sizes = blocks.stream.rows[-1][first.name], blocks.sizes(first)
    along_rows = bool(first.op.monoid) and not is_sum(first)  # rows are lanes, which share what they reduce
    lanes = row if along_rows else blocks.lanes(first)
    others = [i for i in first.parallel if i not in sizes and i != lanes]
    band = [TiledLoop(i) for i in others]
    band += [_loop(i, sizes[i], False) for i in first.parallel if i in sizes and i != lanes]
    band += [_loop(lanes, sizes.get(lanes) or columns_of(first, lanes, blocks.columns), True)]
    inner = [TiledLoop(i) for i in first.reduced]
    if along_rows:
        last = first.reduced[-1]
        inner[-1] = _loop(last, sizes.get(last) or columns_of(first, last, blocks.columns), True)
    rule = "contraction" if is_sum(first) else "rows" if along_rows else "elementwise"
    return LoopNest(rule, names, tuple(band), tuple(inner), blocks.partitions(first), joined)


def _loop(iterator: str, size: int, vectorized: bool) -> TiledLoop:
    return TiledLoop(iterator, ((size, None),), vectorized) if size > 1 or vectorized else TiledLoop(iterator)


def columns_of(s: StatementView, iterator: str, most: int) -> int:
    """Return the number of columns of a statement's tile, at most ``most``."""
    extent = s.bounds[iterator]
    return min(extent, most) if isinstance(extent, int) else most


def blocks_of(stream: Stream, rows: int) -> int:
    """Return the number of thread blocks, each of which has ``rows`` rows."""
    *outer, last = (points([stream.any_extent(axis)]) for axis in stream.rows)
    return math.prod(outer) * -(-last // rows)


def is_loop(stream: Stream, rows: int) -> bool:
    """Return whether there are several blocks of each size, so that isl generates a loop; symbolic extents may have any
    number of blocks."""
    if not all(isinstance(stream.any_extent(axis), int) for axis in stream.rows):
        return True
    *outer, last = map(stream.extent, stream.rows)
    blocks = -(-last // rows)
    return math.prod(outer) > 1 or blocks > 1 and last % blocks == 0
