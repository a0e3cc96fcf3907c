"""Cold weights ahead of their use: while the rows of one column tile pass, the weights of the next one are asked for.

The first rows of a column tile read its weights from memory as fast as they compute, all others find them in the cache:
memory is waited for, or waits. Asking for a part of the next tile in each step gives memory the time of all rows. Where
their number is symbolic, the part is computed at run time, and all tiles ask.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mlc.dialects import kernel
from mlc.dialects.dims import DimLike, ceildiv, dim_min, evaluate, floordiv, product
from mlc.dialects.types import ITEMSIZE, bytes_of, element_of
from mlc.passes.loops.index_math import Emitter
from mlc.passes.loops.point import Buffer, Point
from mlc.passes.schedule.schedule import Nest
from mlc.passes.schedule.view import Access, StatementView

LINE = 64  # bytes of a line of the caches
POINT = 1 << 12  # of fixed point numbers
LARGE = 512 << 10  # bytes of weights that are not in L2 when they are needed
FEW = 16  # tiles in a block of rows, which reads weights that the blocks before it have read


@dataclass(frozen=True)
class Prefetch:
    """For the tiles of a product; ``nest``: their schedule."""

    buffers: Mapping[str, Buffer]
    nest: Nest

    def prepare(self, out: Emitter, s: StatementView, point: Point) -> None:
        """In front of the loops of a tile: what they share, the divisions by a symbolic number of rows."""
        if (weights := self._weights(s, point)) and not isinstance(weights.whole, int):
            for _, _, length in weights.next():
                out.dim(floordiv(length, weights.whole))
            out.dim(weights.pace)

    def emit(self, out: Emitter, s: StatementView, point: Point) -> None:
        """Ask for what belongs to this step of the innermost loop."""
        if (weights := self._weights(s, point)) and weights.asks():
            for first, step, length in weights.next():
                place = first + weights.before * floordiv(length, weights.whole) + weights.share(step)
                out.block.add_op(kernel.PrefetchOp(weights.buffer.value, out.dim(place)))

    def _weights(self, s: StatementView, point: Point) -> _Weights | None:
        """None where the weights are small, or where they pass while rows stay."""
        reads = [r for r in s.reads if point.axes and r.depends_on(point.axes[-1].iterator) and self._large(r)]
        if len(reads) != 1 or len(s.reads) != 2:
            return None
        (read,) = reads
        rows = [i for i in s.parallel if not read.depends_on(i)]
        static = all(isinstance(s.bounds[i], int) for i in s.iters if i not in rows)
        shared = self._shared(s)
        order = sorted((i.iterator for i in self.nest.band if i.iterator in s.parallel), key=lambda i: i not in shared)
        loops = [i for i in order if i not in shared]  # of one thread
        if static and rows and loops == sorted(loops, key=rows.__contains__):
            columns = [i for i in order if i not in rows]
            return _Weights(self.buffers[read.array], read, s, point, {i: self._passing(i, s) for i in rows}, columns)
        return None

    def _passing(self, iterator: str, s: StatementView) -> DimLike:
        """How far an iterator of rows goes while the weights pass once: through a block, where there are blocks."""
        blocks = next((split.blocks for split in self.nest.splits if split.iterator == iterator), 1)
        return ceildiv(s.bounds[iterator], blocks)

    def _shared(self, s: StatementView) -> set[str]:
        """The iterators that have as many blocks as tiles: the outermost loops, which threads share out."""
        sizes = {i.iterator: i.size for i in self.nest.band}
        return {i.iterator for i in self.nest.splits if i.blocks * sizes[i.iterator] == s.bounds.get(i.iterator)}

    def _large(self, access: Access) -> bool:
        size = bytes_of(self.buffers[access.array].value)
        return isinstance(size, int) and size >= LARGE


@dataclass(frozen=True)
class _Weights:
    """What a statement reads along the lanes, at a point of its loops, while ``rows`` pass; ``columns``: iterators of
    the tiles that it is read in, the outermost loop first."""

    buffer: Buffer
    access: Access
    s: StatementView
    point: Point
    rows: Mapping[str, DimLike]
    columns: Sequence[str]

    @property
    def part(self) -> int:
        """The rows of the tile."""
        return math.prod(a.size for a in self.point.axes if a.iterator in self.rows)

    @property
    def whole(self) -> DimLike:
        """All rows."""
        return product(self.rows.values())

    @property
    def before(self) -> DimLike:
        """The rows that have passed before this tile."""
        count: DimLike = 0
        for i, extent in self.rows.items():
            start = self.start(i)
            count = count * extent + (start - floordiv(start, extent) * extent if self._in_blocks(i) else start)
        return count

    def _in_blocks(self, iterator: str) -> bool:
        return self.s.bounds[iterator] != self.rows[iterator]

    def share(self, step: DimLike) -> DimLike:
        """``step * part // whole``; for a symbolic ``whole`` in fixed point, whose division leaves the loops."""
        if isinstance(self.whole, int):
            return floordiv(step * self.part, self.whole)
        return floordiv(step * self.pace, POINT)

    @property
    def pace(self) -> DimLike:
        """``part / whole`` in fixed point; 0 where more than half of all rows are in the tile, as in ``asks``."""
        return floordiv(self.part * POINT, self.whole) * dim_min(1, floordiv(self.whole, 2 * self.part))

    def extent(self, iterator: str) -> int:
        extent = self.s.bounds[iterator]
        assert isinstance(extent, int)
        return extent

    def start(self, iterator: str) -> DimLike:
        """The first point of the tile along an iterator."""
        return evaluate(self.point.at[iterator], {a.symbol: 0 for a in self.point.axes})

    def asks(self) -> bool:
        """Whether the tile asks for anything in this step."""
        if not isinstance(self.whole, int):
            return True
        most = FEW * self.part if any(map(self._in_blocks, self.rows)) else self.whole
        return 2 * self.part <= self.whole <= most and self._reaches_a_line(self.whole)

    def _reaches_a_line(self, whole: int) -> bool:
        """Whether this step asks for another line than the one before, where steps are written out one by one."""
        last = self.s.reduced[-1]
        turn, stride = self.point.at[last], self.access.stride(last)
        if not isinstance(turn, int) or not isinstance(stride, int) or turn == 0:
            return True
        size = ITEMSIZE[element_of(self.buffer.value)]
        lines = [n * stride * self.part * size // (whole * LINE) for n in (turn - 1, turn)]
        return lines[0] != lines[1]

    def next(self) -> Iterator[tuple[DimLike, DimLike, int]]:
        """Of each run of memory of the next column tile: its first element, those of the steps before, its length."""
        axes = [a for a in self.point.axes if self.access.depends_on(a.iterator)]
        sizes = dict.fromkeys(self.columns, 1) | {a.iterator: a.size for a in axes}
        moving = next((i for i in reversed(self.columns) if sizes[i] < self.extent(i)), None)
        if moving is None:
            return
        at = {i: self.start(i) for i in (*(a.iterator for a in axes), moving)}
        at[moving] = at[moving] + sizes[moving]
        panel = axes[0].iterator
        for n in range(axes[0].size if len(axes) > 1 else 1):
            here = self._linear(at | {panel: at[panel] + n})
            first = self._linear(at | {panel: at[panel] + n} | dict.fromkeys(self.s.reduced, 0))
            yield first, here - first, self._length()

    def _length(self) -> int:
        stride = self.access.stride(self.s.reduced[-1])
        return stride * math.prod(map(self.extent, self.s.reduced)) if isinstance(stride, int) else 0

    def _linear(self, at: Mapping[str, DimLike]) -> DimLike:
        return self.buffer.linear(tuple(evaluate(i, {**self.point.at, **at}) for i in self.access.index))
