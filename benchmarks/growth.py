"""How compile time grows with a model: `python -m benchmarks.growth [KIND…] [--size N…]`, seconds a stage.

A row is one model, compiled in a process of its own that ends after `--patience` seconds. Nothing comes from the cache.
The column `CPU` has the processor's seconds, with those of the C compiler: other programs change them less.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

from benchmarks.models.growing import KINDS

SIZES = (10, 100, 1_000, 10_000, 100_000)
STAGES = ("import", "graph", "layout", "fuse", "kernel", "schedule", "tile", "loops", "plan", "print C", "C compiler")
COLUMNS = ("total", "CPU", *STAGES)
NAMES = {"code.emit-c": "print C", "code.compile": "C compiler"}


def seconds(kind: str, size: int) -> dict[str, float]:
    """Seconds of each stage of compiling one model, and of all."""
    from mlc.api import make_options
    from mlc.driver.compile import compile_source
    from mlc.driver.onnx_source import OnnxSource
    from mlc.tools.instruments import Timer

    data = KINDS[kind].make(size).SerializeToString()
    timer, start, cpu = Timer(), time.perf_counter(), sum(os.times()[:4])
    compile_source(OnnxSource.named(kind, data), make_options("x86-64-v3", 2, tuned=False), [timer], reuse=False)
    found = {"total": time.perf_counter() - start, "CPU": sum(os.times()[:4]) - cpu}
    for step in timer.steps:
        stage = NAMES.get(step.name, step.stage)
        found[stage] = found.get(stage, 0.0) + step.seconds
    return found


def measure(kind: str, size: int, patience: float) -> dict[str, float] | str:
    """The seconds from a fresh process, or why there are none."""
    command = [sys.executable, "-m", "benchmarks.growth", "--one", kind, str(size)]
    with tempfile.TemporaryDirectory() as cache:
        try:
            done = _run(command, {"MLC_CACHE_DIR": cache}, patience)
        except subprocess.TimeoutExpired:
            return f"not done in {patience:g} s"
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr.strip().splitlines()[-1][:200]


def _run(command: Sequence[str], variables: dict[str, str], patience: float) -> subprocess.CompletedProcess[str]:
    environment = os.environ | variables
    return subprocess.run(command, capture_output=True, text=True, timeout=patience, env=environment)


def row(kind: str, size: int, found: dict[str, float] | str) -> str:
    """One line of the table."""
    head = f"{kind:<8}{size:>8}"
    if isinstance(found, str):
        return f"{head}  {found}"
    return head + "".join(f"{found.get(stage, 0.0):>{_width(stage)}.2f}" for stage in COLUMNS)


def _width(stage: str) -> int:
    return max(8, len(stage) + 3)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"{', '.join(KINDS)}; without any all of them")
    parser.add_argument("--size", type=int, nargs="+", default=SIZES, help="how many nodes, or operands")
    parser.add_argument("--patience", type=float, default=300, help="seconds after which a compilation is ended")
    parser.add_argument("--one", nargs=2, metavar=("KIND", "SIZE"), help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.one:
        print(json.dumps(seconds(given.one[0], int(given.one[1]))))
        return
    print(f"{'kind':<8}{'nodes':>8}" + "".join(f"{stage:>{_width(stage)}}" for stage in COLUMNS))
    for kind in given.kinds or KINDS:
        for size in (s for s in given.size if s <= KINDS[kind].most):
            print(row(kind, size, measure(kind, size, given.patience)), flush=True)


if __name__ == "__main__":
    main()
