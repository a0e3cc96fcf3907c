"""The solvers: a dense problem, and pipeline stages against every cut."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from mlc.errors import InputError
from mlc.planning.solving import program
from mlc.planning.solving.problem import Problem
from mlc.planning.solving.solve import solve
from mlc.planning.stages import one_forward_one_backward, stages


def test_a_dense_problem_needs_the_integer_program_and_has_a_proven_gap() -> None:
    random = np.random.default_rng()
    problem = Problem()
    for _ in range(9):
        problem.node(random.integers(0, 20, 4) * 1e-3)
    for a, b in itertools.combinations(range(9), 2):
        problem.edge(a, b, random.integers(0, 50, (4, 4)) * 1e-3)
    found = solve(problem)
    best = min(problem.of(choice) for choice in itertools.product(range(4), repeat=9)) if not program.is_there() else 0
    assert found is not None and found.gap <= 0.01 or not program.is_there()
    assert found is not None and found.cost >= best


def test_stages_have_the_least_bottleneck() -> None:
    random = np.random.default_rng()
    for _ in range(30):
        layers = int(random.integers(1, 9))
        count = int(random.integers(1, layers + 1))
        seconds, sends = random.random(layers), random.random(layers) / 3

        def slowest(cuts: tuple[int, ...]) -> float:
            bounds = [0, *cuts, len(seconds)]  # noqa: B023
            each = zip(bounds, bounds[1:], strict=False)
            return max(seconds[a:b].sum() + (sends[b - 1] if b < len(seconds) else 0) for a, b in each)  # noqa: B023

        best = min(map(slowest, itertools.combinations(range(1, layers), count - 1)))
        found = stages(list(seconds), count, list(sends))
        assert abs(found.bottleneck - best) < 1e-12 and abs(slowest(found.starts[1:]) - best) < 1e-12


def test_stages_fit_in_memory_with_the_micro_batches_that_1f1b_keeps() -> None:
    assert stages([3, 1, 1, 1], 2, held=[1, 1, 1, 1], saved=[1, 1, 1, 1], memory=8).starts == (0, 1)
    assert stages([1, 1, 1, 3], 2, held=[1, 1, 1, 1], saved=[1, 1, 1, 1], memory=6).starts == (0, 2)
    with pytest.raises(InputError, match="No cut into 2 stages fits in 3"):
        stages([1, 1, 1], 2, held=[2, 2, 2], memory=3)
    with pytest.raises(InputError, match="2 layers are no 3 stages"):
        stages([1, 1], 3)


@pytest.mark.parametrize("count, micro", [(1, 4), (2, 4), (4, 8), (4, 2), (8, 64)])
def test_the_bubble_of_1f1b(count: int, micro: int) -> None:
    """(p − 1) / m of the ideal time (Narayanan et al. 2021)."""
    step = one_forward_one_backward([1.0] * count, [2.0] * count, micro)
    assert step / (3.0 * micro) - 1 == pytest.approx((count - 1) / micro, rel=1e-12)
