"""Whether plans are as fast in the order that the cost model says: ten plans of a step on two ranks.

    mpiexec -n 2 python -m benchmarks.plan_order              # a perceptron
    mpiexec -n 2 python -m benchmarks.plan_order transformer

Links are measured first, and the share of the peak that products reach from one plan, in which both ranks compute all.
Steps are measured in rounds, one of each plan, and the medians are compared (Kendall's tau-b). Two plans tie in the
model if they are predicted within 2 % of each other, and in the measurement if neither is faster in three quarters of
the rounds: then the noise of the machine is larger than their difference.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from statistics import median
from typing import Any

import numpy as np

import mlc
import mlc.numpy as mnp
from benchmarks.plans import Size, block, block_types
from mlc import P, comm, target
from mlc.comm.link import Link
from mlc.comm.measure import measured
from mlc.planning import Auto, Cluster, Level, Plan
from mlc.planning.cluster import default
from mlc.planning.search import Search
from mlc.planning.written import written

MESH = "r"
TRANSFORMER = Size(hidden=256, heads=8, batch=4, tokens=128)


def perceptron(w: Any, x: Any) -> Any:
    return mnp.tanh(x @ w["up"]) @ w["down"]


def transformer(w: Any, x: Any) -> Any:
    return block(x, w, TRANSFORMER)


def step_of(f: Callable[..., Any]) -> Callable[..., Any]:
    def step(w: Any, x: Any) -> Any:
        value, gradient = mlc.value_and_grad(lambda w: mnp.mean(f(w, x) ** 2))(w)
        return value, mlc.tree_map(lambda a, g: a - 1e-3 * g, w, gradient)

    return step


def draw(types: Any) -> Any:
    random = np.random.default_rng(0)
    return mlc.tree_map(lambda each: (random.normal(size=each.shape) / 20).astype("float32"), types)


def arguments(name: str) -> tuple[Callable[..., Any], Any, Any]:
    if name == "perceptron":
        w = {"up": np.zeros((512, 2048)), "down": np.zeros((2048, 512))}
        return perceptron, draw(w), draw(np.zeros((512, 512)))
    return transformer, draw(block_types(TRANSFORMER)), draw(np.zeros((4, 128, 256)))


def products(found: Search) -> list[int]:
    return [n for n, op in enumerate(found.building.graph.ops) if op.name == "graph.contract"]


def plans_of(step: Callable[..., Any], w: Any, x: Any, cluster: Cluster) -> list[tuple[str, Search]]:
    """Ten plans: parallel in data, weights in parts, columns and rows, and products that both ranks compute."""
    mesh = mlc.Mesh(**{MESH: comm.current().ranks})

    def search(fixed: dict[str, Any], lines: Sequence[str] = ()) -> Search:
        auto = Auto(cluster=cluster, fixed=fixed, given="\n".join(lines))
        found: Search = mlc.jit(step, mesh=mesh, shardings=auto, results="auto", threads=1).search(w, x)
        return found

    data, whole = P(MESH), {"w": P(), "x": P()}
    first = search({"w": P(), "x": data})
    at = products(first)
    both = [f"operator {n} graph.contract | {MESH}: whole, whole -> whole" for n in at]
    some = [len(at) * k // 4 for k in (1, 2, 3)]
    found = [("data parallel", first), ("each rank all", search(whole, both))]
    found += [(f"data parallel, {n} products twice", search({"w": P(), "x": data}, both[:n])) for n in some]
    found += [("weights in rows", search({"w": data, "x": data})), ("weights in columns", search({"w": P(None, MESH)
               if len(at) < 9 else data, "x": P()}))]  # fmt: skip
    found += [("features", search({"w": P(), "x": P(*[None] * (x.ndim - 1), MESH)})),
              ("features, half twice", search({"w": P(), "x": P(*[None] * (x.ndim - 1), MESH)}, both[-some[1] :])),
              ("free", search({}))]  # fmt: skip
    return found


def seconds(step: Callable[..., Any], plans: Sequence[Search], w: Any, x: Any, rounds: int) -> list[list[float]]:
    """The seconds of a step by each plan, in each round."""
    mesh = mlc.Mesh(**{MESH: comm.current().ranks})
    runs = [mlc.jit(step, mesh=mesh, shardings=Plan(written(p)), results="auto", threads=1) for p in plans]
    states = [run(w, x)[1] for run in runs]
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(rounds):
        for n, run in enumerate(runs):
            begin = time.perf_counter()
            _, states[n] = run(states[n], x)
            times[n].append(time.perf_counter() - begin)
    return times


def of_rank_0(*numbers: float) -> list[float]:
    """The numbers that rank 0 has: ranks that search by other numbers would have other plans."""
    return [float(n) for n in np.asarray(comm.broadcast(np.array(numbers, np.float64), 0))]


def tau(said: Sequence[float], rounds: Sequence[Sequence[float]], close: float = 0.02) -> tuple[float, int, int, int]:
    """Kendall's tau-b, and the pairs, those that tie in the model, and those that tie in the measurement."""
    pairs = list(combinations(range(len(said)), 2))
    model = [0 if abs(said[i] / said[j] - 1) <= close else _sign(said[i] - said[j]) for i, j in pairs]
    clock = [_faster(rounds[i], rounds[j]) for i, j in pairs]
    both = sum(a * b for a, b in zip(model, clock, strict=True))
    untied = sum(map(abs, model)) * sum(map(abs, clock))
    return both / max(untied, 1) ** 0.5, len(pairs), model.count(0), clock.count(0)


