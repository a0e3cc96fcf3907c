"""Software prefetch of weights: while the rows of one column tile are computed, the weights of the next column tile are
prefetched.

The first rows of a column tile read its weights from memory and wait for them; all other rows find them in a cache,
while memory is idle. Prefetching a slice of the next tile in each step spreads the memory traffic over all rows. If the
number of rows is symbolic, the slice is computed at run time and all tiles prefetch.

    each step of k: prefetch 6/128 of a step   →   before a loop of 128 steps: prefetch their 6 lines

On a CPU that issues few instructions a cycle, a prefetch in each step would take slots that the step's multiply-adds
and loads need: the slices of a loop's steps are then prefetched together, before it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mlc.dialects import kernel
from mlc.dialects.poly import LoopNest, block_of
from mlc.dialects.semantics.dims import (
    Dim,
    DimLike,
    ceildiv,
    dim_min,
    evaluate,
    floordiv,
    product,
    quotient_of,
)
from mlc.dialects.types import ITEMSIZE, bytes_of, element_of
from mlc.passes.loops.body.open_loops import open_for
from mlc.passes.loops.body.tile_context import Buffer, TileContext
from mlc.passes.loops.index.index_builder import IndexBuilder
from mlc.passes.schedule.polyhedral.statement_view import Access, StatementView
from mlc.target import CpuTarget

Span = tuple[DimLike, DimLike]

POINT = 1 << 12  # the scale of fixed-point values
FINE = 1 << 16  # the same where they are constants: a share of few rows among many keeps its digits
INSTRUCTIONS = 5  # of a prefetch in a step: itself, and the index of its slice
LONGER = 1 / 16  # of a step's time: memory is busy evenly if each step prefetches, which is worth so much
FEW = 16  # tiles in a block of rows: with more, prefetching gains little, because earlier blocks have read the weights


@dataclass(frozen=True)
class Prefetch:
    """The prefetches for the tiles of a product with the schedule ``nest``."""

    buffers: Mapping[str, Buffer]
    nest: LoopNest
    target: CpuTarget

    def emit(self, out: IndexBuilder, s: StatementView, context: TileContext) -> None:
        """Prefetch the slice of this step of the innermost loop, if it was not prefetched before the loop."""
        weights = self._weights(s, context)
        if not weights or not weights.prefetches():
            return
        if isinstance(context.at[s.reduced[-1]], int) or weights.step_has_room:
            for offset, step in weights.slices():
                at = out.dim(offset + weights.share(out, step))
                out.block.add_op(kernel.PrefetchOp(weights.buffer.value, at))

    def emit_before(self, out: IndexBuilder, s: StatementView, context: TileContext, steps: Span) -> None:
        """Prefetch the slices of the ``steps`` of the innermost loop by lines, if a step has no room to do so."""
        first, last = (context.extended(s.reduced[-1], step) for step in steps)
        weights = self._weights(s, first)
        if not weights or weights.step_has_room or not weights.prefetches():
            return
        ends = [step for _, step in replace(weights, context=last).slices()]
        line = weights.target.l1.line // ITEMSIZE[element_of(weights.buffer.value)]
        for (offset, start), stop in zip(weights.slices(), ends, strict=True):
            lines = open_for(out, weights.share(out, start), weights.share(out, stop), line, ())
            at = lines.inside.dim(offset + lines.variable)
            lines.inside.block.add_op(kernel.PrefetchOp(weights.buffer.value, at))
            lines.close(())

    def _weights(self, s: StatementView, context: TileContext) -> _Weights | None:
        """Return the weights to prefetch; None if they are small, or the innermost loop is not over rows."""
        reads = [r for r in s.reads if context.axes and r.depends_on(context.axes[-1].iterator) and self._large(r)]
        if len(reads) != 1 or len(s.reads) != 2:
            return None
        (read,) = reads
        rows = [i for i in s.parallel if not read.depends_on(i)]
        static = all(isinstance(s.bounds[i], int) for i in s.iters if i not in rows)
        shared = self._shared_iterators(s)
        order = sorted((i.iterator for i in self.nest.band if i.iterator in s.parallel), key=lambda i: i not in shared)
        loops = [i for i in order if i not in shared]  # of one thread
        if static and rows and loops == sorted(loops, key=rows.__contains__):
            columns = [i for i in order if i not in rows]
            extents = {i: self._rows_in_block(i, s) for i in rows}
            return _Weights(self.buffers[read.array], read, s, context, extents, columns, self.target)
        return None

    def _rows_in_block(self, iterator: str, s: StatementView) -> DimLike:
        """Return the extent of a row iterator in one pass over the weights: that of a block, if there are blocks."""
        blocks = next((split.blocks for split in self.nest.partitions if split.iterator == iterator), 1)
        return ceildiv(s.bounds[iterator], blocks)

    def _shared_iterators(self, s: StatementView) -> set[str]:
        """Return the iterators with as many blocks as tiles: the outermost loops, which threads partition."""
        sizes = {i.iterator: i.size for i in self.nest.band}
        return {i.iterator for i in self.nest.partitions if i.blocks * sizes[i.iterator] == s.bounds.get(i.iterator)}

    def _large(self, access: Access) -> bool:
        """Return whether weights are too large to be still in L2 when they are needed again."""
        size = bytes_of(self.buffers[access.array].value)
        return isinstance(size, int) and size >= self.target.resident_bytes


@dataclass(frozen=True)
class _Weights:
    """The access of a statement along the vectorized axis, at a point of its loops. ``rows``: iterators of rows with
    their extents; ``columns``: iterators of the weights' tiles, the outermost loop first."""

    buffer: Buffer
    access: Access
    s: StatementView
    context: TileContext
    rows: Mapping[str, DimLike]
    columns: Sequence[str]
    target: CpuTarget

    @property
    def tile_rows(self) -> int:
        """The number of rows of the tile."""
        return math.prod(a.size for a in self.context.axes if a.iterator in self.rows)

    @property
    def step_has_room(self) -> bool:
        """Whether a step of the register tile takes about as long with a prefetch as without."""
        columns = math.prod(a.size for a in self.context.axes if a.iterator not in self.rows)
        return self.target.has_room(INSTRUCTIONS, self.tile_rows, -(-columns // self.target.lanes), LONGER)

    @property
    def all_rows(self) -> DimLike:
        """The number of all rows."""
        return product(self.rows.values())

    @property
    def before(self) -> DimLike:
        """The number of rows before this tile."""
        count: DimLike = 0
        for i, extent in self.rows.items():
            count = count * extent + self._start_in_block(i)
        return count

    def _start_in_block(self, iterator: str) -> DimLike:
        start, extent, block = self.start(iterator), self.rows[iterator], block_of(iterator)
        if block in self.context.at:
            return start - self.context.at[block]
        return start - floordiv(start, extent) * extent if self._in_blocks(iterator) else start

    def _in_blocks(self, iterator: str) -> bool:
        return self.s.bounds[iterator] != self.rows[iterator]

    def share(self, out: IndexBuilder, step: DimLike) -> DimLike:
        """Return ``step * tile_rows // all_rows``, in fixed point unless that is a shift already: a division in each
        step would take the time of multiply-adds. For symbolic ``all_rows`` the division is then loop-invariant."""
        if isinstance(self.all_rows, int):
            exact = floordiv(step * self.tile_rows, self.all_rows)
            return exact if _shifts(exact) else floordiv(step * (self.tile_rows * FINE // self.all_rows), FINE)
        return floordiv(out.named(step) * out.named(self.pace), POINT)

    @property
    def pace(self) -> DimLike:
        """``tile_rows / all_rows`` in fixed point; 0 if the tile has more than half of all rows, as in
        ``prefetches``."""
        return floordiv(self.tile_rows * POINT, self.all_rows) * dim_min(1, floordiv(self.all_rows, 2 * self.tile_rows))

    def extent(self, iterator: str) -> int:
        extent = self.s.bounds[iterator]
        assert isinstance(extent, int)
        return extent

    def start(self, iterator: str) -> DimLike:
        """Return the first point of the tile along an iterator."""
        return evaluate(self.context.at[iterator], {a.symbol: 0 for a in self.context.axes})

    def prefetches(self) -> bool:
        """Return whether the tile prefetches anything in this step. For a symbolic number of rows, assume as few rows
        as any tile prefetches for."""
        if not isinstance(self.all_rows, int):
            return self._reaches_a_line(2 * self.tile_rows)
        most = FEW * self.tile_rows if any(map(self._in_blocks, self.rows)) else self.all_rows
        return 2 * self.tile_rows <= self.all_rows <= most and self._reaches_a_line(self.all_rows)

    def _reaches_a_line(self, whole: int) -> bool:
        """Return whether this step prefetches another cache line than the previous one, if steps are unrolled."""
        last = self.s.reduced[-1]
        iteration, stride = self.context.at[last], self.access.stride(last)
        if not isinstance(iteration, int) or not isinstance(stride, int) or iteration == 0:
            return True
        size = ITEMSIZE[element_of(self.buffer.value)]
        per_line = whole * self.target.l1.line
        lines = [n * stride * self.tile_rows * size // per_line for n in (iteration - 1, iteration)]
        return lines[0] != lines[1]

    def slices(self) -> Iterator[tuple[DimLike, DimLike]]:
        """Yield, for each contiguous range of the next column tile, the offset of this tile's part of it, and the
        elements of the steps before."""
        for first, step, length in self.next_panels():
            yield first + self.before * floordiv(length, self.all_rows), step

    def next_panels(self) -> Iterator[tuple[DimLike, DimLike, int]]:
        """Yield, for each contiguous range of the next column tile, its offset, the elements of the steps before, and
        its length."""
        axes = [a for a in self.context.axes if self.access.depends_on(a.iterator)]
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
        return self.buffer.linear(tuple(evaluate(i, {**self.context.at, **at}) for i in self.access.index))


def _shifts(share: DimLike) -> bool:
    """Return whether each division of an index is by a power of two."""
    terms = share.terms if isinstance(share, Dim) else ()
    divisors = [found[1] for monomial, _ in terms if (found := quotient_of(monomial))]
    return all(divisor & (divisor - 1) == 0 for divisor in divisors)
