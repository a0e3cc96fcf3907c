"""Parallel loop partitioning (``partition-parallel-loops``): each kernel is partitioned among threads along the axis
for which a thread mostly reads what it wrote itself.

    kernel.func @conv {schedule = "contraction: S0 | f/2*4 fi/16v y/14*16 | c"}     # by output channels: all of the
      →   {schedule = "contraction: S0 | y@16 f/2*4 fi/16v y/14*16 | c"}            # input is read by every thread

Reading what another core wrote is slow, and slower without a shared L3 (cross-core latency). So a kernel is partitioned
like its producers and consumers, if the bytes that all threads then read (weights) and the load imbalance cost less
than the bytes that would move between cores.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from mlc.dialects import kernel
from mlc.dialects.poly import ScheduleAttr
from mlc.passes.context import target_of
from mlc.passes.cost.data_movement import Edge, edges_of_calls
from mlc.passes.cost.partitioned_kernel import PartitionedKernel
from mlc.passes.schedule.rules.fallback import chosen_by_rule

REACH = 2  # edges from a kernel to the kernels that choose again with it
LEAD = 8  # the same where a kernel follows only those that have chosen, not its other neighbours
GAIN = 1e-6  # of the cost: a smaller improvement counts as none


@dataclass(frozen=True)
class PartitionParallelLoops(ModulePass):
    name = "partition-parallel-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        free = [o for o in op.ops if isinstance(o, kernel.FuncOp) and chosen_by_rule(o)]
        functions = {fn.sym_name.data: PartitionedKernel(fn, target_of(ctx)) for fn in free}
        calls = [o for o in op.walk() if isinstance(o, kernel.CallOp)]
        times = Counter(f for call in calls if (f := functions.get(call.callee.root_reference.data)))
        _Search(edges_of_calls(calls, functions), times).run()
        for each in functions.values():
            each.write()


def split_like(schedule: ScheduleAttr, chosen: ScheduleAttr) -> ScheduleAttr:
    """Return the candidate ``schedule`` with the partitions of the chosen schedule."""
    known = {n.statements: n.partitions for n in chosen.data}
    nests = schedule.data
    return ScheduleAttr(n if n.partitions else replace(n, partitions=known.get(n.statements, ())) for n in nests)


@dataclass
class _Search:
    """A hill-climbing search: one kernel changes its choice, and its neighbours follow if that costs less."""

    edges: Sequence[Edge]
    calls: Counter[PartitionedKernel]

    def run(self) -> None:
        self.edges_of: dict[PartitionedKernel, list[Edge]] = defaultdict(list)
        for edge in self.edges:
            for each in dict.fromkeys(edge.ends):
                self.edges_of[each].append(edge)
        self._neighbours = {
            each: [*dict.fromkeys(end for edge in edges for end in edge.ends if end is not each)]
            for each, edges in self.edges_of.items()
        }
        self._region = cache(self._region_of)
        self._followed: dict[tuple[Any, ...], str] = {}
        self._changed: dict[PartitionedKernel, int] = defaultdict(int)  # the number of the change
        self._costs: dict[tuple[PartitionedKernel, int], tuple[int, float]] = {}
        self._failed: dict[tuple[Any, ...], int] = {}
        better = True
        while better:
            tries = [self._improve(each, choice) for each in self.edges_of for choice in each.choices]
            better = any(tries)

    def _improve(self, each: PartitionedKernel, choice: str) -> bool:
        return self._try(each, choice, REACH, False) or self._try(each, choice, LEAD, True)

    def _try(self, each: PartitionedKernel, choice: str, reach: int, leads: bool) -> bool:
        """Make a choice and those that follow from it, and return whether this costs less. With ``leads``, a long chain
        of kernels changes in one step: single changes would cost more, because each kernel agrees with its other
        neighbour."""
        region, latest = self._region(each, reach), self._latest(each, reach)
        if self._failed.get((each, choice, reach, leads), -1) >= latest:
            return False
        before = {k: k.chosen for k in region}
        each.chosen, done = choice, {each}
        for other in region[1:]:
            if len(other.choices) > 1:
                other.chosen = self._follow(other, done if leads else None)
            done.add(other)
        after = {k: k.chosen for k in region if k.chosen != before[k]}
        cost = self._cost_of(after)
        self._choose(before)
        if after and self._cost_of(after) - cost > GAIN * self._region_cost(each, reach, latest):
            self._choose(after)
            self._changed |= dict.fromkeys(after, max(self._changed.values(), default=0) + 1)
            return True
        self._failed[each, choice, reach, leads] = latest
        return False

    def _latest(self, each: PartitionedKernel, reach: int) -> int:
        """Return the number of the last change of a kernel in the region or next to it. The costs of the region depend
        on no other kernels."""
        beside = self._region(each, reach + 1)
        return max(map(self._changed.__getitem__, beside))

    def _region_cost(self, each: PartitionedKernel, reach: int, latest: int) -> float:
        """Return the cost of a region. It is cached until a kernel in the region, or next to it, changes."""
        known = self._costs.get((each, reach))
        if known is None or known[0] < latest:
            known = self._costs[each, reach] = latest, self._cost_of(self._region(each, reach))
        return known[1]

    def _cost_of(self, kernels: Iterable[PartitionedKernel]) -> float:
        """Return the cost of ``kernels`` and all of their edges."""
        return self._cost(dict.fromkeys(e for k in kernels for e in self.edges_of[k]), kernels)

    def _choose(self, chosen: Mapping[PartitionedKernel, str | None]) -> None:
        for each, choice in chosen.items():
            each.chosen = choice

    def _follow(self, other: PartitionedKernel, done: Set[PartitionedKernel] | None) -> str:
        """Return the choice of least cost for ``other``, given the choices of its neighbours, or only of those in
        ``done``."""
        ends = self._neighbours[other]
        key = other, *(end.chosen for end in ends), *(() if done is None else (end in done for end in ends))
        if (known := self._followed.get(key)) is None:
            edges = self.edges_of[other]
            seen = edges if done is None else [e for e in edges if not done.isdisjoint(e.ends)]
            known = self._followed[key] = min(other.choices, key=partial(self._cost_with, other, seen))
        return known

    def _region_of(self, each: PartitionedKernel, reach: int) -> list[PartitionedKernel]:
        """Return the kernel and its neighbours within ``reach`` edges, the nearest first."""
        region = {each: None}
        for _ in range(reach):
            region |= dict.fromkeys([end for k in region for end in self._neighbours[k]])
        return list(region)

    def _cost_with(self, each: PartitionedKernel, edges: Sequence[Edge], choice: str) -> float:
        was, each.chosen = each.chosen, choice
        cost = self._cost(edges, [each])
        each.chosen = was
        return cost

    def _cost(self, edges: Iterable[Edge], kernels: Iterable[PartitionedKernel]) -> float:
        moved = sum(edge.cost() * edge.count for edge in edges)
        return moved + sum(each.idle_seconds(each.chosen) * self.calls[each] for each in kernels)
