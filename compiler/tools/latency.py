"""Latency and throughput of a loaded model: single runs one after another, and several callers at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

Run = Callable[[Mapping[str, Any]], Any]
QUANTILES = {"min": 0.0, "median": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "max": 1.0}
LEAST_RUNS = 5
DISTURBED = 3


def latencies(run: Run, inputs: Mapping[str, Any], seconds: float, iterations: int | None = None) -> list[float]:
    """Seconds of single runs, in order: ``iterations`` of them, else for ``seconds`` and at least ``LEAST_RUNS``."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < iterations if iterations else len(times) < LEAST_RUNS or time.perf_counter() < end:
        start = time.perf_counter()
        run(inputs)
        times.append(time.perf_counter() - start)
    return times


def percentiles(times: Sequence[float]) -> dict[str, float]:
    """Name -> seconds of the distribution, with its mean."""
    ordered = sorted(times)
    found = {name: ordered[min(len(ordered) - 1, int(q * len(ordered)))] for name, q in QUANTILES.items()}
    return found | {"mean": sum(ordered) / len(ordered)}


def disturbance(times: Sequence[float]) -> str | None:
    """A warning that other programs use the CPUs, which shows in a median over ``DISTURBED`` times the minimum."""
    found = percentiles(times)
    if found["median"] <= DISTURBED * found["min"]:
        return None
    ratio = f"the median is {found['median'] / found['min']:.1f} times the least"
    return f"other programs use the CPUs: {ratio}; measure again when they rest, or compare the least"


def summary(times: Sequence[float]) -> str:
    """One line: ``min 0.421 ms, median 0.430 ms, …, mean 0.433 ms (6900 runs)``."""
    parts = (f"{name} {1e3 * value:.3f} ms" for name, value in percentiles(times).items())
    return f"{', '.join(parts)} ({len(times)} runs)"


def throughput(runs: Sequence[Run], inputs: Mapping[str, Any], seconds: float) -> float:
    """Runs a second of all callers together, each of which calls its own model again and again."""
    with ThreadPoolExecutor(len(runs)) as pool:
        start = time.perf_counter()
        counts = list(pool.map(lambda run: len(latencies(run, inputs, seconds)), runs))
        return sum(counts) / (time.perf_counter() - start)
