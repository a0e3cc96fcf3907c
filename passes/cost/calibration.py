"""Calibration of the time of blocks: the four rates of a GPU that data sheets do not have, fitted to measured times.

Least squares of the logarithm of estimated over measured times, so that a fast product counts as much as a slow one, by
pattern search (Hooke and Jeeves, 1961): the estimate is a maximum of terms, which has no derivative everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mlc.passes.cost.block_time import BlockTime, SplitSum
from mlc.target.gpu import GpuTarget

FITTED = ("l2_read", "shared_read", "term_cycles", "launch_cycles")
"""The fields of the target that are fitted."""
FIRST, LAST = 1.0, 0.005  # steps of a logarithm of base 2: from a factor of 2 to one of 1.003
RANGE = 16.0  # the ratio to the value before that a fit may reach


@dataclass(frozen=True)
class Sample:
    """A measured sum of products: its tile, with the blocks of one part, and the seconds of its kernels."""

    tile: BlockTime
    terms: int
    results: int
    parts: int
    seconds: float

    def estimated(self, target: GpuTarget) -> float:
        """Seconds by the time of blocks."""
        return SplitSum([self.tile], self.terms, self.results, target).cycles(self.parts) / target.clock


def error(samples: Sequence[Sample], target: GpuTarget) -> float:
    """The root of the mean square of log2(estimated / measured): 1 where times are a factor of 2 off."""
    logs = [math.log2(each.estimated(target) / each.seconds) for each in samples]
    return math.sqrt(sum(x * x for x in logs) / len(logs))


def calibrate(samples: Sequence[Sample], target: GpuTarget) -> GpuTarget:
    """The target with the rates that fit best. A rate that no sample depends on stays as it is; ValueError without
    samples, or where a time is not positive."""
    if not samples or any(each.seconds <= 0 for each in samples):
        raise ValueError("calibration needs measured times, all of them positive")
    best, least, step = target, error(samples, target), FIRST
    while step > LAST:
        found, reached = _around(samples, best, least, step, target)
        step = step if reached < least else step / 2
        best, least = found, reached
    return best


def _around(
    samples: Sequence[Sample], best: GpuTarget, least: float, step: float, given: GpuTarget
) -> tuple[GpuTarget, float]:
    """The best target after a step of each rate in turn."""
    for name in FITTED:
        for factor in (2**step, 2**-step):
            value = getattr(best, name) * factor
            other = replace(best, **{name: value})
            allowed = 1 / RANGE <= value / getattr(given, name) <= RANGE
            if allowed and (reached := error(samples, other)) < least:
                best, least = other, reached
                break
    return best, least
