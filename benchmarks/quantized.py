"""Quantized models beside onnxruntime's, and beside our own in f32: `python -m benchmarks.quantized [MODEL...]`.

Each engine has a process of its own on the same CPUs; they are timed in turn, and a ratio is the median over rounds.
How far both are from the model in f32 says that the speed is not bought with accuracy.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import onnx
import rich.table
import typer
from rich.console import Console

import mlc
from benchmarks import models
from benchmarks.limits import HERE
from benchmarks.measure import PAUSE
from benchmarks.models import quantized, random_inputs
from benchmarks.workers import Worker

DEFAULT = ("resnet50_static", "bert_static", "bert_dynamic", "llama_decode_int4")
PATIENCE = 600  # seconds until an engine has loaded a model


@dataclass(frozen=True)
class Row:
    """Seconds of a call of each engine, a value a round, and the largest distance from f32, of the largest value."""

    model: str
    rounds: dict[str, list[float]]
    distance: dict[str, float]

    def ratio(self, engine: str) -> list[float]:
        """Quartile, median and quartile of an engine's time over ours."""
        return [float(q) for q in np.percentile(np.divide(self.rounds[engine], self.rounds["mlc"]), [25, 50, 75])]


def measure(model: str, cpus: list[int], rounds: int, seconds: float) -> Row:
    """Compile a model in f32 and in the form behind its last underscore, and time them and onnxruntime in turn."""
    family, _, form = model.rpartition("_")
    if family not in models.FAMILIES or form not in quantized.FORMS:
        raise ValueError(f"no model {model!r}; write FAMILY_FORM with a form of {', '.join(quantized.FORMS)}")
    plain, small = models.path(family), quantized.path(family, form)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.savez(folder / "inputs.npz", allow_pickle=False, **random_inputs(onnx.load(plain), np.random.default_rng(1)))
        files = {"mlc": (small, "mlc"), "onnxruntime": (small, "onnxruntime"), "mlc f32": (plain, "mlc")}
        with ExitStack() as stack:
            workers = {
                label: stack.enter_context(Worker(_job(label, file, engine, folder, cpus), PATIENCE))
                for label, (file, engine) in files.items()
            }
            times = _in_turn(workers, rounds, seconds)
        outputs = {label: dict(np.load(folder / f"{label}.npz")) for label in files}
    return Row(model, times, {label: _distance(outputs[label], outputs["mlc f32"]) for label in files})


def _job(label: str, file: Path, engine: str, folder: Path, cpus: list[int]) -> dict[str, Any]:
    if engine == "mlc":
        library = folder / f"{label.replace(' ', '_')}.so"
        mlc.compile(file, threads=len(cpus)).save(library)
        file = library
    job = {"engine": engine, "file": str(file), "inputs": str(folder / "inputs.npz"), "cpus": cpus}
    return job | {"outputs": str(folder / f"{label}.npz"), "warmup": 0.5, "target": HERE}


def _in_turn(workers: dict[str, Worker], rounds: int, seconds: float) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {label: [] for label in workers}
    for _ in range(rounds):
        for label, worker in workers.items():
            time.sleep(PAUSE)
            times[label].append(worker.burst(seconds))
    return times


def _distance(actual: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> float:
    return max(float(np.abs(actual[n] - y).max() / np.abs(y).max()) for n, y in expected.items())


def table(rows: list[Row]) -> rich.table.Table:
    """A line a model: milliseconds, ratios with quartiles, distances from f32."""
    drawn = rich.table.Table(title="quantized models; a ratio above 1: mlc is faster")
    headings = ("model", "mlc ms", "onnxruntime", "ratio", "mlc f32", "ratio", "off f32: mlc", "onnxruntime")
    for n, heading in enumerate(headings):
        drawn.add_column(heading, justify="right" if n else "left")
    for row in rows:
        cells = [row.model, f"{1e3 * np.median(row.rounds['mlc']):.2f}"]
        for label in ("onnxruntime", "mlc f32"):
            low, middle, high = row.ratio(label)
            cells += [f"{1e3 * np.median(row.rounds[label]):.2f}", f"{middle:.2f} [{low:.2f}–{high:.2f}]"]
        drawn.add_row(*cells, *(f"{row.distance[label]:.3f}" for label in ("mlc", "onnxruntime")))
    return drawn


def main(
    names: Annotated[list[str] | None, typer.Argument(help="FAMILY_FORM, as bert_static; all by default.")] = None,
    rounds: Annotated[int, typer.Option(help="Rounds of bursts in turn.")] = 9,
    seconds: Annotated[float, typer.Option(help="Length of a burst.")] = 0.5,
    cpus: Annotated[str | None, typer.Option(help="CPUs to run on, `0,1`; the first two by default.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the measurements here too.")] = None,
) -> None:
    """Time quantized models, onnxruntime's and the same models in f32.

    Example: python -m benchmarks.quantized resnet50_static bert_dynamic --rounds 15
    """
    chosen = [int(c) for c in cpus.split(",")] if cpus else sorted(os.sched_getaffinity(0))[:2]
    try:
        rows = [measure(name, chosen, rounds, seconds) for name in names or DEFAULT]
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    Console().print(table(rows))
    if json_file:
        json_file.write_text(json.dumps([asdict(row) for row in rows], indent=1))


if __name__ == "__main__":
    typer.run(main)
