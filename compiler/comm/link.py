"""The time of collectives: a latency and a bandwidth that fit measurements (alpha–beta model)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

SMALL = 8192
"""Bytes up to which a reduction has one stage (``runtime/c/comm/mlc_stages.c``)."""


@dataclass(frozen=True)
class Sample:
    """One collective on an operand of ``size`` bytes: its stages, the bytes that a rank sends, and its seconds."""

    kind: str
    size: int
    stages: int
    sent: int
    seconds: float


@dataclass(frozen=True)
class Link:
    """Seconds of a stage, and of a byte that a rank sends."""

    alpha: float
    beta: float

    def seconds(self, stages: int, sent: int) -> float:
        return self.alpha * stages + self.beta * sent

    @staticmethod
    def fit(samples: Sequence[Sample]) -> Link:
        """The link of the least squared relative error, neither number below 0."""
        rows = np.array([[s.stages, s.sent] for s in samples]) / np.array([[s.seconds] for s in samples])
        ones = np.ones(len(rows))
        both = np.linalg.lstsq(rows, ones, rcond=None)[0]
        if (both >= 0).all():
            return Link(*map(float, both))
        alone = [float(column @ ones / max(column @ column, 1e-300)) for column in rows.T]
        choices = [Link(alone[0], 0.0), Link(0.0, alone[1])]
        return min(choices, key=lambda link: float(((rows @ (link.alpha, link.beta) - 1) ** 2).sum()))


def cost(kind: str, size: int, ranks: int) -> tuple[int, int]:
    """The stages of a collective on an operand of ``size`` bytes, and the bytes that a rank sends."""
    if kind == "all_reduce":
        return (1, (ranks - 1) * size) if size <= SMALL else (2, 2 * (ranks - 1) * size // ranks)
    return (1, (ranks - 1) * size) if kind == "all_gather" else (1, (ranks - 1) * size // ranks)


def record(samples: Sequence[Sample], link: Link, ranks: int) -> dict[str, Any]:
    """Everything as JSON has it."""
    return {"ranks": ranks, "alpha": link.alpha, "beta": link.beta, "samples": [asdict(each) for each in samples]}


def shown(samples: Sequence[Sample], link: Link, ranks: int) -> str:
    """The fit in words, and a line for each measurement."""
    rate = f"{1e-9 / link.beta:.3g} GB/s" if link.beta else "no time for a byte"
    lines = [f"{ranks} ranks: {link.alpha * 1e6:.3g} µs a stage, {rate}",
             f"{'collective':16}{'bytes':>12}{'sent':>12}{'µs':>10}{'fit, µs':>10}"]  # fmt: skip
    for s in samples:
        fitted = link.seconds(s.stages, s.sent)
        lines.append(f"{s.kind:16}{s.size:12,}{s.sent:12,}{s.seconds * 1e6:10.1f}{fitted * 1e6:10.1f}")
    return "\n".join(lines)
