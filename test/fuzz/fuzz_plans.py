"""Random problems of up to 7 nodes, and random programs of up to 7 operators: the search against every choice.

    python test/fuzz/fuzz_plans.py --count 500 --seed 1               # problems, half of them with a limit
    python test/fuzz/fuzz_plans.py --count 500 --seed 1 --programs    # programs on one or two axes
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

import mlc
import mlc.numpy as mnp
from mlc.comm.link import Link
from mlc.planning import Auto, Cluster, Level
from mlc.planning.solving.descent import exhaustive
from mlc.planning.solving.problem import FORBIDDEN, Limit, Problem
from mlc.planning.solving.solve import solve
from mlc.runtime import TensorSpec

WIDTH = 8
MOST = 200_000  # choices that are looked at until a program counts as too large


def problem_of(random: np.random.Generator) -> Problem:
    """A random graph: costs of equal and of different sizes, some pairs forbidden, maybe a limit."""
    made = Problem()
    for _ in range(random.integers(1, 8)):
        made.node(random.choice([0.0, 1e-6, 1e-3]) * random.integers(0, 20, size=random.integers(1, 5)))
    count = len(made.costs)
    for a in range(count):
        for b in range(a + 1, count):
            if random.random() < 0.6:
                matrix = 1e-4 * random.integers(0, 20, size=(len(made.costs[a]), len(made.costs[b]))).astype(float)
                matrix[random.random(matrix.shape) < 0.05] = FORBIDDEN
                made.edge(a, b, matrix)
    if random.random() < 0.5:
        weights = {n: random.integers(0, 9, size=len(c)).astype(float) for n, c in enumerate(made.costs)}
        made.limits.append(Limit(weights, float(random.integers(0, 4 * count))))
    return made


def wrong(problem: Problem) -> str | None:
    """Why the search is not the optimum; None if it is."""
    choice, best = exhaustive(problem)
    found = solve(problem)
    if found is None or choice is None:
        return None if found is None and choice is None else f"the search found {found}, the optimum is {best}"
    if abs(found.cost - best) > 1e-9 * max(best, 1e-3) or found.bound > best * (1 + 1e-6) + 1e-12:
        return f"the search found {found}, the optimum is {best}"
    return None if problem.fits(found.choice) else "it does not fit"


STEPS: dict[str, Callable[..., Any]] = {
    "product": lambda x, y: x @ y,
    "sum": lambda x, y: x + y,
    "times": lambda x, y: x * y,
    "tanh": lambda x, y: mnp.tanh(x),
    "transposed": lambda x, y: mnp.swapaxes(x, 0, 1),
    "softmax": lambda x, y: mlc.nn.softmax(x, axis=-1),
    "mean": lambda x, y: x - mnp.mean(x, axis=0),
}


def program_of(random: np.random.Generator) -> Callable[..., Any]:
    """A function of two matrices: some steps, each of values before it."""
    count = int(random.integers(1, 5))
    steps = [(str(random.choice(list(STEPS))), *random.integers(0, 2 + n, size=2)) for n in range(count)]

    def f(x: Any, y: Any) -> Any:
        values = [x, y]
        for name, a, b in steps:
            values.append(STEPS[name](values[a], values[b]))
        return values[-1]

    return f


def wrong_program(random: np.random.Generator) -> str | None:
    """Why a plan is not the best of all; None if it is, or the program has more than 7 operators."""
    axes = {"a": 2} if random.random() < 0.7 else {"a": 2, "b": 2}
    link = Link(float(random.choice([1e-9, 1e-6])), float(random.choice([1e-12, 1e-10])))
    auto = Auto(cluster=Cluster((Level(0, link),), 1e9, 1e9))
    type_ = TensorSpec(np.dtype("float32"), (WIDTH, WIDTH))
    found = mlc.jit(program_of(random), mesh=mlc.Mesh(**axes), shardings=auto).search(x=type_, y=type_)
    if len(found.building.graph.ops) > 7:
        return None
    better = below(found.building.problem, found.solution.cost * (1 - 1e-9))
    return None if better is None else f"cost {found.solution.cost}, and there is {better}"


def below(problem: Problem, cost: float) -> float | None:
    """The cost of a choice below ``cost``; None: all choices were looked at, and none is. A part of a choice is left
    when the least that it may cost is not below."""
    near = problem.neighbours()
    seen = 0

    def look(n: int, spent: float, ahead: list[Any]) -> float | None:
        nonlocal seen
        seen += 1
        if seen > MOST:
            raise OverflowError
        if n == len(ahead):
            return spent
        for option in np.argsort(ahead[n]):
            total = spent + float(ahead[n][option])
            later = [a + near[n][m][option] if m in near[n] else a for m, a in enumerate(ahead[n + 1 :], n + 1)]
            if total + sum(float(a.min()) for a in later) < cost:
                better = look(n + 1, total, [*ahead[: n + 1], *later])
                if better is not None:
                    return better
        return None

    return look(0, 0.0, list(problem.costs))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--programs", action="store_true")
    given = parser.parse_args()
    random = np.random.default_rng(given.seed)
    faults, large = 0, 0
    for n in range(given.count):
        try:
            why = wrong_program(random) if given.programs else wrong(problem_of(random))
        except OverflowError:
            large += 1
            continue
        if why:
            faults += 1
            print(f"{n}: {why}")
    what = "programs" if given.programs else "problems"
    print(f"{given.count} {what}: {given.count - faults - large} equal the optimum of all choices, {large} too large")
    raise SystemExit(bool(faults))


if __name__ == "__main__":
    main()
