"""Schedule rule for reductions with a contiguous result: depthwise convolution, pooling, sums over leading axes.

Vectors are along the result; a few rows of accumulators hide the latency of the combination.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from xdsl.dialects import memref

from mlc.dialects.poly import LoopNest, TiledLoop
from mlc.passes.cost.extent_partition import rows_of
from mlc.passes.cost.lane_sizes import lane_sizes, long_run
from mlc.passes.schedule.polyhedral.statement_view import Access, StatementView, epilogue_follows
from mlc.passes.schedule.rules.candidates import by_rank
from mlc.passes.schedule.rules.operand_roles import is_sum
from mlc.passes.schedule.rules.partial_sums import SUM_BLOCK, partial_sums
from mlc.target import CpuTarget

VECTOR_STRIDES = (1, 2, 3, 4)  # strides of strided vector access by whole loads and shuffles, not lane by lane
SMALL_TERMS = 32  # terms of a window that slides
FEW_TERMS = 4  # terms of a combination that are too few for vectors
STRIDED_ROWS = 2  # of a window that slides along a strided vector axis: its loads are reused at the next position
GATHERED_ROWS = 4  # of a window with gathered access: rows share little, and each lane may be a load


def window(statements: Sequence[StatementView], target: CpuTarget) -> Iterator[LoopNest]:
    """``S0[c, y, x, ci, k]: t[c, y, x, ci] max= a[c, y, 2x + k, ci]`` → ``window: S0 | c y x/7 ci/16v | k``.

    The iterator that slides over the rows of a tile is innermost, because rows share loads.
    """
    first = statements[0]
    if first.op.monoid is None or not epilogue_follows(statements):
        return
    lanes = next((i for i in reversed(first.parallel) if first.write.stride(i) == 1), None)
    if lanes is None or not (
        any(r.stride(lanes) in VECTOR_STRIDES for r in _terms_of(first)) or _terms(first) <= FEW_TERMS
    ):
        return
    extent, names = first.bounds[lanes], tuple(s.name for s in statements)
    others = [i for i in first.parallel if i != lanes]
    inner = sorted(first.reduced, key=lambda k: any(r.slides(row, k) for r in first.reads for row in others[-1:]))
    loops = partial_sums(first, inner) if _is_long_sum(first) else tuple(map(TiledLoop, inner))
    for vectors, share in by_rank((_vectors(first, lanes, target), 2, 1, 4), (1, 2, 4)):
        band = [TiledLoop(i) for i in others]
        if others:
            usual = STRIDED_ROWS if _slides_strided(first, lanes) else target.vector_registers // 2 // vectors - 2
            rows = max(1, (min(usual, GATHERED_ROWS) if _gathers(first) else usual) // share)
            band[-1] = rows_of(others[-1], first.bounds[others[-1]], rows)
            if _is_long_product(first):
                taps = _taps(first, others, target.vector_registers - 2 - vectors)
                band = [taps.get(i.iterator, i) for i in band]
        band.append(TiledLoop(lanes, lane_sizes(extent, vectors * target.lanes, target.lanes), True))
        yield LoopNest("window", names, tuple(band), loops)


def _is_long_sum(s: StatementView) -> bool:
    """Return whether a sum has more than ``SUM_BLOCK`` terms, such as the statistics of batch normalization."""
    return s.op.monoid is not None and s.op.monoid.data == "add" and _terms(s) > SUM_BLOCK


def _is_long_product(s: StatementView) -> bool:
    """Return whether a statement is a sum of products with more than ``SUM_BLOCK`` terms, such as the derivative of a
    depthwise convolution by its filters."""
    return is_sum(s) and _is_long_sum(s) and len(_terms_of(s)) == len(s.reads)


def _taps(s: StatementView, others: Sequence[str], registers: int) -> dict[str, TiledLoop]:
    """Return tiles of the last two axes, along which points share an element of a factor: as many rows as registers can
    hold."""
    sizes = dict[str, TiledLoop]()
    for i in reversed(others[-2:]):
        if not all(r.depends_on(i) for r in s.reads):
            sizes[i] = rows_of(i, s.bounds[i], max(1, registers))
            registers //= sizes[i].size
    return sizes


def _slides_strided(s: StatementView, lanes: str) -> bool:
    """Return whether a window reads with stride 2, 3 or 4 along the vectorized axis, at several positions."""
    return any(r.stride(lanes) in VECTOR_STRIDES[1:] and r.slides(lanes, k) for r in s.reads for k in s.reduced)


def _gathers(s: StatementView) -> bool:
    """Return whether the statement reads at data-dependent indices."""
    return any(isinstance(o, memref.LoadOp) for o in s.op.body.block.ops)


def _vectors(s: StatementView, lanes: str, target: CpuTarget) -> int:
    """Return the number of vectors of a tile: two for a small window whose rows read the same elements."""
    small = _terms(s) <= SMALL_TERMS or not isinstance(s.bounds[lanes], int)
    return min(2, long_run(s, lanes, target)) if small else long_run(s, lanes, target)


def _terms_of(s: StatementView) -> list[Access]:
    """Return the reads that depend on a reduced iterator; all reads if none does."""
    return [r for r in s.reads if any(map(r.depends_on, s.reduced))] or list(s.reads)


def _terms(s: StatementView) -> float:
    """Return the number of terms of one element; infinity if it is symbolic."""
    return math.prod(n if isinstance(n := s.bounds[i], int) else math.inf for i in s.reduced)
