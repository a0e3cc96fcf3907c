"""Compare mlc with other engines on one machine: `python -m benchmarks.compare [MODEL...]`.

Each engine has a process of its own on the same CPUs; they are timed in turn (A B A B ...), and a ratio is the median
over the rounds with its quartiles. Compilation is timed in fresh processes, with an empty cache and then with a full
one.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import onnx
import typer
from rich.console import Console
from rich.table import Table

from benchmarks.cases import Case, select
from benchmarks.engines import available_peers
from benchmarks.measure import Latencies, compile_cost, latencies
from benchmarks.models import random_inputs
from benchmarks.models.flops import flops

DEFAULT = ("resnet50", "mobilenet_v2", "bert", "vit", "gpt2", "mlp", "unet", "lstm", "squeezenet", "resnet18", "vgg16")
MIB = 1 << 20


@dataclass(frozen=True)
class Result:
    """What was measured of one model; bytes and seconds."""

    model: str
    gflop: float
    model_bytes: int
    cold: dict[str, float]
    warm: dict[str, float]
    latency: Latencies


@dataclass(frozen=True)
class Setup:
    """How to measure."""

    cpus: list[int]
    peers: list[str]
    rounds: int
    seconds: float


def measure(case: Case, setup: Setup) -> Result:
    """Compile a case twice, then time it and the peers in turn."""
    path, dims = case.file(), case.dims[0]
    proto = onnx.load(path)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        library, inputs, cache = folder / "model.so", folder / "inputs.npz", folder / "cache"
        arrays = random_inputs(proto, np.random.default_rng(), dims)
        np.savez(inputs, allow_pickle=False, **arrays)
        cold, warm = (compile_cost(path, library, len(setup.cpus), dims, cache) for _ in range(2))
        files = {"mlc": library, **dict.fromkeys(setup.peers, path)}
        latency = latencies(files, inputs, setup.cpus, setup.rounds, setup.seconds)
    return Result(case.name, flops(proto, dims) / 1e9, path.stat().st_size, cold, warm, latency)


def speed_table(results: list[Result], setup: Setup) -> Table:
    """Milliseconds, GFLOP/s and ratios, a row a model and their geometric mean."""
    table = Table(title=f"latency on CPUs {setup.cpus}; ratio = time of the peer / time of mlc, median and quartiles")
    peers = [heading for peer in setup.peers for heading in (f"{peer} ms", "ratio")]
    table.add_column("model")
    for heading in ("mlc ms", "GFLOP/s", *peers):
        table.add_column(heading, justify="right")
    for result in results:
        table.add_row(*_speed_cells(result, setup.peers))
    means = [["", f"{_geometric_mean(results, peer):.2f}"] for peer in setup.peers]
    table.add_section()
    table.add_row("geometric mean", "", "", *(cell for pair in means for cell in pair))
    return table


def _speed_cells(result: Result, peers: list[str]) -> list[str]:
    ours = result.latency.median("mlc")
    cells = [result.model, f"{ours * 1e3:.3g}", f"{result.gflop / ours:.0f}"]
    for peer in peers:
        low, ratio, high = result.latency.ratios(peer)
        cells += [f"{result.latency.median(peer) * 1e3:.3g}", f"{ratio:.2f} [{low:.2f}–{high:.2f}]"]
    return cells


def _geometric_mean(results: list[Result], peer: str) -> float:
    return float(np.exp(np.mean([np.log(result.latency.ratios(peer)[1]) for result in results])))


def cost_table(results: list[Result], setup: Setup) -> Table:
    """Compile times, and memory: of compiling against the model's size, of the arena, of the running processes."""
    table = Table(title="compilation (imports aside) and memory, MiB; bound = the most bytes live at once")
    headings = ["cold s", "warm s", "model", "compile peak", "arena", "arena / bound"]
    table.add_column("model")
    for heading in (*headings, "mlc RSS", *(f"{peer} RSS" for peer in setup.peers)):
        table.add_column(heading, justify="right")
    for result in results:
        cold, resident = result.cold, result.latency.resident
        times = [f"{cost['seconds']:.2f}" for cost in (cold, result.warm)]
        sizes = [result.model_bytes, cold["peak"], cold["arena"]]
        cells = [*times, *map(_mib, sizes), f"{cold['arena'] / max(1, cold['bound']):.3f}"]
        table.add_row(result.model, *cells, *(_mib(resident[engine]) for engine in ("mlc", *setup.peers)))
    return table


def _mib(size: float) -> str:
    return f"{size / MIB:.1f}"


def _cpus(text: str | None) -> list[int]:
    return [int(cpu) for cpu in text.split(",")] if text else sorted(os.sched_getaffinity(0))[:2]


def main(
    names: Annotated[list[str] | None, typer.Argument(help="Models; `light*` means a prefix.")] = None,
    peer: Annotated[list[str] | None, typer.Option(help="An engine to compare with; all installed ones.")] = None,
    cpus: Annotated[str | None, typer.Option(help="CPUs to run on, `0,1`; the first two by default.")] = None,
    rounds: Annotated[int, typer.Option(help="Rounds of bursts in turn.")] = 9,
    seconds: Annotated[float, typer.Option(help="Length of a burst.")] = 0.5,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the measurements here too.")] = None,
) -> None:
    """Print the speed, compile time and memory of mlc beside those of the installed peers."""
    setup = Setup(_cpus(cpus), peer or available_peers(), rounds, seconds)
    try:
        cases = select(names or DEFAULT)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    console = Console()
    with console.status("") as status:
        results = []
        for case in cases:
            status.update(case.name)
            results.append(measure(case, setup))
    console.print(speed_table(results, setup), cost_table(results, setup))
    if json_file:
        json_file.write_text(json.dumps([asdict(result) for result in results], indent=1))


if __name__ == "__main__":
    typer.run(main)
