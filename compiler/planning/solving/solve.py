"""Search: exact reduction, bounds, the integer program of what is left, prices for limits, and the proven gap."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Literal

from mlc.planning.solving import program
from mlc.planning.solving.bounds import Bounds, restricted
from mlc.planning.solving.problem import FORBIDDEN, Choice, Problem
from mlc.planning.solving.reduction import Reduction

Solver = Literal["auto", "ilp", "descent"]
CLOSE = 0.01
"""The gap at which the search with prices ends, and no integer program of the whole is needed."""
EQUAL = 1e-9
"""The gap at which a choice counts as the best."""
NEAR = 1e-3
"""The gap at which the search for a price of a large problem ends."""
STEPS = 14  # of the search for a price


@dataclass(frozen=True)
class Solution:
    """A choice with its cost, a lower bound of all choices (-inf: none is known), and how it was found."""

    choice: Choice
    cost: float
    bound: float
    how: str

    @property
    def gap(self) -> float:
        """The share of the cost that a better choice could save."""
        return max(self.cost - self.bound, 0.0) / self.cost if self.cost > 0 else 0.0


def solve(problem: Problem, seconds: float = 20.0, solver: Solver = "auto") -> Solution | None:
    """Return the best choice that was found within the limits; None: there is none, or none was found."""
    end = time.monotonic() + seconds
    exact = solver == "ilp" or (solver == "auto" and program.is_there())
    first = _without_limits(Problem(problem.costs, problem.edges), end, exact)
    if first is None or problem.fits(first.choice):
        return first
    best, bound = _with_prices(problem, first, end, exact)
    found = None if best is None else Solution(best, problem.of(best), bound, f"{first.how}, a price for memory")
    if exact and (found is None or found.gap > (EQUAL if _is_small(problem) else CLOSE)):
        found = _better(found, _whole(problem, bound, end))
    return found


def _is_small(problem: Problem) -> bool:
    return sum(m.size for m in problem.edges.values()) < 20_000


def _without_limits(priced: Problem, end: float, exact: bool) -> Solution | None:
    """Return the best choice of a problem without limits."""
    reduction = Reduction(priced)
    core, nodes = reduction.core()
    found = _of_core(core, end, exact) if nodes else Solution([], 0.0, 0.0, "reduced exactly")
    whole = reduction.restored(found.choice)
    cost = priced.of(whole)
    if cost >= FORBIDDEN / 2:
        return None
    return Solution(whole, cost, min(found.bound + reduction.constant, cost), found.how)


def _of_core(core: Problem, end: float, exact: bool) -> Solution:
    """Return the best choice of what cannot be reduced: bounds, then the integer program of the options they leave."""
    bounds = Bounds(core)
    bounds.improve()
    how = f"{len(core.costs)} choices left by reduction, "
    found = Solution(bounds.best, bounds.cost, min(bounds.bound, bounds.cost), how + "bounded by message passing")
    if found.gap <= EQUAL or not exact:
        return found
    kept = bounds.possible()
    reduction = Reduction(restricted(core, kept))
    left, nodes = reduction.core()
    solved = program.solve(left, end - time.monotonic()) if nodes else None
    how += "reduced exactly" if solved is None else "relaxed to the optimum" if solved.integral else "integer program"
    if solved is not None and solved.choice is None:
        return replace(found, bound=min(max(found.bound, solved.bound + reduction.constant), found.cost), how=how)
    options = reduction.restored([] if solved is None or solved.choice is None else solved.choice)
    choice = [int(k[i]) for k, i in zip(kept, options, strict=True)]
    bound = reduction.constant + (0.0 if solved is None else solved.bound)
    return _better(found, Solution(choice, core.of(choice), min(bound, core.of(choice)), how)) or found


def _with_prices(problem: Problem, first: Solution, end: float, exact: bool) -> tuple[Choice | None, float]:
    """Return the best choice that fits, and a bound, by a search for the price of what limits weigh (Lagrangian
    relaxation)."""
    best, bound, enough = None, first.bound, EQUAL if _is_small(problem) else NEAR
    low, high = 0.0, 0.0
    scale = [(first.cost or 1e-6) / (limit.most or 1.0) for limit in problem.limits]
    for step in range(STEPS):
        price = 1.0 if step == 0 else high * 8 if best is None else (low + high) / 2
        prices = [price * s for s in scale]
        found = _without_limits(problem.priced(prices), end, exact)
        if found is None or (time.monotonic() > end and best is not None):
            break
        bound = max(bound, found.bound - sum(p * each.most for p, each in zip(prices, problem.limits, strict=True)))
        if problem.fits(found.choice):
            high = price
            if best is None or problem.of(found.choice) < problem.of(best):
                best = found.choice
        else:
            low, high = price, high if best is not None else price
        if best is not None and problem.of(best) - bound <= enough * problem.of(best):
            break
    return best, bound


def _whole(problem: Problem, bound: float, end: float) -> Solution | None:
    found = program.solve(problem, end - time.monotonic())
    if found.choice is None or not problem.fits(found.choice) or problem.of(found.choice) >= FORBIDDEN / 2:
        return None
    cost = problem.of(found.choice)
    how = f"{'relaxation' if found.integral else 'integer program'} of all {len(problem.costs)} nodes"
    return Solution(found.choice, cost, min(max(found.bound, bound), cost), how)


def _better(first: Solution | None, second: Solution | None) -> Solution | None:
    if first is None or second is None:
        return first or second
    best = min(first, second, key=lambda each: each.cost)
    return replace(best, bound=min(max(first.bound, second.bound), best.cost))
