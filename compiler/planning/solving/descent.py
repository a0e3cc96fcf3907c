"""Local search: from a choice by priorities, nodes and pairs of neighbours change as long as that helps.

First the choice propagates: the nodes whose options differ most (heavy operators) choose first, and what is next to
them follows, in both directions.
"""

from __future__ import annotations

import itertools

import numpy as np

from mlc.planning.solving.problem import FORBIDDEN, Choice, Matrix, Problem, Vector

Near = list[dict[int, Matrix]]


def descend(problem: Problem, start: Choice | None = None) -> Choice:
    """Return a choice that no change of one node, or of two neighbours together, improves. Limits are not considered:
    give the problem with prices."""
    near = problem.neighbours()
    choice = start or propagated(problem)
    value = problem.of(choice)
    while True:
        for n in range(len(choice)):
            choice[n] = int(_around(problem, near, choice, n).argmin())
        for a, b in problem.edges:
            _improve_pair(problem, near, choice, a, b)
        found = problem.of(choice)
        if found >= value - 1e-12 * abs(value):
            return choice
        value = found


def propagated(problem: Problem) -> Choice:
    """Return the choice by priorities: the next node is one beside a chosen one, the heaviest of them first."""
    near = problem.neighbours()
    weight = [float(np.ptp(np.minimum(c, FORBIDDEN / 1e3))) for c in problem.costs]
    choice = [-1] * len(problem.costs)
    for start in sorted(range(len(choice)), key=lambda n: -weight[n]):
        front = {start} if choice[start] < 0 else set()
        while front:
            n = max(front, key=lambda each: (weight[each], -each))
            choice[n] = int(_around(problem, near, choice, n).argmin())
            front = (front | {m for m in near[n] if choice[m] < 0}) - {n}
    return choice


def _around(problem: Problem, near: Near, choice: Choice, n: int, but: int = -1) -> Vector:
    """Return what each option of a node costs beside the options of its neighbours that are chosen."""
    total = problem.costs[n].copy()
    for m, matrix in near[n].items():
        if choice[m] >= 0 and m != but:
            total += matrix[:, choice[m]]
    return total


def _improve_pair(problem: Problem, near: Near, choice: Choice, a: int, b: int) -> None:
    left = _around(problem, near, choice, a, b)
    right = _around(problem, near, choice, b, a)
    table = left[:, None] + right[None, :] + near[a][b]
    i, j = np.unravel_index(int(table.argmin()), table.shape)
    if table[i, j] < table[choice[a], choice[b]]:
        choice[a], choice[b] = int(i), int(j)


def exhaustive(problem: Problem) -> tuple[Choice | None, float]:
    """Return the best of all choices that fit the limits, for tests of small problems."""
    best: tuple[Choice | None, float] = None, float("inf")
    for choice in itertools.product(*(range(len(c)) for c in problem.costs)):
        if (value := problem.of(choice)) < best[1] and value < FORBIDDEN / 2 and problem.fits(choice):
            best = list(choice), value
    return best
