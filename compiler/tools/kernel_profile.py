"""The time of a model by its kernel launches: one by one, and grouped by operator."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mlc.tools.tables import table

if TYPE_CHECKING:
    from rich.table import Table

    from mlc.runtime import Model
    from mlc.tools.peak import Peak

RUNS = 10


@dataclass(frozen=True)
class Launch:
    """A kernel launch: its entry of the signature with ``flops`` and ``bytes`` as numbers, its median seconds, and its
    seconds in the fastest of all profiled runs."""

    kernel: Mapping[str, Any]
    seconds: float
    at_best: float

    @property
    def operator(self) -> str:
        return operator_of(self.kernel)


def operator_of(kernel: Mapping[str, Any]) -> str:
    """Return what a kernel of the signature computes: ``conv`` of ``conv_12``."""
    return re.sub(r"_\d+$", "", str(kernel["name"]))


def profile(model: Model, inputs: Mapping[str, Any], runs: int = RUNS) -> list[Launch]:
    """Every launch of a run, in order, with the median of ``runs`` profiled runs."""
    found = [model.profile(**inputs) for _ in range(runs)]
    fastest = min(found, key=lambda run: sum(ns for _, ns in run))
    launches = zip(fastest, *found, strict=True)
    return [Launch(best[0], sorted(ns for _, ns in each)[runs // 2] / 1e9, best[1] / 1e9) for best, *each in launches]


def operator_table(launches: Sequence[Launch]) -> Table:
    """A row an operator, the slowest first."""
    groups: dict[str, list[Launch]] = {}
    for launch in launches:
        groups.setdefault(launch.operator, []).append(launch)
    total = _total(launches)
    made = table("Operators", "operator", ">launches", ">ms", ">share", ">GFLOP/s", ">GB/s")
    for name, group in sorted(groups.items(), key=lambda item: -_total(item[1])):
        seconds = _total(group)
        flops, moved = (sum(launch.kernel[key] for launch in group) for key in ("flops", "bytes"))
        rates = f"{flops / seconds / 1e9:.1f}", f"{moved / seconds / 1e9:.1f}"
        made.add_row(name, str(len(group)), f"{1e3 * seconds:.3f}", f"{seconds / total:.1%}", *rates)
    return made


def kernel_table(launches: Sequence[Launch], peak: Peak, top: int | None = None) -> Table:
    """A row a launch, the slowest first; only the ``top`` slowest if given."""
    title = f"Kernels; peak {peak.flops / 1e9:.0f} GFLOP/s, {peak.bytes / 1e9:.1f} GB/s, {peak.source}"
    made = table(title, "kernel", ">ms", ">share", ">GFLOP/s", ">GB/s", ">of peak", "schedule", "nodes")
    total = _total(launches)
    for launch in sorted(launches, key=lambda each: -each.seconds)[:top]:
        made.add_row(*_cells(launch, total, peak))
    return made


def totals(launches: Sequence[Launch], latency: float) -> str:
    """How the sum of the launches of the fastest profiled run agrees with the least latency of runs that are not
    profiled: medians of both would differ by what other programs take."""
    total = sum(launch.at_best for launch in launches)
    difference = f"{1e3 * abs(latency - total):.3f} ms"
    rest = "to enter and leave the model" if latency >= total else "is what reading the clock after each launch costs"
    both = f"kernels {1e3 * total:.3f} ms of a latency of {1e3 * latency:.3f} ms"
    return f"at best: {both}; the difference, {difference}, {rest}"


def as_json(launch: Launch) -> dict[str, Any]:
    """A launch for ``mlc bench --json``."""
    return {"kernel": launch.kernel["name"], "operator": launch.operator, "seconds": launch.seconds,
            **{key: launch.kernel[key] for key in ("flops", "bytes", "nodes", "schedule")}}  # fmt: skip


def _total(launches: Sequence[Launch]) -> float:
    return sum(launch.seconds for launch in launches) or 1e-9


def _cells(launch: Launch, total: float, peak: Peak) -> list[str]:
    seconds, kernel = max(launch.seconds, 1e-9), launch.kernel
    flops, moved = kernel["flops"], kernel["bytes"]
    times = f"{1e3 * seconds:.3f}", f"{seconds / total:.1%}"
    rates = f"{flops / seconds / 1e9:.1f}", f"{moved / seconds / 1e9:.1f}", f"{peak.share_text(flops, moved, seconds)}"
    return [kernel["name"], *times, *rates, schedule_of(kernel), _nodes(kernel["nodes"])]


def schedule_of(kernel: Mapping[str, Any]) -> str:
    """The schedule of a kernel of the signature, with a comment where a rule did not choose it; what is in a loop."""
    if "loop" in kernel:
        return f"# {kernel['loop']}"
    why = "tuned" if kernel.get("tuned") else f"plain: {kernel['plain']}" if "plain" in kernel else ""
    return str(kernel["schedule"]) + (f"  # {why}" if why else "")


def _nodes(nodes: list[str]) -> str:
    more = f" +{len(nodes) - 3}" if len(nodes) > 3 else ""
    return ", ".join(nodes[:3]) + more
