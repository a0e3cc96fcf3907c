"""Two variants of a model in turn (A B A B …), kernel by kernel.

Times are taken inside whole runs: what a kernel finds in the caches is what it will find in use.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from statistics import median, quantiles
from typing import Any

from mlc.runtime import Model

TURN = 0.002  # seconds at least: of a small model there are many runs, as the first of them meets threads that sleep
RUNS = 3  # in a turn at least: the fastest of them had its CPU to itself
LEAST_PAIRS = 6
MARGIN = 0.03  # of its time is what a schedule has to save, by the median of the pairs
MODEL = ""  # the name under which all kernels together are measured

Times = Mapping[str, float]


def turn(net: Model, inputs: Mapping[str, Any], seconds: float = TURN) -> Times:
    """Nanoseconds of each kernel and of the model: for each launch the fastest of the runs of a turn, summed."""
    runs: list[list[int]] = []
    end = time.perf_counter() + seconds
    while len(runs) < RUNS or time.perf_counter() < end:
        runs.append([nanoseconds for _, nanoseconds in net.profile(**inputs)])
    times: Counter[str] = Counter()
    for kernel, *launch in zip(net.signature["kernels"], *runs, strict=True):
        times[kernel["name"]] += min(launch)
        times[MODEL] += min(launch)
    return dict(times)


def pairs(a: Model, b: Model, inputs: Mapping[str, Any], seconds: float) -> Iterator[Times]:
    """How long each kernel of ``b`` takes, as a multiple of the same kernel of ``a`` just before."""
    end, count = time.perf_counter() + seconds, 0
    while count < LEAST_PAIRS or time.perf_counter() < end:
        first, second = turn(a, inputs), turn(b, inputs)
        yield {name: second[name] / max(first[name], 1) for name in first}
        count += 1


def gain(ratios: list[float]) -> float:
    """The share of the time saved, by the median; 0 if that is within the margin, or twice the median's own error."""
    saved, (low, _, high) = 1 - median(ratios), quantiles(ratios, n=4)
    error = 0.93 * (high - low) / len(ratios) ** 0.5
    return saved if saved > max(MARGIN, 2 * error) else 0.0