def _sign(x: float) -> int:
    return (x > 0) - (x < 0)


def _faster(a: Sequence[float], b: Sequence[float], share: float = 0.75) -> int:
    """-1: a is faster in so many of the rounds, 1: b; 0: neither."""
    wins = sum(p < q for p, q in zip(a, b, strict=True)) / len(a)
    return -1 if wins >= share else 1 if wins <= 1 - share else 0


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model", nargs="?", default="perceptron", choices=["perceptron", "transformer"])
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    f, w, x = arguments(given.model)
    step = step_of(f)
    fitted = Link.fit(measured((1 << 13, 1 << 16, 1 << 20, 1 << 22), 15))
    link = Link(*of_rank_0(fitted.alpha, fitted.beta))
    cluster = replace(default(target.get("cpu")), levels=(Level(0, link),))
    alone = plans_of(step, w, x, cluster)[1][1]
    (took,) = of_rank_0(median(seconds(step, [alone], w, x, given.rounds)[0]))
    cluster = replace(cluster, efficiency=alone.usage.step / took)
    plans = plans_of(step, w, x, cluster)
    found = seconds(step, [p for _, p in plans], w, x, given.rounds)
    if comm.current().rank == 0:
        rate = f"{1e-9 / link.beta:.2g} GB/s" if link.beta else "no time for a byte"
        share = f"products at {cluster.efficiency:.0%} of the peak"
        print(f"{given.model}: links {link.alpha * 1e6:.0f} us, {rate}; {share}")
        for (name, plan), times in sorted(zip(plans, found, strict=True), key=lambda each: each[0][1].usage.step):
            low, middle, high = (1e3 * float(q) for q in np.quantile(times, (0.25, 0.5, 0.75)))
            predicted = f"predicted {plan.usage.step * 1e3:8.2f} ms"
            print(f"  {name:36} {predicted}, measured {middle:8.2f} ms ({low:.0f} to {high:.0f})")
        b, pairs, by_model, by_clock = tau([p.usage.step for _, p in plans], found)
        print(f"Kendall's tau-b {b:.2f} of {pairs} pairs: {by_model} tie in the model, {by_clock} in the measurement")


if __name__ == "__main__":
    main()
