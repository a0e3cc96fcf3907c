"""What a comparison measured, and its file: JSON that `benchmarks.report` and `benchmarks.roofline` read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.limits import HERE

OURS = "mlc"


@dataclass
class Latencies:
    """Seconds of each engine, one value a round; its process's resident bytes, and its seconds until the first output.

    `failures` holds why an engine has none of these; `same_bits` says that the outputs of all are equal bit for bit.
    """

    rounds: dict[str, list[float]] = field(default_factory=dict)
    resident: dict[str, int] = field(default_factory=dict)
    loading: dict[str, float] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    same_bits: bool = False

    def median(self, engine: str) -> float:
        """The median seconds of a call."""
        return float(np.median(self.rounds[engine]))

    def ratios(self, peer: str) -> tuple[float, float, float]:
        """The peer's time over mlc's: quartile, median and quartile of the rounds; above 1 mlc is faster."""
        low, middle, high = np.percentile(np.divide(self.rounds[peer], self.rounds[OURS]), [25, 50, 75])
        return float(low), float(middle), float(high)

    @property
    def count(self) -> int:
        """The number of rounds."""
        return len(self.rounds[OURS])

    def best_peer(self, peers: Iterable[str]) -> str | None:
        """The fastest of those peers that ran."""
        return min((peer for peer in peers if peer in self.rounds), key=self.median, default=None)


@dataclass(frozen=True)
class Result:
    """What was measured of one model, in bytes and seconds, `burst` those of a burst.

    `traffic` counts inputs, outputs and weights; `handover` is what `benchmarks.handover` found before and after.
    """

    model: str
    gflop: float
    traffic: int
    model_bytes: int
    cold: dict[str, float]
    warm: dict[str, float]
    burst: float
    latency: Latencies
    handover: list[float | None] = field(default_factory=list)


@dataclass(frozen=True)
class Setup:
    """How to measure; `target` is what mlc compiles for and peers are kept to."""

    cpus: list[int]
    peers: list[str]
    rounds: int
    seconds: float
    patience: float
    target: str = HERE


@dataclass(frozen=True)
class Comparison:
    """A whole run: on what, how, the results, and the models that mlc could not take, each with a reason."""

    machine: dict[str, Any]
    setup: Setup
    results: list[Result]
    failed: dict[str, str]

    def how(self) -> tuple[object, ...]:
        """What must be the same where results stand on one page."""
        return self.machine["cpu"], self.setup.cpus, self.setup.target

    def save(self, file: Path) -> None:
        """Write it as JSON."""
        file.write_text(json.dumps(asdict(self), indent=1))


def load(files: Iterable[Path]) -> Comparison:
    """The comparisons in some files as one; the peers, dates and revisions are those of all, else machine and setup are
    the first one's.

    Raises ValueError if they were not measured in the same way.
    """
    first, *others = (_comparison(json.loads(file.read_text())) for file in files)
    for part in others:
        if part.how() != first.how():
            raise ValueError(f"measured in different ways: {first.how()} and {part.how()}")
        first.setup.peers.extend(peer for peer in part.setup.peers if peer not in first.setup.peers)
        first.results.extend(part.results)
        first.failed.update(part.failed)
        for key in ("date", "revision"):
            known = first.machine[key].split(", ")
            first.machine[key] = ", ".join(dict.fromkeys([*known, part.machine[key]]))
    return first


def _comparison(data: dict[str, Any]) -> Comparison:
    results = [Result(**result | {"latency": Latencies(**result["latency"])}) for result in data["results"]]
    return Comparison(data["machine"], Setup(**data["setup"]), results, data["failed"])
