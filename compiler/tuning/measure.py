"""Paired samples of two variants of a model (A B A B …), for each kernel.

Times are taken inside whole runs: what a kernel finds in the caches is what it will find in use.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from statistics import median, quantiles
from typing import Any

from mlc.runtime import Model

SAMPLE_SECONDS = 0.002  # at least: a small model runs often, because its first run must wake threads
SAMPLE_RUNS = 3  # at least: the fastest run is the one that was not interrupted
LEAST_PAIRS = 6
MARGIN = 0.03  # the share of the time that a schedule must save, by the median of the pairs
MODEL = ""  # the name for the sum of all kernels

Times = Mapping[str, float]
Group = Callable[[str], str]


def sample(net: Model, inputs: Mapping[str, Any], seconds: float = SAMPLE_SECONDS, group: Group = str) -> Times:
    """Nanoseconds of each group of kernels and of the model: the sum, over launches, of the fastest run. ``group``: the
    name of a kernel's group, by default its own."""
    runs: list[list[int]] = []
    end = time.perf_counter() + seconds
    while len(runs) < SAMPLE_RUNS or time.perf_counter() < end:
        runs.append([nanoseconds for _, nanoseconds in net.profile(**inputs)])
    times: Counter[str] = Counter()
    for kernel, *launch in zip(net.signature["kernels"], *runs, strict=True):
        times[group(kernel["name"])] += min(launch)
        times[MODEL] += min(launch)
    return dict(times)


def pairs(a: Model, b: Model, inputs: Mapping[str, Any], seconds: float, group: Group = str) -> Iterator[Times]:
    """For each group of kernels, its time in ``b`` as a multiple of its time in ``a`` just before."""
    end, count = time.perf_counter() + seconds, 0
    while count < LEAST_PAIRS or time.perf_counter() < end:
        first, second = (sample(net, inputs, group=group) for net in (a, b))
        yield {name: second[name] / max(first[name], 1) for name in first}
        count += 1


def ratios_of(
    a: Model, b: Model, inputs: Mapping[str, Any], seconds: float, watch: Callable[[], None], group: Group = str
) -> dict[str, list[float]]:
    """All ratios of the pairs, by group; ``watch`` is called after each pair."""
    ratios: dict[str, list[float]] = {}
    for pair in pairs(a, b, inputs, seconds, group):
        watch()
        for name, ratio in pair.items():
            ratios.setdefault(name, []).append(ratio)
    return ratios


def gain(ratios: list[float]) -> float:
    """The share of the time saved, by the median; 0 if that is within the margin, or twice the median's own error."""
    saved, (low, _, high) = 1 - median(ratios), quantiles(ratios, n=4)
    error = 0.93 * (high - low) / len(ratios) ** 0.5
    return saved if saved > max(MARGIN, 2 * error) else 0.0
