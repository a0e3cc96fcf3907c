"""Nest fusion by blocks (tile-and-fuse): a sequence of products, windows and normalizations whose intermediate arrays
stay in cache.

Each step has its own nest. All nests run block by block. A block is one point of an axis, or of several axes if the
intermediate arrays are otherwise too large for the cache, and needs no results of another block. An axis of which a
register tile needs several points (rows of an attention) is split into the largest blocks that fit in the cache.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from mlc.dialects.poly import LoopNest, Partition
from mlc.dialects.semantics.dims import Dim, product
from mlc.passes.schedule.polyhedral.statement_view import Access, StatementView
from mlc.passes.schedule.rules.candidates import Rule, candidates, merged
from mlc.passes.schedule.rules.rows import rows
from mlc.target import CpuTarget

Stage = list[StatementView]
Axes = tuple[str, ...]
"""One iterator of each step."""
Intermediates = dict[str, list[tuple[int, Access]]]
"""The arrays that one step writes and another reads, with the (step, access) of each use."""


@dataclass(frozen=True)
class Cut:
    """Blocks of ``points`` points of an iterator. ``streamed``: the iterator is reduced, and its blocks run one after
    another."""

    iterator: str
    points: int
    streamed: bool = False

    def partition(self, extent: int) -> Partition:
        tiled = self.points > 1 and not self.streamed
        return Partition(self.iterator, -(-extent // self.points), tiled, self.streamed)


def nest_fusion(
    statements: Sequence[StatementView], target: CpuTarget, rules: Sequence[Rule]
) -> Iterator[list[LoopNest]]:
    """``S0[c, w] writes t[c, w], S1[f, y, c] reads t[c, y]`` → ``stages: S0 | w@9 c w | & contraction: S1 | y@9 …``."""
    stages = stages_of(statements, target, rules)
    if len(stages) == 1:
        return
    intermediates = _intermediates(stages)
    shared = list(_common_axes(stages, intermediates))
    for first in range(len(shared)):
        axes = _enough(shared[first:], stages, intermediates, target)
        points = _nests(stages, axes, 1, target, rules)
        if not points or any(map(partial(_one_row, target=target, rules=rules), stages, points)):
            points = _nests(stages, axes, _points(axes, stages[0], intermediates, target), target, rules) or points
        if points:
            yield points
            return


def _nests(
    stages: Sequence[Stage], axes: Sequence[Axes], points: int, target: CpuTarget, rules: Sequence[Rule]
) -> list[LoopNest]:
    """Return a nest for each step, in blocks of ``points`` points of the last axis and one point of the others; [] if a
    step has no such nest."""
    cuts = [[Cut(a[n], points if a is axes[-1] else 1) for a in axes] for n in range(len(stages))]
    return joined_nests(stages, cuts, target, rules)


def joined_nests(
    stages: Sequence[Stage], cuts: Sequence[Sequence[Cut]], target: CpuTarget, rules: Sequence[Rule]
) -> list[LoopNest]:
    """Return a nest for each step, in its blocks, joined to the one before; [] if a step has no such nest."""
    found = [_nest(s, cut, target, rules) for s, cut in zip(stages, cuts, strict=True)]
    return [replace(nest, joined=n > 0) for n, nest in enumerate(found) if nest] if all(found) else []


def _one_row(stage: Stage, nest: LoopNest, target: CpuTarget, rules: Sequence[Rule]) -> bool:
    """Return whether a register tile of a sum has one row only because a block is one point. Steps without a sum read
    nothing twice."""
    if not stage[0].op.monoid:
        return False
    first = next(candidates(stage, target, rules))
    rows, wanted = (math.prod(i.size for i in each.band if not i.vectorized) for each in (nest, first))
    return rows == 1 < wanted


def stages_of(statements: Sequence[StatementView], target: CpuTarget, rules: Sequence[Rule]) -> list[Stage]:
    """Return the steps of a kernel. Independent statements of one step become several steps."""
    return [part for stage in _stages(statements, target) for part in merged(stage, target, rules)]


def _stages(statements: Sequence[StatementView], target: CpuTarget) -> list[Stage]:
    """Return the steps: a product or window begins one, which includes its epilogue; a normalization is one."""
    stages: list[Stage] = []
    for s in statements:
        last = stages[-1] if stages else []
        reduces = bool(last and last[0].op.monoid)
        if last and any(rows([*last, s], target)):
            last.append(s)
        elif s.op.monoid or not last or reduces and s.iters != last[0].parallel:
            stages.append([s])
        else:
            last.append(s)
    return stages


def _common_axes(stages: Sequence[Stage], intermediates: Intermediates) -> Iterator[Axes]:
    """Yield tuples of iterators, one of each step, that index every intermediate array in the same position."""
    common = [[i for i in stage[0].parallel if all(i in s.iters for s in stage)] for stage in stages]
    for axes in itertools.product(*common):
        extents = {stage[0].bounds[i] for stage, i in zip(stages, axes, strict=True)}
        constant = len(extents) == 1 and all(isinstance(e, int) for e in extents)
        if constant and all(_same_position(uses, axes) for uses in intermediates.values()):
            yield axes


def _intermediates(stages: Sequence[Stage]) -> Intermediates:
    written = {s.write.array: n for n, stage in enumerate(stages) for s in stage}
    reads = ((r.array, n) for n, stage in enumerate(stages) for s in stage for r in s.reads)
    names = {array for array, n in reads if written.get(array, n) != n}
    every = [(n, a) for n, stage in enumerate(stages) for s in stage for a in (*s.reads, s.write)]
    return {name: [(n, a) for n, a in every if a.array == name] for name in sorted(names)}


def _same_position(accesses: Sequence[tuple[int, Access]], axes: Axes) -> bool:
    positions = [{k for k, index in enumerate(a.index) if index == Dim.symbol(axes[n])} for n, a in accesses]
    return bool(set.intersection(*positions))


def _enough(
    shared: Sequence[Axes], stages: Sequence[Stage], intermediates: Intermediates, target: CpuTarget
) -> list[Axes]:
    """Return the first of the axes ``shared``, outermost first, that make blocks for all threads, with intermediate
    arrays that fit in L2."""
    blocks, size = 1, _bytes(intermediates)
    chosen: list[Axes] = []
    for axes in shared:
        if chosen and blocks >= target.threads and size <= target.local_bytes:
            break
        if not any(a == b for other in chosen for a, b in zip(axes, other, strict=True)):
            chosen.append(axes)
            blocks *= _extent(stages[0], axes[0])
            size //= _extent(stages[0], axes[0])
    return chosen


def _points(axes: Sequence[Axes], first: Stage, intermediates: Intermediates, target: CpuTarget) -> int:
    """Return the points of the last axis in a block."""
    *others, rows = (_extent(first, a[0]) for a in axes)
    blocks = math.prod(others)
    return target.block_points(rows, _bytes(intermediates) // (blocks * rows), blocks)


def _bytes(intermediates: Intermediates) -> int:
    return sum(4 * n for uses in intermediates.values() if isinstance(n := product(uses[0][1].shape), int))


def _nest(stage: Stage, cuts: Sequence[Cut], target: CpuTarget, rules: Sequence[Rule]) -> LoopNest | None:
    """Return the first nest of a step whose tiles do not cross blocks; None if there is none.

    The tiles are those of a block. The loop order is that of the whole step, because one block leaves in cache what the
    next one reads. A streamed block reads its own part of the operands, so its loop order is that of a block.
    """
    sizes = {cut.iterator: cut.points for cut in cuts if cut.points > 1}
    block = [replace(s, bounds={**s.bounds, **sizes}) for s in stage]
    order = [i.iterator for nest in itertools.islice(candidates(stage, target, rules), 1) for i in nest.band]
    for nest in candidates(block, target, rules):
        points = {i.iterator for i in nest.band if not i.vectorized and i.size == 1}
        if all(cut.iterator in points or cut.iterator in sizes for cut in cuts):
            whole = sizes and not any(cut.streamed for cut in cuts)
            band = sorted(nest.band, key=lambda i: order.index(i.iterator)) if whole else nest.band
            splits = (cut.partition(_extent(stage, cut.iterator)) for cut in cuts)
            return replace(nest, band=tuple(band), partitions=tuple(splits))
    return None


def _extent(stage: Stage, iterator: str) -> int:
    extent = stage[0].bounds[iterator]
    assert isinstance(extent, int)
    return extent
