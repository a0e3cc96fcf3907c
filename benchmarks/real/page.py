"""The page of real models, written from their results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.real.table import TOLERANCE, Real
from benchmarks.tables import Table

PAGE = Path(__file__).with_name("page.md.in")
WORDS = {"right": "yes", "unavailable": "not there"}


def page(chosen: Sequence[Real], found: Mapping[str, Any], machine: str) -> str:
    """The page: a summary, a table of the models, what is not right with its message, and the sources."""
    rows = [(model, found[model.name]) for model in chosen if model.name in found]
    parts = {
        "SUMMARY": _summary(rows), "MACHINE": machine, "MODELS": _models(rows), "FAILURES": _failures(rows),
        "SOURCES": _sources(rows), "TOLERANCES": _tolerances(rows),
    }  # fmt: skip
    text = PAGE.read_text()
    for name, part in parts.items():
        text = text.replace(f"@{name}@", part)
    return text


def _summary(rows: Sequence[tuple[Real, Any]]) -> str:
    states = Counter(result["status"] for _, result in rows)
    counts = ", ".join(f"{count} {state}" for state, count in states.most_common())
    kinds = len({model.kind for model, _ in rows})
    lines = [f"{len(rows)} files of {kinds} kinds: {counts}."]
    costs = [result["seconds"] for _, result in rows if "seconds" in result]
    if costs:
        within = sum(result["seconds"] <= 2 + result["nodes"] / 100 for _, result in rows if "seconds" in result)
        lines.append(
            f"Compiling takes {np.median(costs):.1f} CPU seconds in the median and {max(costs):.1f} at most; "
            f"{within} of {len(costs)} take no more than 2 s and 10 ms a node."
        )
    for threads in ("1", "2"):
        ratios = [result["ratios"][threads] for _, result in rows if threads in result.get("ratios", {})]
        if ratios:
            slower = sum(ratio < 1 for ratio in ratios)
            lines.append(
                f"On {threads} thread{'s' if threads == '2' else ''} onnxruntime takes {geometric_mean(ratios):.2f} "
                f"times as long as ours in geometric mean of {len(ratios)} models; {slower} are slower than there."
            )
    return "\n".join(lines)


def geometric_mean(values: Iterable[float]) -> float:
    """The geometric mean."""
    return float(np.exp(np.mean(np.log(list(values)))))


def _models(rows: Sequence[tuple[Real, Any]]) -> str:
    headings = ["model", "kind", "nodes", "right", "error", "compile, CPU s", "kernels", "ms", "× 1 thread", "× 2"]
    cells = [_row(model, result) for model, result in sorted(rows, key=lambda row: (row[0].kind, row[0].name))]
    return Table("", headings, cells).markdown()


def _row(model: Real, result: Mapping[str, Any]) -> list[str]:
    def number(key: str, form: str) -> str:
        return format(result[key], form) if key in result else "–"

    ratios = result.get("ratios", {})
    speed = [f"{ratios[threads]:.2f}" if threads in ratios else "–" for threads in ("1", "2")]
    latency = result.get("milliseconds", {}).get("1")
    return [
        f"`{model.name}`", model.kind, number("nodes", "d"), WORDS.get(result["status"], result["status"]),
        number("worst", ".0e"), number("seconds", ".1f"), number("kernels", "d"),
        f"{latency:.3g}" if latency else "–", *speed,
    ]  # fmt: skip


def _failures(rows: Sequence[tuple[Real, Any]]) -> str:
    failed = [(model, result) for model, result in rows if result["status"] not in WORDS]
    lines = [f"- `{model.name}` ({result['status']}): {_plain(result['errors'][0])}" for model, result in failed]
    return "\n".join(lines) or "None."


def _plain(message: str) -> str:
    """The beginning of a message, as a page may show it."""
    short = message if len(message) < 300 else f"{message[:300]}…"
    return f"`{short.replace('`', chr(39))}`"


def _sources(rows: Sequence[tuple[Real, Any]]) -> str:
    sources = {model.source for model, _ in rows if model.source}
    cells = [
        [each.package, each.version, each.licence, ", ".join(f"`{m.name}`" for m, _ in rows if m.source == each)]
        for each in sorted(sources, key=lambda each: each.package)
    ]
    made = [f"`{model.name}`" for model, _ in rows if not model.source]
    table = Table("", ["package", "version", "licence", "models"], cells).markdown()
    return f"{table}\n\nMade here: {', '.join(made)}."


def _tolerances(rows: Sequence[tuple[Real, Any]]) -> str:
    groups: dict[tuple[float, str], list[str]] = {}
    for model, _ in rows:
        if model.tolerance != TOLERANCE:
            groups.setdefault((model.tolerance, model.reason), []).append(f"`{model.name}`")
    lines = [f"- {tolerance:g}, {reason}: {', '.join(names)}." for (tolerance, reason), names in groups.items()]
    lines += [f"- `{model.name}`: {_plain(text)}" for model, result in rows for text in result.get("unsteady", ())]
    return "\n".join(lines)
