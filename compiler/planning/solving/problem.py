"""A choice of one option for each node, by costs of options and of pairs of options (PBQP), and limits of weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Choice = list[int]
FORBIDDEN = 1e6
"""The cost of what may not be; all other costs together are far below it."""


@dataclass(frozen=True)
class Limit:
    """The weights of the options of some nodes, and of ``pairs`` that have an edge, may add up to ``most``."""

    weights: dict[int, Vector]
    most: float
    pairs: dict[tuple[int, int], Matrix] = field(default_factory=dict)

    def of(self, choice: Sequence[int]) -> float:
        pairs = sum(w[choice[a], choice[b]] for (a, b), w in self.pairs.items())
        return float(sum(w[choice[n]] for n, w in self.weights.items()) + pairs)


@dataclass
class Problem:
    """``costs[n][i]``: of option i of node n; ``edges[a, b][i, j]`` with a < b: of options i and j together."""

    costs: list[Vector] = field(default_factory=list)
    edges: dict[tuple[int, int], Matrix] = field(default_factory=dict)
    limits: list[Limit] = field(default_factory=list)

    def node(self, costs: Sequence[float] | Vector) -> int:
        """Add a node and return its number."""
        self.costs.append(np.asarray(costs, float))
        return len(self.costs) - 1

    def edge(self, a: int, b: int, costs: Matrix) -> None:
        """Add the costs of pairs; of a node with itself, those of its options."""
        if a == b:
            self.costs[a] = self.costs[a] + np.diagonal(costs)
            return
        key, matrix = ((a, b), costs) if a < b else ((b, a), costs.T)
        self.edges[key] = self.edges[key] + matrix if key in self.edges else matrix

    def of(self, choice: Sequence[int]) -> float:
        """Return the cost of a choice."""
        total = sum(c[i] for c, i in zip(self.costs, choice, strict=True))
        return float(total + sum(m[choice[a], choice[b]] for (a, b), m in self.edges.items()))

    def fits(self, choice: Sequence[int]) -> bool:
        return all(limit.of(choice) <= limit.most * (1 + 1e-9) for limit in self.limits)

    def priced(self, prices: Sequence[float]) -> Problem:
        """Return the problem without limits in which each weight has a price (Lagrangian relaxation)."""
        costs, edges = [c.copy() for c in self.costs], dict(self.edges)
        for price, limit in zip(prices, self.limits, strict=True):
            for n, w in limit.weights.items():
                costs[n] += price * w
            for key, pairs in limit.pairs.items():
                edges[key] = edges[key] + price * pairs
        return Problem(costs, edges)

    def neighbours(self) -> list[dict[int, Matrix]]:
        """Return for each node its edges, as matrices of its options by those of the neighbour."""
        found: list[dict[int, Matrix]] = [{} for _ in self.costs]
        for (a, b), m in self.edges.items():
            found[a][b], found[b][a] = m, m.T
        return found
