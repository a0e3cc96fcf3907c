"""Whether plans are as fast in the order that the cost model says: ten plans of a step on two ranks.

    mpiexec -n 2 python -m benchmarks.plan_order              # a perceptron
    mpiexec -n 2 python -m benchmarks.plan_order transformer

Links are measured first, and the share of the peak that products reach from one plan, in which both ranks compute all.
Steps are measured in rounds, one of each plan, and the medians are compared (Kendall's tau).
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
from mlc.comm.link import Link, measured
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


def seconds(step: Callable[..., Any], plans: Sequence[Search], w: Any, x: Any, rounds: int) -> list[float]:
    """The median of the seconds of a step by each plan."""
    mesh = mlc.Mesh(**{MESH: comm.current().ranks})
    runs = [mlc.jit(step, mesh=mesh, shardings=Plan(written(p)), results="auto", threads=1) for p in plans]
    states = [run(w, x)[1] for run in runs]
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(rounds):
        for n, run in enumerate(runs):
            begin = time.perf_counter()
            _, states[n] = run(states[n], x)
            times[n].append(time.perf_counter() - begin)
    return [median(each) for each in times]


def of_rank_0(*numbers: float) -> list[float]:
    """The numbers that rank 0 has: ranks that search by other numbers would have other plans."""
    return [float(n) for n in np.asarray(comm.broadcast(np.array(numbers, np.float64), 0))]


def tau(a: Sequence[float], b: Sequence[float], close: float = 0.02) -> float:
    """Kendall's tau; pairs that the model holds for equal, within a share, are left out."""
    pairs = [(a[i] - a[j], b[i] - b[j]) for i, j in combinations(range(len(a)), 2) if abs(a[i] / a[j] - 1) > close]
    return sum(1 if p * q > 0 else -1 for p, q in pairs) / max(len(pairs), 1)


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
    (took,) = of_rank_0(*seconds(step, [alone], w, x, given.rounds))
    cluster = replace(cluster, efficiency=alone.usage.step / took)
    plans = plans_of(step, w, x, cluster)
    found = seconds(step, [p for _, p in plans], w, x, given.rounds)
    if comm.current().rank == 0:
        rate = f"{1e-9 / link.beta:.2g} GB/s" if link.beta else "no time for a byte"
        share = f"products at {cluster.efficiency:.0%} of the peak"
        print(f"{given.model}: links {link.alpha * 1e6:.0f} us, {rate}; {share}")
        for (name, plan), measured_ in sorted(zip(plans, found, strict=True), key=lambda each: each[0][1].usage.step):
            print(f"  {name:36} predicted {plan.usage.step * 1e3:8.2f} ms, measured {measured_ * 1e3:8.2f} ms")
        said = [p.usage.step for _, p in plans]
        print(f"Kendall's tau {tau(said, found, 0.0):.2f}; without pairs that are predicted within 2 % of each other "
              f"{tau(said, found):.2f}")  # fmt: skip


if __name__ == "__main__":
    main()
