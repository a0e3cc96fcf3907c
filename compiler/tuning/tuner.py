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
from functools import partial
from itertools import accumulate, chain, islice
from pathlib import Path
from statistics import median
from typing import Any

from mlc.driver.source import Source
from mlc.errors import InputError
from mlc.options import Options
from mlc.pipelines.backends import backend_of
from mlc.runtime import Model
from mlc.tools.cuda_device import NoDevice
from mlc.tuning.measure import MODEL, gain, ratios_of, sample
from mlc.tuning.parts import PartsSearch, Sum, whole_name
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
    candidates: Iterator[str] = field(repr=False)
    best: str | None = None
    gain: float = 0.0
    tried: int = 0

    @property
    def schedule(self) -> str:
        return self.best or self.chosen


@dataclass
class Tuning:
    """What ``tune`` has found so far: ``kernels`` by their time, ``gain`` the share of the model's time saved; ``sums``
    whose number of parts was measured (on GPUs)."""

    kernels: list[Kernel] = field(default_factory=list)
    sums: list[Sum] = field(default_factory=list)
    gain: float = 0.0
    rounds: int = 0
    step: str = "compiling"
    interrupted: bool = False

    @property
    def tuned(self) -> dict[str, str]:
        """The schedules that are better than the chosen ones, by the name of the kernel."""
        return {k.name: k.best for k in self.kernels if k.best}

    @property
    def parts(self) -> dict[str, int]:
        """The numbers of parts of sums that are better than the estimated ones, by the name of the kernel."""
        return {s.name: s.best for s in self.sums if s.best is not None}

    @property
    def given(self) -> list[Kernel]:
        """The kernels that need a line: with a better schedule, or of a sum with another number of parts."""
        return [k for k in self.kernels if k.best or whole_name(k.name) in self.parts]

    def text(self) -> str:
        """The lines of a file for ``mlc compile --schedule``."""
        return "".join(f"{k.name}: {k.schedule}\n" for k in self.given)


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
        try:
            backend_of(self.options.target).check_device()
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
        given = self.found.given
        kernels = [k for k in self.found.kernels if k in given or (k.tried and not self.found.interrupted)]
        made = {k.digest: Tuned(k.schedule, round(k.gain, 4), self.source.name) for k in given}
        return {k.digest: made.get(k.digest) for k in kernels}

    def _search(self, folder: Path, known: Mapping[str, str]) -> None:
        self.variants = Variants(self.source, self.options, folder)
        with self._model({}) as self.base:
            self.inputs = self.feed(self.base)
            self.found.kernels = self._kernels(known)
            search = self._parts(self.base)
            self.found.sums, self.found.gain = search.sums, search.gain
            if not search.parts:
                self._tune_schedules()
                return
        with self._model({}) as self.base:
            self.found.kernels = self._kernels(known)
            self._tune_schedules()

    def _parts(self, base: Model) -> PartsSearch:
        """The best numbers of parts of the sums of kernels that matter, found in half of the time."""
        names = [kernel.name for kernel in self._hot()]
        end = (time.monotonic() + self.end) / 2
        load = partial(self._model, {})
        search = PartsSearch(self.variants, base, self.inputs, end, PAIRS_SECONDS, load, self._say)
        search.run(names)
        return search

    def _tune_schedules(self) -> None:
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
        hot = self._hot()
        return self._next(hot) or self._next(self.found.kernels[len(hot) :])

    def _hot(self) -> list[Kernel]:
        """The kernels that take nearly all of the time."""
        covered = accumulate((kernel.share for kernel in self.found.kernels), initial=0.0)
        return self.found.kernels[: sum(before < COVERED for before in covered)]

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
        self.found.gain = 1 - (1 - self.found.gain) * median(ratios[MODEL])

    def _measure(self, schedules: Mapping[str, str]) -> dict[str, list[float]]:
        """The ratios of all pairs, by kernel."""
        with self._model(schedules) as model:
            return ratios_of(self.base, model, self.inputs, PAIRS_SECONDS, partial(self._say, "measuring"))

    def _say(self, step: str) -> None:
        self.found.step = step
        self.watch(self.found)
