"""What each C compiler makes of the same kernels: `python -m benchmarks.c_compilers [MODEL...]`.

Every compiler that is installed (gcc, clang, the ziglang wheel) compiles a model in a fresh process with an empty
cache; then one process each runs the artifacts alternately. A ratio is gcc's time over the compiler's, above 1 it is
faster.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import numpy as np
import onnx
import typer
from rich.console import Console

from benchmarks import limits, tables
from benchmarks.cases import Case, select
from benchmarks.compare import show
from benchmarks.measure import compile_cost, latencies
from benchmarks.models import random_inputs

DEFAULT = ("resnet50", "mobilenet_v2", "bert", "llama_decode", "lstm", "unet", "mlp")
HEADINGS = ["model", "compiler", "compile s", "library KB", "ms", "speed", "quartiles"]


def compilers() -> dict[str, str]:
    """Name -> command of those that are installed; the first is what the others are compared with."""
    found = {name: name for name in ("gcc", "clang") if shutil.which(name)}
    return found | ({"zig": f"{sys.executable} -m ziglang cc"} if find_spec("ziglang") else {})


def measure(case: Case, commands: dict[str, str], cpus: list[int], rounds: int, seconds: float) -> list[list[str]]:
    """A row a compiler; RuntimeError if one fails."""
    path, dims = case.file(), case.dims[0]
    engines = dict(zip(commands, ("mlc", *(f"mlc@{name}" for name in list(commands)[1:])), strict=True))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.savez(folder / "inputs.npz", allow_pickle=False, **random_inputs(onnx.load(path), 1, dims))
        files = {compiler: folder / f"{compiler}.so" for compiler in commands}
        costs = {
            compiler: compile_cost(path, files[compiler], len(cpus), dims, folder / compiler, cc=command)
            for compiler, command in commands.items()
        }
        sizes = {compiler: file.stat().st_size / 1e3 for compiler, file in files.items()}
        runs = {engines[compiler]: file for compiler, file in files.items()}
        latency = latencies(runs, folder / "inputs.npz", cpus, rounds, seconds)
    if latency.failures:
        raise RuntimeError(", ".join(f"{engine}: {reason}" for engine, reason in latency.failures.items()))
    rows = []
    for compiler, engine in engines.items():
        low, ratio, high = (1 / r for r in reversed(latency.ratios(engine)))
        times = [f"{latency.median(engine) * 1e3:.3f}", f"{ratio:.3f}", f"{low:.3f}-{high:.3f}"]
        rows.append([case.name, compiler, f"{costs[compiler]['seconds']:.1f}", f"{sizes[compiler]:.0f}", *times])
    return rows


def main(
    names: Annotated[list[str] | None, typer.Argument(help="Models; `op_*` means a prefix.")] = None,
    cpus: Annotated[str | None, typer.Option(help="CPUs to run on, `0,1`; the first two by default.")] = None,
    rounds: Annotated[int, typer.Option(help="Rounds of bursts alternately.")] = 9,
    seconds: Annotated[float, typer.Option(help="Length of a burst.")] = 0.3,
) -> None:
    """Print compile time, size and speed of the same models by each installed C compiler."""
    console, rows = Console(), []
    with console.status("") as status:
        for case in select(names or DEFAULT):
            status.update(case.name)
            rows += measure(case, compilers(), limits.cpus(cpus), rounds, seconds)
    show(tables.Table("C compilers", HEADINGS, rows), console)


if __name__ == "__main__":
    typer.run(main)
