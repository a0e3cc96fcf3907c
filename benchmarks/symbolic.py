"""One artifact for all sizes beside one for each: `python -m benchmarks.symbolic bert --dim tokens --size 128`.

Both, and onnxruntime on the symbolic model, are timed alternately on the same inputs at each size.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import onnx
import typer
from rich.console import Console

import mlc
from benchmarks import limits, models, tables
from benchmarks.compare import show
from benchmarks.measure import latencies
from benchmarks.models import random_inputs
from benchmarks.results import OURS, Latencies

FIXED = f"{OURS}@fixed"
PEER = "onnxruntime"
HEADINGS = ["size", "symbolic ms", "fixed / symbolic", "quartiles", "onnxruntime / symbolic"]


def measure(
    model: Path, dim: str, sizes: Sequence[int], cpus: Sequence[int], seconds: float, rounds: int
) -> Iterator[tuple[int, Latencies]]:
    """Times of the artifact for any `dim`, of the one for this size, and of onnxruntime, at each size."""
    proto = onnx.load(model)
    with tempfile.TemporaryDirectory() as name:
        library, fixed, inputs = (Path(name) / file for file in ("any.so", "fixed.so", "inputs.npz"))
        mlc.compile(model, threads=len(cpus)).save(library)
        for size in sizes:
            mlc.compile(model, threads=len(cpus), dims={dim: size}).save(fixed)
            np.savez(inputs, allow_pickle=False, **random_inputs(proto, np.random.default_rng(), {dim: size}))
            yield size, latencies({OURS: library, FIXED: fixed, PEER: model}, inputs, cpus, rounds, seconds)


def row(size: int, latency: Latencies) -> list[str]:
    """The cells of one size; a failure instead of a ratio that could not be measured."""
    if OURS not in latency.rounds:
        return [str(size), latency.failures[OURS], "", "", ""]
    ratios = {engine: latency.ratios(engine) if engine in latency.rounds else None for engine in (FIXED, PEER)}
    fixed, peer = ratios[FIXED], ratios[PEER]
    spread = f"{fixed[0]:.2f}-{fixed[2]:.2f}" if fixed else ""
    cells = [f"{r[1]:.2f}" if r else latency.failures[e] for e, r in ((FIXED, fixed), (PEER, peer))]
    return [str(size), f"{latency.median(OURS) * 1e3:.3f}", cells[0], spread, cells[1]]


def main(
    family: Annotated[str, typer.Argument(help="A generated model, `bert`, `resnet50`.")] = "bert",
    dim: Annotated[str, typer.Option(help="The parameter of the model that becomes a symbolic dimension.")] = "tokens",
    size: Annotated[list[int] | None, typer.Option(help="A size to measure at; 16, 64, 128, 200, 384.")] = None,
    rounds: Annotated[int, typer.Option(help="Rounds of bursts alternately.")] = 7,
    seconds: Annotated[float, typer.Option(help="Length of a burst.")] = 0.4,
    cpus: Annotated[str | None, typer.Option(help="CPUs to run on, `0,1`; the first two by default.")] = None,
) -> None:
    """Compare the speed of one symbolic artifact with that of an artifact for each size: 1 is as fast, below slower."""
    if family not in models.FAMILIES:
        raise typer.BadParameter(f"no model {family!r}; there are: {', '.join(models.FAMILIES)}")
    console, rows, chosen = Console(), [], limits.cpus(cpus)
    path = models.path(family, **{dim: dim})
    with console.status(f"{family}: compiling") as status:
        for n, latency in measure(path, dim, size or [16, 64, 128, 200, 384], chosen, seconds, rounds):
            rows.append(row(n, latency))
            status.update(f"{family}: {dim} = {n} measured")
    show(tables.Table(f"{family}, symbolic {dim}", HEADINGS, rows), console)


if __name__ == "__main__":
    typer.run(main)
