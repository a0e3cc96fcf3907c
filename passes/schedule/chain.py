"""Schedule rule for products and windows one after the other: what one hands to the next stays in the cache.

Each stage has a nest of its own. All run in blocks of one point of an axis, of which no block needs another's results.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from mlc.dialects.dims import Dim
from mlc.passes.schedule.candidates import Rule, candidates, merged
from mlc.passes.schedule.dependences import components
from mlc.passes.schedule.machine import Machine
from mlc.passes.schedule.schedule import Nest, Split
from mlc.passes.schedule.view import Access, StatementView

Stage = list[StatementView]


def chain(statements: Sequence[StatementView], machine: Machine, rules: Sequence[Rule]) -> Iterator[list[Nest]]:
    """``S0[c, w] writes t[c, w], S1[f, y, c] reads t[c, y]`` → ``stages: S0 | w@9 c w | & contraction: S1 | y@9 …``."""
    stages = [part for stage in _stages(statements) for part in merged(components(stage), machine, rules)]
    for axes in _axes(stages) if len(stages) > 1 else ():
        found = [_nest(stage, axis, machine, rules) for stage, axis in zip(stages, axes, strict=True)]
        nests = [replace(nest, follows=n > 0) for n, nest in enumerate(found) if nest]
        if len(nests) == len(stages):
            yield nests
            return


def _stages(statements: Sequence[StatementView]) -> list[Stage]:
    """A product or window begins a stage, and takes what works on each of its results."""
    stages: list[Stage] = []
    for s in statements:
        last = stages[-1] if stages else []
        reduces = bool(last and last[0].op.monoid)
        if s.op.monoid or not last or reduces and s.iters != last[0].parallel:
            stages.append([s])
        else:
            last.append(s)
    return stages


def _axes(stages: Sequence[Stage]) -> Iterator[tuple[str, ...]]:
    """An iterator of each stage such that all of what one hands to another is indexed by them at the same place; one of
    many points first, as blocks are then small."""
    shared = [[i for i in stage[0].parallel if all(i in s.iters for s in stage)] for stage in stages]
    handed = [_accesses(stages, array) for array in sorted(_handed(stages))]
    found: list[tuple[int, tuple[str, ...]]] = []
    for axes in itertools.product(*shared):
        extents = {stage[0].bounds[i] for stage, i in zip(stages, axes, strict=True)}
        if len(extents) == 1 and isinstance(e := extents.pop(), int) and all(_agree(a, axes) for a in handed):
            found.append((e, axes))
    return (axes for _, axes in sorted(found, key=lambda each: -each[0]))


def _handed(stages: Sequence[Stage]) -> set[str]:
    """Arrays that one stage writes and another reads."""
    written = {s.write.array: n for n, stage in enumerate(stages) for s in stage}
    reads = ((r.array, n) for n, stage in enumerate(stages) for s in stage for r in s.reads)
    return {array for array, n in reads if written.get(array, n) != n}


def _accesses(stages: Sequence[Stage], array: str) -> list[tuple[int, Access]]:
    """(stage, access) of an array."""
    every = ((n, a) for n, stage in enumerate(stages) for s in stage for a in (*s.reads, s.write))
    return [(n, a) for n, a in every if a.array == array]


def _agree(accesses: Sequence[tuple[int, Access]], axes: Sequence[str]) -> bool:
    places = [{k for k, index in enumerate(a.index) if index == Dim.symbol(axes[n])} for n, a in accesses]
    return bool(set.intersection(*places))


def _nest(stage: Stage, axis: str, machine: Machine, rules: Sequence[Rule]) -> Nest | None:
    """The first nest of a stage whose tiles lie in one block."""
    for nest in candidates(stage, machine, rules):
        if any(i.iterator == axis and not i.lanes and i.size == 1 for i in nest.band):
            extent = stage[0].bounds[axis]
            assert isinstance(extent, int)
            return replace(nest, split=Split(axis, extent))
    return None
