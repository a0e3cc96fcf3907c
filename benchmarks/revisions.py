"""One revision of mlc against another on one machine: `python -m benchmarks.revisions OLD NEW [MODEL...]`.

A side is a git revision or the folder of a source tree. Each side compiles a model in processes of its own with an
empty cache, alternately; then two processes run the two artifacts alternately (A B A B ...). A ratio is old over new,
above 1 the new side is faster or smaller.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import onnx
import typer
from rich.console import Console

from benchmarks import checkout, limits, tables
from benchmarks.cases import Case, select
from benchmarks.compare import DEFAULT, show
from benchmarks.measure import compile_cost, latencies
from benchmarks.models import random_inputs
from benchmarks.results import Latencies

NEW, OLD = "mlc", "mlc@old"
HEADINGS = ["model", "old ms", "new ms", "speed", "quartiles", "compile s", "compile", "peak memory", "same bits"]


@dataclass(frozen=True)
class Pair:
    """A model on both sides: what the compilations cost, and the latencies."""

    model: str
    costs: dict[str, list[dict[str, float]]]
    latency: Latencies

    def cost(self, key: str) -> tuple[float, float]:
        """Median cost of the old and of the new side."""
        old, new = (float(np.median([cost[key] for cost in self.costs[side]])) for side in (OLD, NEW))
        return old, new


def measure(case: Case, sides: dict[str, Path], cpus: list[int], rounds: int, seconds: float, compilations: int,
            target: str) -> Pair:  # fmt: skip
    """Compile a case on both sides, then time the artifacts alternately; RuntimeError if a side fails."""
    path, dims = case.file(), case.dims[0]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        arrays = random_inputs(onnx.load(path), np.random.default_rng(), dims)
        np.savez(folder / "inputs.npz", allow_pickle=False, **arrays)
        files = {side: folder / f"net_{side}.so" for side in sides}
        costs: dict[str, list[dict[str, float]]] = {side: [] for side in sides}
        for i in range(compilations):
            for side, root in sides.items():
                cache = folder / f"{side}{i}"
                costs[side].append(compile_cost(path, files[side], len(cpus), dims, cache, target, root))
        latency = latencies(files, folder / "inputs.npz", cpus, rounds, seconds, target=target, roots=sides)
    if latency.failures:
        raise RuntimeError(", ".join(f"{side}: {reason}" for side, reason in latency.failures.items()))
    return Pair(case.name, costs, latency)


def row(pair: Pair) -> list[str]:
    """A line of the table."""
    low, speed, high = pair.latency.ratios(OLD)
    (old, new), (before, after) = pair.cost("seconds"), pair.cost("peak")
    return [
        pair.model, f"{pair.latency.median(OLD) * 1e3:.3f}", f"{pair.latency.median(NEW) * 1e3:.3f}", f"{speed:.3f}",
        f"{low:.3f}-{high:.3f}", f"{old:.2f} → {new:.2f}", f"{old / new:.3f}", f"{before / after:.3f}",
        "yes" if pair.latency.same_bits else "no",
    ]  # fmt: skip


def summary(pairs: list[Pair]) -> str:
    """The geometric means."""
    speed = np.exp(np.mean([np.log(pair.latency.ratios(OLD)[1]) for pair in pairs]))
    compiling, memory = (
        np.exp(np.mean([np.log(np.divide(*pair.cost(key))) for pair in pairs])) for key in ("seconds", "peak")
    )
    return f"geometric mean of {len(pairs)}: speed {speed:.3f}, compilation {compiling:.3f}, its memory {memory:.3f}"


def main(
    old: Annotated[str, typer.Argument(help="A git revision, or a folder.")],
    new: Annotated[str, typer.Argument(help="A git revision, or a folder.")],
    names: Annotated[list[str] | None, typer.Argument(help="Models; `op_*` means a prefix.")] = None,
    cpus: Annotated[str | None, typer.Option(help="CPUs to run on, `0,1`; the first two by default.")] = None,
    rounds: Annotated[int, typer.Option(help="Rounds of bursts alternately.")] = 9,
    seconds: Annotated[float, typer.Option(help="Length of a burst.")] = 0.5,
    compilations: Annotated[int, typer.Option(help="Compilations of each side.")] = 1,
    target: Annotated[str, typer.Option(help="CPU to compile for, `x86-64-v3`.")] = limits.HERE,
) -> None:
    """Print how fast one revision of mlc compiles and runs models beside another."""
    console, pairs = Console(), []
    with tempfile.TemporaryDirectory() as name, console.status("") as status:
        try:
            sides = {}
            for side, revision in ((OLD, old), (NEW, new)):
                (folder := Path(name) / side).mkdir()
                sides[side] = checkout.check_out(revision, folder)
            cases = select(names or DEFAULT)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
        for case in cases:
            status.update(case.name)
            try:
                pairs.append(measure(case, sides, limits.cpus(cpus), rounds, seconds, compilations, target))
                console.print(f"{case.name}: {pairs[-1].latency.ratios(OLD)[1]:.3f}")
            except RuntimeError as error:
                console.print(f"{case.name}: {error}")
    show(tables.Table("Revisions", HEADINGS, [row(pair) for pair in pairs]), console)
    if pairs:
        console.print(summary(pairs))


if __name__ == "__main__":
    typer.run(main)
