"""Schedule rule for reductions with few results on a GPU: a thread block has a strip of results, and its threads share
the terms.

Neighbouring threads read neighbouring elements. If the terms of a sum are contiguous, these are terms of one sum, which
lanes combine by shuffles; otherwise they belong to neighbouring sums, and each warp has a part of the terms. A product
with up to 8 rows is such a reduction too: each element of the matrix is read once, for all rows (GEMV).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlc.dialects.poly import LoopNest, TiledLoop
from mlc.passes.cost.lane_sizes import lane_sizes
from mlc.passes.schedule.gpu.part_numbers import PART
from mlc.passes.schedule.gpu.tile_sizes import padded, points, tile_of
from mlc.passes.schedule.polyhedral.statement_view import StatementView, epilogue_follows
from mlc.target import GpuTarget


def strips(statements: Sequence[StatementView], target: GpuTarget) -> Iterator[LoopNest]:
    """``S0[n, k]: t[n] += a[k, n]·b[k]`` → ``strips: S0 | n/32vp | k/64v``; contiguous sums, of ``a[n, k]``:
    ``n/8vp | k/256v``, a warp a sum."""
    first = statements[0]
    if first.op.monoid is None or not first.reduced or not first.parallel or not first.reads:
        return  # what is read at computed offsets alone has no order
    if not epilogue_follows(statements):
        return
    largest = max(first.reads, key=lambda r: points([first.bounds[i] for i in first.iters if r.depends_on(i)]))
    along, rows = first.reduced[-1], [i for i in first.parallel if not largest.depends_on(i)]
    strip = next((i for i in reversed(first.parallel) if largest.stride(i) == 1), None)
    contiguous = largest.stride(along) == 1
    if contiguous:
        strip = next((i for i in reversed(first.parallel) if i not in (*rows, PART)), None)
    terms = first.bounds[along]
    if strip is None or points([first.bounds[i] for i in rows]) > target.heuristics.strip_rows:
        return
    if contiguous and not isinstance(terms, int):
        return  # a block each: a warp has too few threads for a long one
    yield from _nests(statements, _Strip(first, strip, rows, contiguous, points([terms])), target)


@dataclass(frozen=True)
class _Strip:
    """A reduction, the iterator of its strips, and the iterators of its rows."""

    s: StatementView
    iterator: str
    rows: Sequence[str]
    contiguous: bool  # whether the terms of a sum are
    terms: int  # a symbolic number of them counts as SCHEDULED

    @property
    def others(self) -> list[str]:
        """The parallel iterators of which a thread block has one point."""
        return [i for i in self.s.parallel if i != self.iterator and i not in self.rows]

    def blocks(self, size: int) -> int:
        """Return the number of thread blocks for strips of ``size`` results."""
        others = points([self.s.bounds[i] for i in self.others])
        return others * -(-points([self.s.bounds[self.iterator]]) // size)


def _nests(statements: Sequence[StatementView], strip: _Strip, target: GpuTarget) -> Iterator[LoopNest]:
    """Yield nests: first the widest strips of which there is one for each multiprocessor, then narrower ones. Yield
    none if one thread for each result would occupy the GPU and read as well, or if the sums are so few that each needs
    its own block."""
    first, least = strip.s, 1 if strip.contiguous else target.warp
    enough = points([first.bounds[i] for i in first.parallel]) >= target.tasks() * target.block_threads
    known = target.heuristics
    fewest = known.strip_contiguous_terms if strip.contiguous else known.strip_terms
    if strip.terms < fewest or enough and not strip.contiguous:
        return
    sizes = [n for n in _sizes(strip, target) if n >= least]
    best = next((n for n in sizes if strip.blocks(n) >= target.multiprocessors), sizes[-1])
    if best > 1:
        for size in dict.fromkeys((best, *reversed(sizes))):
            yield _nest(statements, strip, size, target)


def _sizes(strip: _Strip, target: GpuTarget) -> list[int]:
    """Return the sizes of a strip, powers of two, the largest first."""
    most = target.heuristics.strip_results
    if strip.contiguous:
        warps = target.block_threads // target.warp
        most = min(padded(points([strip.s.bounds[strip.iterator]])), max(warps, warps * 256 // padded(strip.terms)))
    return [2**n for n in reversed(range(most.bit_length()))]


def _nest(statements: Sequence[StatementView], strip: _Strip, size: int, target: GpuTarget) -> LoopNest:
    bounds, (*loops, along) = strip.s.bounds, strip.s.reduced
    held, known = points([bounds[i] for i in strip.rows]), target.heuristics
    terms = min(padded(strip.terms), target.block_threads * max(2, known.strip_loads // held) // size)
    band = (
        *map(TiledLoop, strip.others),
        *(tile_of(i, bounds[i], known.strip_rows) for i in strip.rows),
        tile_of(strip.iterator, bounds[strip.iterator], size, lanes=True),
    )
    inner = (*map(TiledLoop, loops), TiledLoop(along, lane_sizes(bounds[along], terms, terms), True))
    return LoopNest("strips", tuple(s.name for s in statements), band, inner)
