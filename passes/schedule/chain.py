"""Schedule rule for products, windows and normalisations one after the other: what one hands to the next stays in the
cache.

Each stage has a nest of its own. All run in blocks of one point of an axis, of which no block needs another's results;
of several axes, if what is handed over is too much for the cache otherwise.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from mlc.dialects.dims import Dim, product
from mlc.passes.schedule.candidates import Rule, candidates, merged
from mlc.passes.schedule.machine import Machine
from mlc.passes.schedule.rows import rows
from mlc.passes.schedule.schedule import Nest, Split
from mlc.passes.schedule.view import Access, StatementView

ENOUGH_BLOCKS = 4
Stage = list[StatementView]
Axes = tuple[str, ...]
"""An iterator of each stage."""
Handed = dict[str, list[tuple[int, Access]]]
"""Arrays that one stage writes and another reads, with the (stage, access) of each use."""


def chain(statements: Sequence[StatementView], machine: Machine, rules: Sequence[Rule]) -> Iterator[list[Nest]]:
    """``S0[c, w] writes t[c, w], S1[f, y, c] reads t[c, y]`` → ``stages: S0 | w@9 c w | & contraction: S1 | y@9 …``."""
    stages = [part for stage in _stages(statements, machine) for part in merged(stage, machine, rules)]
    if len(stages) == 1:
        return
    handed = _handed(stages)
    shared = list(_shared(stages, handed))
    for first in range(len(shared)):
        axes = _enough(shared[first:], stages, handed, machine.l2 // 2)
        found = [_nest(s, [a[n] for a in axes], machine, rules) for n, s in enumerate(stages)]
        nests = [replace(nest, follows=n > 0) for n, nest in enumerate(found) if nest]
        if len(nests) == len(stages):
            yield nests
            return


def _stages(statements: Sequence[StatementView], machine: Machine) -> list[Stage]:
    """A product or window begins a stage, and takes what works on each of its results; a normalisation is one."""
    stages: list[Stage] = []
    for s in statements:
        last = stages[-1] if stages else []
        reduces = bool(last and last[0].op.monoid)
        if last and any(rows([*last, s], machine)):
            last.append(s)
        elif s.op.monoid or not last or reduces and s.iters != last[0].parallel:
            stages.append([s])
        else:
            last.append(s)
    return stages


def _shared(stages: Sequence[Stage], handed: Handed) -> Iterator[Axes]:
    """An iterator of each stage such that all of what one hands to another is indexed by them at the same place."""
    common = [[i for i in stage[0].parallel if all(i in s.iters for s in stage)] for stage in stages]
    for axes in itertools.product(*common):
        extents = {stage[0].bounds[i] for stage, i in zip(stages, axes, strict=True)}
        constant = len(extents) == 1 and all(isinstance(e, int) for e in extents)
        if constant and all(_agree(uses, axes) for uses in handed.values()):
            yield axes


def _handed(stages: Sequence[Stage]) -> Handed:
    written = {s.write.array: n for n, stage in enumerate(stages) for s in stage}
    reads = ((r.array, n) for n, stage in enumerate(stages) for s in stage for r in s.reads)
    names = {array for array, n in reads if written.get(array, n) != n}
    every = [(n, a) for n, stage in enumerate(stages) for s in stage for a in (*s.reads, s.write)]
    return {name: [(n, a) for n, a in every if a.array == name] for name in sorted(names)}


def _agree(accesses: Sequence[tuple[int, Access]], axes: Axes) -> bool:
    places = [{k for k, index in enumerate(a.index) if index == Dim.symbol(axes[n])} for n, a in accesses]
    return bool(set.intersection(*places))


def _enough(shared: Sequence[Axes], stages: Sequence[Stage], handed: Handed, limit: int) -> list[Axes]:
    """The first axes, outermost first, that make blocks for all threads, which hand over at most ``limit`` bytes."""
    blocks, size = 1, sum(4 * n for uses in handed.values() if isinstance(n := product(uses[0][1].shape), int))
    chosen: list[Axes] = []
    for axes in shared:
        if blocks >= ENOUGH_BLOCKS and size <= limit:
            break
        if not any(a == b for other in chosen for a, b in zip(axes, other, strict=True)):
            chosen.append(axes)
            blocks *= _extent(stages[0], axes[0])
            size //= _extent(stages[0], axes[0])
    return chosen


def _nest(stage: Stage, axes: Sequence[str], machine: Machine, rules: Sequence[Rule]) -> Nest | None:
    """The first nest of a stage whose tiles lie in one block."""
    for nest in candidates(stage, machine, rules):
        points = {i.iterator for i in nest.band if not i.lanes and i.size == 1}
        if points.issuperset(axes):
            return replace(nest, splits=tuple(Split(i, _extent(stage, i)) for i in axes))
    return None


def _extent(stage: Stage, iterator: str) -> int:
    extent = stage[0].bounds[iterator]
    assert isinstance(extent, int)
    return extent
