"""Exact reduction: nodes of at most two neighbours are minimized out, options that others dominate are dropped.

Sources: Scholz and Eckstein 2002 (PBQP, rules R0 to R2); Goldstein 1994 (dominated options). The optimum of what is
left, the core, is that of the whole, and ``Reduction.restored`` gives the choice of all nodes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mlc.planning.solving.problem import FORBIDDEN, Choice, Matrix, Problem, Vector

MOST = 1 << 22  # elements of a table at a time
MANY = 64  # options of a node that are not compared with each other; bounds exclude them faster
Restore = Callable[[Choice], int]


class Reduction:
    """A problem without limits, and what is left of it. Choices are by the numbers of the problem's options."""

    def __init__(self, problem: Problem) -> None:
        self.costs: list[Vector] = [np.minimum(c, FORBIDDEN) for c in problem.costs]
        self.near = problem.neighbours()
        self.kept = [np.arange(len(c)) for c in problem.costs]
        self.left = set(range(len(self.costs)))
        self.constant = 0.0
        self.stack: list[tuple[int, Restore]] = []
        self._run()

    def core(self) -> tuple[Problem, list[int]]:
        """Return what is left, and its nodes."""
        nodes = sorted(self.left)
        number = {n: k for k, n in enumerate(nodes)}
        edges = {(number[n], number[m]): x for n in nodes for m, x in self.near[n].items() if n < m}
        return Problem([self.costs[n] for n in nodes], edges), nodes

    def restored(self, core: Choice) -> Choice:
        """Return the choice of all nodes from that of the core."""
        choice = [0] * len(self.costs)
        for n, option in zip(sorted(self.left), core, strict=True):
            choice[n] = int(self.kept[n][option])
        for n, restore in reversed(self.stack):
            choice[n] = restore(choice)
        return choice

    def _run(self) -> None:
        self._eliminate()
        changed = set(self.left)
        while changed:
            found = {n for n in sorted(changed) if n in self.left and self._drop_dominated(n)}
            changed = {m for n in found for m in self.near[n]} | found
            self._eliminate()

    def _eliminate(self) -> None:
        queue = sorted(self.left, key=lambda n: -len(self.near[n]))
        while queue:
            n = queue.pop()
            if n in self.left and (len(self.near[n]) <= 2 or len(self.costs[n]) == 1):
                around = list(self.near[n].items())
                self.left.remove(n)
                self._minimize_out(n, around)
                for m, _ in around:
                    del self.near[m][n]
                queue.extend(m for m, _ in around)
                self.near[n] = {}

    def _minimize_out(self, n: int, around: list[tuple[int, Matrix]]) -> None:
        match around:
            case _ if len(self.costs[n]) == 1:
                for m, matrix in around:
                    self.costs[m] = np.minimum(self.costs[m] + matrix[0], FORBIDDEN)
                self._settle(n)
            case []:
                self._settle(n)
            case [(m, matrix)]:
                self._fold(n, m, matrix)
            case [(a, left), (b, right)]:
                self._bridge(n, a, left, b, right)

    def _settle(self, n: int) -> None:
        best = int(self.costs[n].argmin())
        self.constant += float(self.costs[n][best])
        option = int(self.kept[n][best])
        self.stack.append((n, lambda choice: option))

    def _fold(self, n: int, m: int, matrix: Matrix) -> None:
        table = self.costs[n][:, None] + matrix
        self.costs[m] = np.minimum(self.costs[m] + table.min(0), FORBIDDEN)
        best = dict(zip(self.kept[m].tolist(), self.kept[n][table.argmin(0)].tolist(), strict=True))
        self.stack.append((n, lambda choice: best[choice[m]]))

    def _bridge(self, n: int, a: int, left: Matrix, b: int, right: Matrix) -> None:
        rows, row_of = np.unique(left, axis=1, return_inverse=True)
        columns, column_of = np.unique(right, axis=1, return_inverse=True)
        least = np.empty((rows.shape[1], columns.shape[1]))
        best = np.empty(least.shape, np.int64)
        for i in range(len(least)):
            table = (self.costs[n] + rows[:, i])[:, None] + columns
            best[i], least[i] = self.kept[n][table.argmin(0)], table.min(0)
        made = np.minimum(least[np.ix_(row_of, column_of)] + self.near[a].get(b, 0.0), FORBIDDEN)
        self.near[a][b], self.near[b][a] = made, made.T
        row = dict(zip(self.kept[a].tolist(), row_of.tolist(), strict=True))
        column = dict(zip(self.kept[b].tolist(), column_of.tolist(), strict=True))
        self.stack.append((n, lambda choice: int(best[row[choice[a]], column[choice[b]]])))

    def _drop_dominated(self, n: int) -> bool:
        """Drop the options that another is never dearer than, whatever the neighbours choose."""
        if not 1 < len(self.costs[n]) <= MANY:
            return False
        over = self.costs[n][None, :] - self.costs[n][:, None]  # [i, j]: by how much j may be dearer than i
        for matrix in self.near[n].values():
            over = over + _most_over(matrix)
        below = over <= 0
        first = np.tri(len(below), k=-1, dtype=bool)  # of options that are alike the first stays
        gone = (below & (~below.T | first)).any(1)
        if gone.any():
            stay = np.flatnonzero(~gone)
            self.costs[n], self.kept[n] = self.costs[n][stay], self.kept[n][stay]
            for m in self.near[n]:
                self.near[n][m] = self.near[n][m][stay]
                self.near[m][n] = self.near[n][m].T
        return bool(gone.any())


def _most_over(matrix: Matrix) -> Matrix:
    """Return for options i and j the most by which row j is over row i."""
    rows, row_of = np.unique(np.unique(matrix, axis=1), axis=0, return_inverse=True)
    step = max(1, MOST // rows.size)
    parts = [(rows[None, :, :] - rows[i : i + step, None, :]).max(2) for i in range(0, len(rows), step)]
    return np.concatenate(parts)[np.ix_(row_of, row_of)]
