"""A lower bound by message passing (TRW-S), the options that it excludes, and a choice that it suggests.

Costs move between nodes and edges so that no choice costs more or less, and the sum of the least entries, which is a
lower bound, grows. An option whose own bound is above a known choice is in no better one. Source: Kolmogorov 2006.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mlc.planning.solving.descent import descend
from mlc.planning.solving.problem import Choice, Matrix, Problem, Vector

Kept = NDArray[np.intp]
PASSES = 60
SLOW = 1e-4  # the share by which the bound must grow in ten passes
SLACK = 1e-9  # of the cost: options within it stay


class Bounds:
    """A problem without limits whose costs are moved; ``bound`` and ``best`` improve with each pass."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.nodes: list[Vector] = [c.copy() for c in problem.costs]
        self.edges: dict[tuple[int, int], Matrix] = {key: m.copy() for key, m in problem.edges.items()}
        self.near: list[list[int]] = [[] for _ in problem.costs]
        for a, b in problem.edges:
            self.near[a].append(b)
            self.near[b].append(a)
        self.best: Choice = descend(problem)
        self.cost = problem.of(self.best)
        self.bound = self._least()

    def improve(self, passes: int = PASSES) -> None:
        """Pass forth and back until the bound grows no more."""
        last = self.bound
        for n in range(passes):
            self._pass(range(len(self.nodes)), 1)
            self._pass(range(len(self.nodes) - 1, -1, -1), -1)
            self.bound = max(self.bound, self._least())
            if n % 10 == 9:
                self._round()
                if self.cost - self.bound <= SLACK * self.cost or self.bound - last <= SLOW * self.cost:
                    return
                last = self.bound

    def _view(self, n: int, m: int) -> Matrix:
        """Return the costs of an edge, options of n by those of m; changes of it change the edge."""
        return self.edges[n, m] if n < m else self.edges[m, n].T

    def _pass(self, order: range, direction: int) -> None:
        for n in order:
            for m in self.near[n]:
                view = self._view(n, m)
                least = view.min(1)
                self.nodes[n] = self.nodes[n] + least
                view -= least[:, None]
            ahead = [m for m in self.near[n] if (m - n) * direction > 0]
            share = 1 / max(len(ahead), len(self.near[n]) - len(ahead), 1)
            for m in ahead:
                view = self._view(n, m)
                view += share * self.nodes[n][:, None]
            self.nodes[n] = self.nodes[n] * (1 - share * len(ahead))

    def _least(self) -> float:
        return float(sum(c.min() for c in self.nodes) + sum(m.min() for m in self.edges.values()))

    def _round(self) -> None:
        """Choose node after node by the moved costs, and descend from there."""
        choice: Choice = []
        for n in range(len(self.nodes)):
            total = self.nodes[n].copy()
            for m in self.near[n]:
                view = self._view(n, m)
                total = total + (view[:, choice[m]] if m < n else view.min(1))
            choice.append(int(total.argmin()))
        choice = descend(self.problem, choice)
        if (cost := self.problem.of(choice)) < self.cost:
            self.best, self.cost = choice, cost

    def possible(self) -> list[Kept]:
        """Return for each node the options that may be in a choice as good as the best one known."""
        bound, room = self._least(), SLACK * abs(self.cost)
        found = []
        for n, costs in enumerate(self.nodes):
            own = costs - costs.min()
            for m in self.near[n]:
                least = self._view(n, m).min(1)
                own = own + least - least.min()
            own[self.best[n]] = 0.0
            found.append(np.flatnonzero(bound + own <= self.cost + room))
        return found


def restricted(problem: Problem, kept: list[Kept]) -> Problem:
    """Return the problem with some options of each node."""
    edges = {(a, b): m[np.ix_(kept[a], kept[b])] for (a, b), m in problem.edges.items()}
    return Problem([c[k] for c, k in zip(problem.costs, kept, strict=True)], edges)
