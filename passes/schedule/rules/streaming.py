"""Schedule rule for running reductions: blocks of rows, in each of which blocks of the reduction run one after another
(FlashAttention).

    S0[m, n, k] product, S1[m, n] max, S2[m, n] exp, S3[m, n] sum, S4[m, v, n] product, S5[m, v] scaled by 1 / sum
      →   contraction: S0 | m@16t n@8s … & rows: S1 S2 S3 | m@16t n@8s … & contraction: S4 | … & elementwise: S5 | m@16t

The rows of a block read the operands of a block of the reduction from L2. Intermediate arrays have the size of a block
of rows × a block of the reduction, so the number of rows and the length of the reduction have no limit.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlc.dialects.poly import LoopNest, ScheduleError
from mlc.dialects.semantics.dims import Dim, DimLike
from mlc.passes.schedule.polyhedral.running_reductions import running_reductions
from mlc.passes.schedule.polyhedral.shared_axes import Axis, axes_of, extent_of
from mlc.passes.schedule.polyhedral.statement_view import Access, StatementView
from mlc.passes.schedule.rules.candidates import Rule
from mlc.passes.schedule.rules.nest_fusion import Cut, joined_nests, stages_of
from mlc.passes.schedule.rules.operand_roles import is_sum
from mlc.target import CpuTarget

ROWS = 4  # of a block, times the sums in flight: they read its operands from L2


@dataclass(frozen=True)
class Stream:
    """The statements ``inside`` of a streamed reduction, which run for each of its blocks, and those ``after`` all
    blocks. ``rows``: the axes that all statements share, outermost first; ``along``: the streamed axis."""

    inside: list[StatementView]
    after: list[StatementView]
    rows: list[Axis]
    along: Axis
    rescales: bool = True  # sums follow a running maximum

    def extent(self, axis: Axis) -> int:
        extent = self.any_extent(axis)
        assert isinstance(extent, int)
        return extent

    def any_extent(self, axis: Axis) -> DimLike:
        """Return the extent of an axis, which may be symbolic."""
        extent = extent_of(axis, [*self.inside, *self.after])
        assert extent is not None
        return extent

    @property
    def is_open(self) -> bool:
        """Whether an extent is symbolic."""
        return not all(isinstance(self.any_extent(axis), int) for axis in (*self.rows, self.along))


def streams(statements: Sequence[StatementView], symbolic: bool = False) -> Iterator[Stream]:
    """Yield the ways to stream a kernel: axes along which a running maximum rescales other reductions, then chains of
    products. ``symbolic``: yield axes of symbolic extents too, because the caller has blocks for them."""
    kinds = (int, Dim) if symbolic else (int,)
    axes = [a for a in axes_of(statements) if isinstance(extent_of(a, statements), kinds)]
    rows = [a for a in axes if all(a.get(s.name) in s.parallel for s in statements)]
    sums: list[tuple[int, Stream]] = []
    for along in axes:
        inside = [s for s in statements if s.name in along]
        after = [s for s in statements if s.name not in along]
        made = {s.write.array for s in after}
        if not rows or any(r.array in made for s in inside for r in s.reads):
            continue
        try:
            running = running_reductions(inside, along)
        except ScheduleError:
            continue
        stream = Stream(inside, after, rows, along, rescales=bool(running.maxima))
        if running.maxima:
            yield stream
        elif _is_chain(inside, along) and not stream.is_open:
            sums.append((len(running.scales), stream))
    yield from (stream for _, stream in sorted(sums, key=lambda each: each[0]))  # few running results first


def _is_chain(inside: Sequence[StatementView], along: Axis) -> bool:
    """Return whether sums read several products that are computed for each point of the reduction."""
    made = [s for s in inside if is_sum(s) and s.op.ins[1:] and along[s.name] not in s.reduced]
    return len(made) > 1 and any(along[s.name] in s.reduced for s in inside)


def streaming(
    statements: Sequence[StatementView], target: CpuTarget, rules: Sequence[Rule]
) -> Iterator[list[LoopNest]]:
    """Yield nests for the first way to stream ``statements`` that has several blocks."""
    for stream in streams(statements):
        if not stream.rescales and _columns(stream, target) == stream.extent(stream.along):
            continue
        points = _points(stream, target) if stream.rescales else (1, _columns(stream, target))
        after = [[*stage] for _, stage in itertools.groupby(stream.after, lambda s: s.bounds)]
        stages = [*stages_of(stream.inside, target, rules), *after]
        cuts = [_cuts(stream, stage[0], *points, target) for stage in stages]
        if nests := joined_nests(stages, cuts, target, rules):
            yield nests
            return


def _cuts(stream: Stream, s: StatementView, rows: int, keys: int, target: CpuTarget) -> list[Cut]:
    """Return the blocks of a statement. Blocks of rows come last, because they read the same operands. They come first
    if the last one is smaller and the other axes give threads no even share, because blocks of each size have their own
    loop."""
    *outer, last = stream.rows
    blocks, cut = [Cut(axis[s.name], 1) for axis in outer], [Cut(last[s.name], rows)]
    uneven = stream.extent(last) % rows and math.prod(map(stream.extent, outer)) % target.threads
    cuts = [*cut, *blocks] if uneven else [*blocks, *cut]
    return [*cuts, Cut(stream.along[s.name], keys, True)] if s.name in stream.along else cuts


def _points(stream: Stream, target: CpuTarget) -> tuple[int, int]:
    """Return the rows, and the points of the reduction, in a block. The operands of a block, and its intermediate
    arrays, fill ``block_bytes`` each; a block has rows for several register tiles, and threads have blocks to
    balance."""
    extent, total = stream.extent(stream.rows[-1]), stream.extent(stream.along)
    point = max(_operand_bytes(stream), ROWS * target.sums_in_flight * _row_bytes(stream))
    keys = _even(total, max(target.block_bytes // point, 2 * target.lanes), 2 * target.lanes)
    others = math.prod(map(stream.extent, stream.rows[:-1]))
    blocks = -(-target.tasks(4) // others)
    rows = min(target.block_bytes // (keys * _row_bytes(stream)), -(-extent // blocks))
    return _even(extent, max(rows, target.sums_in_flight)), keys


def _columns(stream: Stream, target: CpuTarget) -> int:
    """Return the columns of a chain's matrices in a block, which has all of their rows."""
    first = next(s for s in stream.inside if is_sum(s))
    extent, column = stream.extent(stream.along), _row_bytes(stream) * _elements_per_point(first.write, first, stream)
    most = max(target.block_bytes // column, target.lanes)
    if extent <= most:
        return extent
    whole = [n for n in range(most, 0, -1) if -(-extent // -(-extent // n)) == n]  # the last block may be smaller
    return next((n for n in whole if n % target.lanes == 0), whole[0])


def _even(extent: int, most: int, multiple: int = 1) -> int:
    """Return the size of nearly equal blocks of about ``most`` points, a multiple of ``multiple`` if there are
    several."""
    blocks = max(1, round(extent / max(most, 1)))
    if blocks == 1:
        return extent
    return min(-(-extent // (blocks * multiple)) * multiple, extent)


def _operand_bytes(stream: Stream) -> int:
    """Return the bytes of operands for each point of the reduction: those of arrays that all rows read."""
    made = {s.write.array for s in stream.inside}
    reads = {r.array: (r, s) for s in stream.inside for r in s.reads if r.array not in made}
    shared = ((r, s) for r, s in reads.values() if not r.depends_on(stream.rows[-1][s.name]))
    return 4 * sum(_elements_per_point(r, s, stream) for r, s in shared if r.depends_on(stream.along[s.name]))


def _elements_per_point(read: Access, s: StatementView, stream: Stream) -> int:
    """Return the number of elements of an array for one point of the streamed axis and of the outer axes."""
    known = {axis[s.name] for axis in (*stream.rows, stream.along)}
    extents = [s.bounds[i] for i in s.iters if i not in known and read.depends_on(i)]
    return math.prod(n for n in extents if isinstance(n, int))


def _row_bytes(stream: Stream) -> int:
    """Return the bytes of intermediate arrays for each row and point of the reduction."""
    made = {s.write.array for s in stream.inside if stream.along[s.name] not in s.reduced}
    return 4 * len(made if stream.rescales else made & {r.array for s in stream.inside for r in s.reads})
