"""A sample of the plans that ``fuzz_plans.py`` compares with every choice."""

from __future__ import annotations

import numpy as np
import pytest
from fuzz_plans import problem_of, wrong, wrong_program

from mlc.planning.solving import program
from mlc.planning.solving.descent import exhaustive
from mlc.planning.solving.solve import solve


def test_the_search_finds_the_optimum_of_all_choices() -> None:
    if not program.is_there():
        pytest.skip("pip install 'mlc[plan]'")
    random = np.random.default_rng()
    for _ in range(20):
        assert (why := wrong(problem_of(random))) is None, why


def test_the_plan_of_a_program_is_the_best_of_all() -> None:
    random = np.random.default_rng()
    for _ in range(5):
        assert (why := wrong_program(random)) is None, why


@pytest.mark.parametrize("solver", ["ilp", "descent"])
def test_a_bound_is_below_the_optimum_without_a_solver_too(solver: str) -> None:
    if solver == "ilp" and not program.is_there():
        pytest.skip("pip install 'mlc[plan]'")
    random = np.random.default_rng()
    for _ in range(20):
        problem = problem_of(random)
        problem.limits.clear()
        found, (_, best) = solve(problem, solver=solver), exhaustive(problem)  # type: ignore[arg-type]
        assert (found is None) == (best == float("inf"))
        assert found is None or found.bound <= best * (1 + 1e-9) <= found.cost * (1 + 1e-6) + 1e-12
