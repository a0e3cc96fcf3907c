"""Quantized models in mlc, onnxruntime and OpenVINO, and f32 beside: `python -m benchmarks.quantized [MODEL...]`.

`FAMILY_bf16` is the model in f32, whose products are made in bfloat16: by `numerics="relaxed"`, and by OpenVINO.

Each engine has a process of its own on the same CPUs; timed alternately, and a ratio is the median over rounds.
How far both are from the model in f32 says that the speed is not bought with accuracy.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import onnx
import typer
from rich.console import Console

import mlc
from benchmarks import limits, models, tables
from benchmarks.compare import show
from benchmarks.engines import installed
from benchmarks.limits import HERE
from benchmarks.measure import in_turn
from benchmarks.models import quantized, random_inputs
from benchmarks.results import OURS, Latencies
from benchmarks.workers import Unavailable, Worker

DEFAULT = ("resnet50_static", "bert_static", "bert_dynamic", "llama_decode_int4")
PEERS = ("onnxruntime", "openvino")  # of which those are measured that are installed
PLAIN = f"{OURS} f32"
BF16, BF16_PEERS = "bf16", ("openvino_bf16", *PEERS)
PATIENCE = 600  # seconds until an engine has loaded a model
WARMUP = 0.5  # seconds


@dataclass(frozen=True)
class Row:
    """Times of each engine, and the largest distance of its outputs from f32's, of the largest value."""

    model: str
    latency: Latencies
    distance: dict[str, float]


def measure(model: str, cpus: list[int], rounds: int, seconds: float) -> Row:
    """Compile a model in f32 and in the form after its last underscore, and time them and onnxruntime alternately.

    Raises Unavailable where an engine cannot run it, ValueError for an unknown model.
    """
    family, _, form = model.rpartition("_")
    if family not in models.FAMILIES or form not in (*quantized.FORMS, BF16):
        forms = ", ".join((*quantized.FORMS, BF16))
        raise ValueError(f"no model {model!r}; write FAMILY_FORM with a form of {forms}")
    plain = models.path(family)
    small = plain if form == BF16 else quantized.path(family, form)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.savez(folder / "inputs.npz", allow_pickle=False, **random_inputs(onnx.load(plain), np.random.default_rng(1)))
        files = {OURS: (small, OURS), **{peer: (small, peer) for peer in _peers(form)}, PLAIN: (plain, OURS)}
        with ExitStack() as stack:
            workers = {
                label: stack.enter_context(Worker(_job(label, file, engine, folder, cpus, form), PATIENCE))
                for label, (file, engine) in files.items()
            }
            latency = Latencies()
            in_turn(workers, latency, rounds, seconds)
        for label in (label for label in (OURS, PLAIN) if label in latency.failures):
            raise Unavailable(f"{label}: {latency.failures[label]}")
        outputs = {label: dict(np.load(folder / f"{label}.npz")) for label in latency.rounds}
    return Row(model, latency, {label: _distance(outputs[label], outputs[PLAIN]) for label in outputs})


def _peers(form: str) -> list[str]:
    return [peer for peer in (BF16_PEERS if form == BF16 else PEERS) if installed(peer)]


def _job(label: str, file: Path, engine: str, folder: Path, cpus: list[int], form: str) -> dict[str, Any]:
    if engine == OURS:
        library = folder / f"net_{label.replace(' ', '_')}.so"
        numerics: Literal["relaxed", "default"] = "relaxed" if form == BF16 and label == OURS else "default"
        mlc.compile(file, threads=len(cpus), numerics=numerics).save(library)
        file = library
    job = {"engine": engine, "file": str(file), "inputs": str(folder / "inputs.npz"), "cpus": cpus}
    return job | {"outputs": str(folder / f"{label}.npz"), "warmup": WARMUP, "target": HERE}


def _distance(actual: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> float:
    return max(float(np.abs(actual[n] - y).max() / np.abs(y).max()) for n, y in expected.items())


def table(rows: Sequence[Row]) -> tables.Table:
    """A line a model: milliseconds, ratios with quartiles, distances from f32."""
    peers = [peer for peer in BF16_PEERS if any(peer in row.latency.rounds for row in rows)]
    timed = [name for label in (*peers, PLAIN) for name in (label, "ratio")]
    headings = ["model", "mlc ms", *timed, "off f32: mlc", *peers]
    cells = [_cells(row, peers) for row in rows]
    return tables.Table("quantized models; a ratio above 1: mlc is faster", headings, cells)


def _cells(row: Row, peers: Sequence[str]) -> list[str]:
    """What an engine cannot run has no numbers."""
    cells = [row.model, f"{1e3 * row.latency.median(OURS):.2f}"]
    for label in (*peers, PLAIN):
        cells += _times(row, label) if label in row.latency.rounds else ["–", "–"]
    return [*cells, *(f"{row.distance[label]:.4f}" if label in row.distance else "–" for label in (OURS, *peers))]


def _times(row: Row, label: str) -> list[str]:
    low, middle, high = row.latency.ratios(label)
    return [f"{1e3 * row.latency.median(label):.2f}", f"{middle:.2f} [{low:.2f}–{high:.2f}]"]


def main(
    names: Annotated[list[str] | None, typer.Argument(help="FAMILY_FORM, as bert_static; all by default.")] = None,
    rounds: Annotated[int, typer.Option(help="Rounds of bursts alternately.")] = 9,
    seconds: Annotated[float, typer.Option(help="Length of a burst.")] = 0.5,
    cpus: Annotated[str | None, typer.Option(help="CPUs to run on, `0,1`; the first two by default.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the measurements here too.")] = None,
) -> None:
    """Time quantized models in mlc and its peers, and the same models in f32 in mlc.

    Example: python -m benchmarks.quantized resnet50_static bert_dynamic --rounds 15
    """
    console, chosen, rows = Console(), limits.cpus(cpus), []
    try:
        with console.status("") as status:
            for name in names or DEFAULT:
                status.update(f"{name}: compiling and timing")
                rows.append(measure(name, chosen, rounds, seconds))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    except Unavailable as error:
        console.print(f"error: {error}")
        raise typer.Exit(1) from None
    show(table(rows), console)
    if json_file:
        json_file.write_text(json.dumps([asdict(row) for row in rows], indent=1))


if __name__ == "__main__":
    typer.run(main)
