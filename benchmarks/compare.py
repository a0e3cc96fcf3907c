"""Compare mlc with other engines on one machine: `python -m benchmarks.compare [MODEL...]`.

Each engine has a process of its own on the same CPUs; timed alternately (A B A B ...), and a ratio is the median
over the rounds with its quartiles. Compilation is timed in fresh processes, with an empty cache and then with a full
one.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import numpy as np
import onnx
import rich.table
import typer
from rich.console import Console
from rich.markup import escape

from benchmarks import limits, tables
from benchmarks.cases import Case, select
from benchmarks.engines import ENGINES, available_peers, installed
from benchmarks.handover import handover
from benchmarks.limits import HERE
from benchmarks.machine import describe
from benchmarks.measure import compile_cost, latencies
from benchmarks.models import random_inputs
from benchmarks.models.flops import flops
from benchmarks.models.traffic import traffic
from benchmarks.results import OURS, Comparison, Result, Setup
from mlc import target as targets
from mlc.errors import InputError

DEFAULT = (
    "resnet50", "mobilenet_v2", "efficientnet_b0", "bert", "vit", "gpt2", "llama_prefill", "llama_decode", "mlp",
    "mlp_tiny", "unet", "dcgan", "lstm", "squeezenet", "resnet18", "vgg16",
)  # fmt: skip


def measure(case: Case, setup: Setup) -> Result:
    """Compile a case twice, then time it and the peers alternately; RuntimeError if mlc cannot take it."""
    path, dims = case.file(), case.dims[0]
    proto = onnx.load(path)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        library, inputs, cache = folder / "model.so", folder / "inputs.npz", folder / "cache"
        arrays = random_inputs(proto, np.random.default_rng(), dims)
        np.savez(inputs, allow_pickle=False, **arrays)
        cold, warm = (compile_cost(path, library, len(setup.cpus), dims, cache, setup.target) for _ in range(2))
        files = {OURS: library, **dict.fromkeys(setup.peers, path)}
        handovers = [handover(setup.cpus)]
        latency = latencies(files, inputs, setup.cpus, setup.rounds, setup.seconds, setup.patience, setup.target)
        handovers.append(handover(setup.cpus))
    if OURS in latency.failures:
        raise RuntimeError(latency.failures[OURS])
    work = flops(proto, dims) / 1e9, traffic(proto, dims)
    return Result(case.name, *work, path.stat().st_size, cold, warm, setup.seconds, latency, handovers)


def run(cases: Iterable[Case], setup: Setup, console: Console, file: Path | None = None) -> Comparison:
    """Measure all cases, and write what is there after each; one that mlc cannot take is noted and left out."""
    comparison = Comparison(describe(setup.cpus, setup.peers), setup, [], {})
    with console.status("") as status:
        for case in cases:
            status.update(case.name)
            try:
                comparison.results.append(measure(case, setup))
            except RuntimeError as error:
                comparison.failed[case.name] = str(error)
            if file:
                comparison.save(file)
    return comparison


def show(table: tables.Table, console: Console) -> None:
    """Print a table, unless it is empty."""
    drawn = rich.table.Table(title=table.title)
    for i, heading in enumerate(table.headings):
        drawn.add_column(heading, justify="right" if i else "left", overflow="fold")
    for row in table.rows:
        drawn.add_row(*(escape(cell.strip("`")) for cell in row))
    if table.rows:
        console.print(drawn)


def _setup(
    peer: list[str] | None, cpus: str | None, rounds: int, seconds: float, patience: float, target: str
) -> Setup:
    for name in peer or []:
        if not installed(name) or name == OURS:
            raise ValueError(f"no peer {name!r} is installed; known are: {', '.join(ENGINES)}")
    return Setup(limits.cpus(cpus), peer or available_peers(), rounds, seconds, patience, targets.get(target).name)


def main(
    names: Annotated[list[str] | None, typer.Argument(help="Models; `op_*` means a prefix.")] = None,
    peer: Annotated[list[str] | None, typer.Option(help="An engine to compare with; all installed but tvm.")] = None,
    cpus: Annotated[str | None, typer.Option(help="CPUs to run on, `0,1`; the first two by default.")] = None,
    rounds: Annotated[int, typer.Option(help="Rounds of bursts alternately.")] = 9,
    seconds: Annotated[float, typer.Option(help="Length of a burst.")] = 0.5,
    patience: Annotated[float, typer.Option(help="Seconds in which a peer must have loaded a model.")] = 600,
    target: Annotated[str, typer.Option(help="CPU to compile for, `x86-64-v3`; peers are kept to it.")] = HERE,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the measurements here too.")] = None,
) -> None:
    """Print the speed, compile time and memory of mlc beside those of the installed peers."""
    try:
        cases, setup = select(names or DEFAULT), _setup(peer, cpus, rounds, seconds, patience, target)
    except (ValueError, InputError) as error:
        raise typer.BadParameter(str(error)) from None
    console = Console()
    if note := tables.note(setup):
        console.print(note)
    found = run(cases, setup, console, json_file)
    for make in (tables.latency, tables.compiling, tables.memory):
        show(make(found.results, setup.peers), console)
    show(tables.failures(found), console)


if __name__ == "__main__":
    typer.run(main)
