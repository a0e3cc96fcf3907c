"""Cold weights ahead of their use: while the rows of one column tile pass, the weights of the next one are asked for.

The first rows of a column tile read its weights from memory as fast as they compute, all others find them in the cache:
memory is waited for, or waits. Asking for a part of the next tile in each step gives memory the time of all rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mlc.dialects import kernel
from mlc.dialects.dims import DimLike, evaluate, floordiv
from mlc.dialects.types import ITEMSIZE, bytes_of, element_of
from mlc.passes.loops.index_math import Emitter
from mlc.passes.loops.point import Buffer, Point
from mlc.passes.schedule.view import Access, StatementView

LINE = 64  # bytes of a line of the caches
LARGE = 512 << 10  # bytes of weights that are not in L2 when they are needed


@dataclass(frozen=True)
class Prefetch:
    """For one kind of tile of a product; ``band``: its iterators, the outermost first."""

    buffers: Mapping[str, Buffer]
    band: Sequence[str]

    def emit(self, out: Emitter, s: StatementView, point: Point) -> None:
        """Ask for what belongs to this step of the innermost loop; nothing where the weights are small, or where they
        pass while rows stay."""
        reads = [r for r in s.reads if point.axes and r.depends_on(point.axes[-1].iterator) and self._large(r)]
        if len(reads) != 1 or len(s.reads) != 2 or not all(isinstance(s.bounds[i], int) for i in s.iters):
            return
        rows = [i for i in s.parallel if not reads[0].depends_on(i)]
        columns = [i for i in s.parallel if reads[0].depends_on(i)]
        if rows and max(map(self.band.index, columns)) < min(map(self.band.index, rows)):
            self._emit(out, _Weights(self.buffers[reads[0].array], reads[0], s, point), rows)

    def _emit(self, out: Emitter, weights: _Weights, rows: Sequence[str]) -> None:
        sizes = {a.iterator: a.size for a in weights.point.axes}
        extents = [weights.extent(i) for i in rows]
        part, whole = math.prod(sizes.get(i, 1) for i in rows), math.prod(extents)
        before: DimLike = 0
        for i, extent in zip(rows, extents, strict=True):
            before = before * extent + weights.start(i)
        if 2 * part > whole or not weights.reaches_a_line(part, whole):
            return
        for first, step, length in weights.next():
            place = first + before * (length // whole) + floordiv(step * part, whole)
            out.block.add_op(kernel.PrefetchOp(weights.buffer.value, out.dim(place)))

    def _large(self, access: Access) -> bool:
        size = bytes_of(self.buffers[access.array].value)
        return isinstance(size, int) and size >= LARGE


@dataclass(frozen=True)
class _Weights:
    """What a statement reads along the lanes, at a point of its loops."""

    buffer: Buffer
    access: Access
    s: StatementView
    point: Point

    def extent(self, iterator: str) -> int:
        extent = self.s.bounds[iterator]
        assert isinstance(extent, int)
        return extent

    def start(self, iterator: str) -> DimLike:
        """The first point of the tile along an iterator."""
        return evaluate(self.point.at[iterator], {a.symbol: 0 for a in self.point.axes})

    def reaches_a_line(self, part: int, whole: int) -> bool:
        """Whether this step asks for another line than the one before, where steps are written out one by one."""
        last = self.s.reduced[-1]
        turn, stride = self.point.at[last], self.access.stride(last)
        if not isinstance(turn, int) or not isinstance(stride, int) or turn == 0:
            return True
        size = ITEMSIZE[element_of(self.buffer.value)]
        lines = [n * stride * part * size // (whole * LINE) for n in (turn - 1, turn)]
        return lines[0] != lines[1]

    def next(self) -> Iterator[tuple[DimLike, DimLike, int]]:
        """Of each run of memory of the next column tile: its first element, those of the steps before, its length."""
        columns = [a for a in self.point.axes if self.access.depends_on(a.iterator)]
        moving = next((a for a in columns if a.size < self.extent(a.iterator)), None)
        if moving is None:
            return
        at = {a.iterator: self.start(a.iterator) for a in columns}
        at[moving.iterator] = at[moving.iterator] + moving.size
        panel = columns[0].iterator
        for n in range(columns[0].size if len(columns) > 1 else 1):
            here = self._linear(at | {panel: at[panel] + n})
            first = self._linear(at | {panel: at[panel] + n} | dict.fromkeys(self.s.reduced, 0))
            yield first, here - first, self._length()

    def _length(self) -> int:
        stride = self.access.stride(self.s.reduced[-1])
        return stride * math.prod(map(self.extent, self.s.reduced)) if isinstance(stride, int) else 0

    def _linear(self, at: Mapping[str, DimLike]) -> DimLike:
        return self.buffer.linear(tuple(evaluate(i, {**self.point.at, **at}) for i in self.access.index))
