"""Schedule rule for running reductions on a GPU: a thread block has a block of rows, and steps over blocks of the
reduction (FlashAttention).

    S0 product, S1 max, S2 exp, S3 sum, S4 product, S5 scaled by 1 / sum
      →   contraction: S0 | b@8 m@16t n@32s b m/64 n/32v | k & rows: S1 | b@8 m@16t n@32s b m/64v | n/32v
          & elementwise: S2 | … b m/64 n/32v | & rows: S3 | … & contraction: S4 | … & elementwise: S5 | b@8 m@16t …

Scores and running results are in shared memory; rows are combined by shuffles of the lanes that share one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mlc.dialects.poly import LoopNest, Partition, TiledLoop
from mlc.passes.schedule.gpu.generic import joint
from mlc.passes.schedule.gpu.tile_sizes import lanes_of
from mlc.passes.schedule.polyhedral.shared_axes import Axis
from mlc.passes.schedule.polyhedral.statement_view import StatementView
from mlc.passes.schedule.rules.candidates import Rule, first_of
from mlc.passes.schedule.rules.operand_roles import is_sum
from mlc.passes.schedule.rules.streaming import Stream, streams
from mlc.target import GpuTarget

SHAPES = ((64, 64), (64, 32), (32, 64), (32, 32), (16, 32), (16, 16))
"""Rows × points of the reduction in a block, the best first: more rows read the operands less often."""
COLUMNS = 128  # of a result at most that a tile has
STAGED = 16  # steps of a sum whose operands are in shared memory, too


def fused(statements: Sequence[StatementView], target: GpuTarget, rules: Sequence[Rule]) -> Iterator[list[LoopNest]]:
    """Nests of dependent statements: streamed where that is possible."""
    return first_of(rule(statements, target, rules) for rule in (streaming, joint))


def streaming(
    statements: Sequence[StatementView], target: GpuTarget, rules: Sequence[Rule]
) -> Iterator[list[LoopNest]]:
    """Candidates: the largest blocks that fit in shared memory, and for which all multiprocessors are busy, first."""
    for stream in streams(statements):
        fitting = (shape for shape in SHAPES if _bytes(stream, *shape) <= target.shared)
        shapes = [shape for shape in fitting if _is_loop(stream, shape[0])]
        busy = [shape for shape in shapes if _blocks(stream, shape[0]) >= target.multiprocessors]
        yield from ([*_nests(_Blocks(stream, *shape))] for shape in dict.fromkeys([*busy, *shapes]))


@dataclass(frozen=True)
class _Blocks:
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


def _nests(blocks: _Blocks) -> Iterator[LoopNest]:
    stream = blocks.stream
    after = [[*stage] for _, stage in itertools.groupby(stream.after, lambda s: s.bounds)]
    for n, stage in enumerate([*([s] for s in stream.inside), *after]):
        yield _nest(stage, blocks, joined=n > 0)


def _nest(stage: Sequence[StatementView], blocks: _Blocks, joined: bool) -> LoopNest:
    """A nest whose tile is the whole block, or as many columns of a result as it has."""
    first, names = stage[0], tuple(s.name for s in stage)
    row, sizes = blocks.stream.rows[-1][first.name], blocks.sizes(first)
    along_rows = bool(first.op.monoid) and not is_sum(first)  # rows are lanes, which share what they reduce
    lanes = row if along_rows else lanes_of(first)
    others = [i for i in first.parallel if i not in (row, lanes)]
    band = [TiledLoop(i) for i in others]
    band += [_loop(row, sizes[row], row == lanes)]
    band += [_loop(lanes, sizes.get(lanes) or _columns(first, lanes), True)] if lanes != row else []
    inner = [TiledLoop(i) for i in first.reduced]
    if along_rows:
        inner[-1] = _loop(first.reduced[-1], sizes.get(first.reduced[-1]) or _columns(first, first.reduced[-1]), True)
    rule = "contraction" if is_sum(first) else "rows" if along_rows else "elementwise"
    return LoopNest(rule, names, tuple(band), tuple(inner), blocks.partitions(first), joined)


def _loop(iterator: str, size: int, vectorized: bool) -> TiledLoop:
    return TiledLoop(iterator, ((size, None),), vectorized) if size > 1 or vectorized else TiledLoop(iterator)


def _columns(s: StatementView, iterator: str) -> int:
    extent = s.bounds[iterator]
    return min(extent, COLUMNS) if isinstance(extent, int) else COLUMNS


def _blocks(stream: Stream, rows: int) -> int:
    *outer, last = map(stream.extent, stream.rows)
    return math.prod(outer) * -(-last // rows)


def _is_loop(stream: Stream, rows: int) -> bool:
    """Whether blocks of each size are several, of which isl makes a loop."""
    *outer, last = map(stream.extent, stream.rows)
    blocks = -(-last // rows)
    return math.prod(outer) > 1 or blocks > 1 and last % blocks == 0


def _bytes(stream: Stream, rows: int, points: int) -> int:
    """Bytes of shared memory of a block: of intermediate arrays, running results, and the operands of some steps."""
    made = {s.write.array for s in stream.inside if stream.along[s.name] not in s.reduced}
    results = [s for s in stream.inside if is_sum(s) and stream.along[s.name] in s.reduced]
    columns = [_columns(s, lanes_of(s)) for s in results]
    staged = sum(STAGED * (rows + n) for n in (points, *columns))
    return 4 * (rows * (points * len(made) + sum(columns)) + staged)
