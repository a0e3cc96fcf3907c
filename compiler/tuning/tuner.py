"""``mlc tune``: measure candidates of the kernels with the most time; each round measures one candidate of each.

A round gives each kernel its next candidate and compares the variant, kernel by kernel, with the chosen schedules. A
last round compares all winners at once, since the best of many noisy measurements is partly luck: what does not win
again is dropped.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, islice
from pathlib import Path
from statistics import median
from typing import Any

from mlc.driver.source import Source
from mlc.errors import InputError
from mlc.options import Options
from mlc.runtime import Model
from mlc.target import GpuTarget
from mlc.tools.cuda_device import NoDevice, open_driver
from mlc.tuning.measure import MODEL, gain, pairs, sample
from mlc.tuning.store import Store, Tuned, machine_of
from mlc.tuning.variants import Variants

CANDIDATES = 16  # at most, of one kernel: later candidates are bad by the cost model
COVERED = 0.95  # the share of the model's time in the kernels that are tuned first
PROFILE_SECONDS, PAIRS_SECONDS = 0.5, 1.5

Feed = Callable[[Model], Mapping[str, Any]]


@dataclass
class Kernel:
    """One kernel: its share of the model's time, and the best schedule so far with the share of time it saves."""

    name: str
    digest: str
    share: float
    chosen: str
    candidates: Iterator[str]
    best: str | None = None
    gain: float = 0.0
    tried: int = 0

    @property
    def schedule(self) -> str:
        return self.best or self.chosen


@dataclass
class Tuning:
    """What ``tune`` has found so far: ``kernels`` by their time, ``gain`` the share of the model's time saved."""

    kernels: list[Kernel] = field(default_factory=list)
    gain: float = 0.0
    rounds: int = 0
    step: str = "compiling"
    interrupted: bool = False

    @property
    def tuned(self) -> dict[str, str]:
        """The schedules that are better than the chosen ones, by the name of the kernel."""
        return {k.name: k.best for k in self.kernels if k.best}

    def text(self) -> str:
        """The lines of a file for ``mlc compile --schedule``."""
        return "".join(f"{name}: {schedule}\n" for name, schedule in self.tuned.items())


@dataclass
class Tuner:
    source: Source
    options: Options
    seconds: float
    feed: Feed
    watch: Callable[[Tuning], None]
    found: Tuning = field(default_factory=Tuning)
    longest: float = 0.0  # seconds of a round

    def __post_init__(self) -> None:
        if not isinstance(self.options.target, GpuTarget):
            return
        try:
            open_driver()
        except NoDevice as why:
            message = f"Schedules for {self.options.target.name} are measured on a GPU, and {why.message}"
            raise InputError(message, hint="'mlc compile --schedule' takes the file of another machine") from why

    def run(self, store: Store) -> Tuning:
        """Measure until the time is up, no candidate is left, or an interrupt; then write the result to the store."""
        self.end = time.monotonic() + self.seconds
        machine = machine_of(self.options)
        with tempfile.TemporaryDirectory(prefix="mlc-tune-", ignore_cleanup_errors=True) as folder:
            try:
                self._search(Path(folder), {d: t.schedule for d, t in store.schedules(machine).items()})
            except KeyboardInterrupt:
                self.found.interrupted = True
        if store.path is not None and (entries := self._entries()):
            store.record(machine, entries)
        return self.found

    def _entries(self) -> dict[str, Tuned | None]:
        """The schedules to store; an interrupted search deletes none."""
        kernels = [k for k in self.found.kernels if k.best or (k.tried and not self.found.interrupted)]
        return {k.digest: Tuned(k.best, round(k.gain, 4), self.source.name) if k.best else None for k in kernels}

    def _search(self, folder: Path, known: Mapping[str, str]) -> None:
        self.variants = Variants(self.source, self.options, folder)
        with self._model({}) as self.base:
            self.inputs = self.feed(self.base)
            self.found.kernels = self._kernels(known)
            while trial := self._trial():
                self._round(trial)
            if self.found.tuned:
                self._confirm()

    def _model(self, schedules: Mapping[str, str]) -> Model:
        self._say("compiling")
        return self.variants.model(schedules, self.options.threads or None)

    def _kernels(self, known: Mapping[str, str]) -> list[Kernel]:
        """All kernels that take time, the slowest first."""
        times = dict(sample(self.base, self.inputs, PROFILE_SECONDS))
        total = times.pop(MODEL) or 1
        tunable = self.variants.kernels.keys() & self.variants.digests.keys()
        names = sorted(times.keys() & tunable, key=lambda name: (-times[name], name))
        return [self._kernel(name, times[name] / total, known) for name in names]

    def _kernel(self, name: str, share: float, known: Mapping[str, str]) -> Kernel:
        digest = self.variants.digests[name]
        earlier = [known[digest]] if digest in known else []

        proposed = islice(dict.fromkeys(chain(earlier, self.variants.candidates(name))), CANDIDATES + 1)
        others = (s for s in proposed if s != self.variants.chosen(name) and self.variants.legal(name, s))
        return Kernel(name, digest, share, self.variants.chosen(name), others)

    def _trial(self) -> dict[str, str]:
        """The next candidate of each kernel that matters; of the others once these have none left. Empty at the end."""
        covered = accumulate((kernel.share for kernel in self.found.kernels), initial=0.0)
        hot = sum(before < COVERED for before in covered)
        return self._next(self.found.kernels[:hot]) or self._next(self.found.kernels[hot:])

    def _next(self, kernels: Sequence[Kernel]) -> dict[str, str]:
        """One candidate for each kernel, only for the first kernels if little time is left; empty if none for a
        round."""
        now = time.monotonic()
        trial: dict[str, str] = {}
        for kernel in kernels if now + 2 * self.longest < self.end else ():  # for this round and the last one
            if time.monotonic() < (now + self.end) / 2 and (schedule := next(kernel.candidates, None)):
                trial[kernel.name] = schedule
        return trial

    def _round(self, trial: Mapping[str, str]) -> None:
        start = time.monotonic()
        ratios = self._measure(trial)
        for kernel in (k for k in self.found.kernels if k.name in trial):
            kernel.tried += 1
            if (saved := gain(ratios[kernel.name])) > kernel.gain:
                kernel.best, kernel.gain = trial[kernel.name], saved
        self.found.rounds += 1
        self.longest = max(self.longest, time.monotonic() - start)

    def _confirm(self) -> None:
        ratios = self._measure(self.found.tuned)
        for kernel in (k for k in self.found.kernels if k.best):
            kernel.gain = gain(ratios[kernel.name])
            kernel.best = kernel.best if kernel.gain else None
        self.found.gain = 1 - median(ratios[MODEL])

    def _measure(self, schedules: Mapping[str, str]) -> dict[str, list[float]]:
        """The ratios of all pairs, by kernel."""
        ratios: dict[str, list[float]] = {}
        with self._model(schedules) as model:
            for pair in pairs(self.base, model, self.inputs, PAIRS_SECONDS):
                self._say("measuring")
                for name, ratio in pair.items():
                    ratios.setdefault(name, []).append(ratio)
        return ratios

    def _say(self, step: str) -> None:
        self.found.step = step
        self.watch(self.found)
