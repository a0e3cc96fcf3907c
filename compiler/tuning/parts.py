"""Numbers of parts of sums (split-K, split-KV): those that are measured to be faster than the estimated ones.

A number of parts decides which kernels there are, so it is tuned before their schedules. A round gives each sum its
next number, with the chosen schedules, and compares the time of the kernels that it is computed by. A last round
compares all winners at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import Any

from mlc.passes.schedule.gpu.part_numbers import PARTS_SUFFIX
from mlc.runtime import Model
from mlc.tuning.measure import MODEL, gain, ratios_of
from mlc.tuning.variants import Variants

NUMBERS = 6  # that are measured of one sum at most


@dataclass
class Sum:
    """The sum of one kernel: its estimated number of parts (1: it is whole), and the best one so far, if that is
    another, with the share of the time that it saves."""

    name: str
    estimated: int
    candidates: Iterator[int]
    best: int | None = None
    gain: float = 0.0
    tried: int = 0


@dataclass
class PartsSearch:
    """``base``: the model with the estimated numbers; the search ends at ``end``, a time of ``time.monotonic``."""

    variants: Variants
    base: Model
    inputs: Mapping[str, Any]
    end: float
    seconds: float  # of a comparison
    load: Callable[[], Model]  # the model with the numbers of ``variants``
    say: Callable[[str], None]
    sums: list[Sum] = field(default_factory=list)
    gain: float = 0.0  # the share of the model's time saved
    longest: float = 0.0  # seconds of a round

    def run(self, names: Sequence[str]) -> None:
        """Tune the sums of some kernels, and leave ``variants`` with the best numbers."""
        self.sums = [s for name in dict.fromkeys(map(whole_name, names)) if (s := self._sum(name))]
        while trial := self._trial():
            self._round(trial)
        if self.parts:
            self._confirm()
        if self.sums:
            self.variants.divide(self.parts)

    @property
    def parts(self) -> dict[str, int]:
        """The numbers that are better than the estimated ones, by the name of the kernel."""
        return {s.name: s.best for s in self.sums if s.best is not None}

    def _sum(self, name: str) -> Sum | None:
        """The sum of a kernel; None where it has one number of parts alone."""
        estimated, ranked = self.variants.number(name), self.variants.numbers(name)
        others = [n for n in ranked if n not in (estimated, 1)][: NUMBERS - 1]
        whole = [1] if ranked and estimated != 1 else []
        return Sum(name, estimated, iter([*others, *whole])) if others or whole else None

    def _trial(self) -> dict[str, int]:
        """The next number of each sum; empty at the end, or where there is no time for a round and the last one."""
        if time.monotonic() + 2 * self.longest > self.end:
            return {}
        return {s.name: n for s in self.sums if (n := next(s.candidates, None))}

    def _round(self, trial: Mapping[str, int]) -> None:
        start, ratios = time.monotonic(), self._measure(trial)
        for each in (s for s in self.sums if s.name in trial):
            each.tried += 1
            if (saved := gain(ratios[each.name])) > each.gain:
                each.best, each.gain = trial[each.name], saved
        self.longest = max(self.longest, time.monotonic() - start)

    def _confirm(self) -> None:
        ratios = self._measure(self.parts)
        for each in (s for s in self.sums if s.best is not None):
            each.gain = gain(ratios[each.name])
            each.best = each.best if each.gain else None
        self.gain = 1 - median(ratios[MODEL]) if self.parts else 0.0

    def _measure(self, parts: Mapping[str, int]) -> dict[str, list[float]]:
        self.variants.divide(parts)
        with self.load() as model:
            watch = partial(self.say, "measuring parts of sums")
            return ratios_of(self.base, model, self.inputs, self.seconds, watch, whole_name)


def whole_name(kernel: str) -> str:
    """The name of the kernel before its sum was split."""
    return kernel.removesuffix(PARTS_SUFFIX)
