"""The integer program of a problem by HiGHS, through SciPy: one variable an option, one a pair of options of an edge.

    x[n, i] = 1: node n takes option i        Σ_i x[n, i] = 1
    e[a, i, b, j] ≥ 0                         Σ_j e[a, i, b, j] = x[a, i],  Σ_i e[a, i, b, j] = x[b, j]

Options whose row of an edge is equal share its variables. Source: Zheng et al. 2022 (Alpa), whose formulation this is.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlc.planning.solving.problem import FORBIDDEN, Choice, Problem


@dataclass(frozen=True)
class Found:
    """A choice (None: none was found in time) and a lower bound; ``integral``: the relaxation gave it."""

    choice: Choice | None
    bound: float
    integral: bool


def is_there() -> bool:
    """Return whether SciPy, which has HiGHS, is installed."""
    return importlib.util.find_spec("scipy") is not None


class _Columns:
    """Columns, rows and coefficients while they are gathered."""

    def __init__(self) -> None:
        self.costs: list[float] = []
        self.upper: list[float] = []
        self.rows: list[tuple[int, int, float]] = []
        self.bounds: list[tuple[float, float]] = []

    def column(self, cost: float) -> int:
        self.costs.append(0.0 if cost >= FORBIDDEN / 2 else cost)
        self.upper.append(0.0 if cost >= FORBIDDEN / 2 else 1.0)
        return len(self.costs) - 1

    def row(self, terms: list[tuple[int, float]], low: float, high: float) -> None:
        self.rows += [(len(self.bounds), column, value) for column, value in terms]
        self.bounds.append((low, high))


def solve(problem: Problem, seconds: float, gap: float = 1e-9) -> Found:
    """Solve the relaxation, and the integer program if its solution has fractions."""
    made, options = _built(problem)
    unit = max([abs(c) for c in made.costs] or [1.0]) or 1.0  # costs of about 1: tolerances are absolute
    first = _run(made, unit, 0, seconds, gap)
    if first.x is None:
        return Found(None, float("inf") if first.status == 2 else -float("inf"), True)
    fractions = max((min(x, 1 - x) for columns in options for x in first.x[columns]), default=0.0)
    if fractions < 1e-6:
        return Found(_choice(options, first.x), first.fun * unit, True)
    second = _run(made, unit, sum(map(len, options)), seconds, gap)
    bound = max(first.fun, second.mip_dual_bound if second.mip_dual_bound is not None else first.fun) * unit
    return Found(None if second.x is None else _choice(options, second.x), bound, False)


def _built(problem: Problem) -> tuple[_Columns, list[list[int]]]:
    made = _Columns()
    options = [[made.column(float(c)) for c in costs] for costs in problem.costs]
    for columns in options:
        made.row([(column, 1.0) for column in columns], 1, 1)
    pairs_of: dict[tuple[int, int], Any] = {}
    for (a, b), matrix in problem.edges.items():
        whole = any((a, b) in limit.pairs for limit in problem.limits)
        pairs_of[a, b] = _edge(made, options[a], options[b], matrix, whole)
    for limit in problem.limits:
        scale = limit.most or 1.0
        terms = [(options[n][i], float(w) / scale) for n, ws in limit.weights.items() for i, w in enumerate(ws) if w]
        for key, pairs in limit.pairs.items():
            terms += [(int(c), float(w) / scale) for c, w in zip(pairs_of[key].flat, pairs.flat, strict=True) if w]
        made.row(terms, -np.inf, limit.most / scale)
    return made, options


def _edge(made: _Columns, first: list[int], second: list[int], matrix: Any, whole: bool) -> Any:
    """Add the columns and rows of an edge and return its columns; ``whole``: one for every pair."""
    rows, row_of = (matrix, np.arange(len(first))) if whole else np.unique(matrix, axis=0, return_inverse=True)
    small, column_of = (rows, np.arange(len(second))) if whole else np.unique(rows, axis=1, return_inverse=True)
    pairs = np.array([[made.column(float(c)) for c in row] for row in small])
    for k, row in enumerate(pairs):
        chosen = [(first[i], -1.0) for i in np.flatnonzero(row_of == k)]
        made.row([(int(c), 1.0) for c in row] + chosen, 0, 0)
    for k, column in enumerate(pairs.T):
        chosen = [(second[j], -1.0) for j in np.flatnonzero(column_of == k)]
        made.row([(int(c), 1.0) for c in column] + chosen, 0, 0)
    return pairs


def _run(made: _Columns, unit: float, integers: int, seconds: float, gap: float) -> Any:
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    at = np.array([(r, c) for r, c, _ in made.rows]).T
    shape = len(made.bounds), len(made.costs)
    matrix = csr_array((np.array([v for *_, v in made.rows]), (at[0], at[1])), shape=shape)
    low, high = np.array(made.bounds).T
    kinds = np.r_[np.ones(integers), np.zeros(len(made.costs) - integers)]
    return milp(np.array(made.costs) / unit, integrality=kinds, bounds=Bounds(0, np.array(made.upper)),
                constraints=LinearConstraint(matrix, low, high),
                options={"time_limit": max(seconds, 0.1), "mip_rel_gap": gap})  # fmt: skip


def _choice(options: list[list[int]], x: Any) -> Choice:
    return [int(np.argmax(x[columns])) for columns in options]
