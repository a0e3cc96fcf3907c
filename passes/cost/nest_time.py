"""The estimated time of a nest's thread blocks (``BlockTime``), and the ranking of nests by it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from mlc.dialects.kernel import MMA_SHAPES, factor_element
from mlc.dialects.poly import LoopNest, ThreadBlock
from mlc.dialects.types import ITEMSIZE, element_of
from mlc.passes.cost.block_time import FLOAT, BlockTime
from mlc.passes.schedule.gpu.tile_sizes import padded, points
from mlc.passes.schedule.polyhedral.statement_view import StatementView
from mlc.target import GpuTarget

GROUP_ROWS = 64  # of an instruction of a warpgroup, each of which reads all its columns


def block_time(nest: LoopNest, s: StatementView, target: GpuTarget) -> BlockTime:
    """Return the estimated time of the blocks of a nest whose last two loops are the rows and columns of a tile."""
    rows, columns = (padded(item.size) for item in nest.band[-2:])
    blocks = math.prod(-(-points([s.bounds[i.iterator]]) // padded(i.size)) or 1 for i in nest.band)
    elements = [element_of(v) for v in s.op.ins]
    size = max((ITEMSIZE[e] for e in elements), default=FLOAT)
    shares = nest.block.streamk if nest.block else None
    if nest.block is None or nest.block.warps is None:
        return replace(BlockTime.of_threads(rows, columns, blocks, target, size), shares=shares)
    across, along = nest.block.warps
    mma, threads = (
        MMA_SHAPES[factor_element(elements) or elements[0]],
        across * along * target.warp * (2 if nest.block.pingpong else 1),
    )
    warpgroups = target.warpgroups and nest.block.mma is None
    grid = (max(rows / GROUP_ROWS, 1), along) if warpgroups else (across, along)
    bits = MMA_SHAPES["f16"].bits if mma.promoted and not warpgroups else mma.bits  # warps multiply halves
    wait = min(size, 2) / 2 if warpgroups else 1.0  # for 64 terms of halves at a time, 128 of bytes
    high, wide = nest.block.cluster or (1, 1)
    bulk = nest.block.copy == "tma"
    return BlockTime(rows, columns, blocks, threads, grid, size, bits, bulk, wait, (high, wide), shares, warpgroups)


def fastest_first(nests: Sequence[LoopNest], s: StatementView, target: GpuTarget) -> list[LoopNest]:
    """Return ``nests``, which are given with the largest tile first, ordered by the estimated time of their blocks.
    Those within a factor ``close`` of the best time are first, ordered by the multiprocessors that they occupy, then as
    given."""
    terms = points([s.bounds[i] for i in s.reduced])
    blocks = {nest: block_time(nest, s, target) for nest in nests}
    times = {nest: found.cycles(terms, target) for nest, found in blocks.items()}
    close = [nest for nest in blocks if times[nest] <= target.heuristics.close * min(times.values(), default=0)]
    close.sort(key=lambda nest: -blocks[nest].busy(target))
    return list(dict.fromkeys([*close, *sorted(blocks, key=times.__getitem__)]))


def faster_pair(nest: LoopNest, pairs: Iterator[LoopNest], s: StatementView, target: GpuTarget) -> LoopNest:
    """Return the fastest of the nests ``pairs``, whose blocks work in pairs, if ``nest`` takes longer by more than
    ``close``, since loads from L2 bound its time; otherwise ``nest``."""
    terms = points([s.bounds[i] for i in s.reduced])

    def time(each: LoopNest) -> float:
        return block_time(each, s, target).cycles(terms, target)

    best = min(pairs, key=time, default=nest)
    return best if target.heuristics.close * time(best) < time(nest) else nest


def sharing(ordered: Sequence[LoopNest], s: StatementView, target: GpuTarget) -> list[LoopNest]:
    """Return ``ordered``, the nests of a sum, together with the fastest nest whose last tiles blocks share
    (stream-K). That nest is first if it takes at most ``parts_gain`` of the best time, as for parts; it is second if it
    is faster at all."""
    known = len(s.reduced) == 1 and all(isinstance(extent, int) for extent in s.bounds.values())
    if not ordered or not known:
        return [*ordered]
    terms = points([s.bounds[i] for i in s.reduced])
    times = {
        n: block_time(n, s, target).cycles(terms, target) for n in (ordered[0], *_stream_k_nests(ordered, s, target))
    }
    best = min(times, key=times.__getitem__)
    if best is ordered[0]:
        return [*ordered]
    gains = times[best] < target.heuristics.parts_gain * times[ordered[0]]
    return [best, *ordered] if gains else [ordered[0], best, *ordered[1:]]


def _stream_k_nests(nests: Sequence[LoopNest], s: StatementView, target: GpuTarget) -> Iterator[LoopNest]:
    """Yield the nests with stream-K, for each number of shares that run at a time, except those that warpgroups
    multiply."""
    for nest in nests:
        block = nest.block or ThreadBlock()
        if block.warps is None or block.mma or not target.warpgroups:
            for count in block_time(nest, s, target).counts(target):
                yield replace(nest, block=replace(block, streamk=count))
