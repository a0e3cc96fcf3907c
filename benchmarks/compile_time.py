"""Compile time with open dimensions and with fixed ones: `python -m benchmarks.compile_time FILE… [--dim N=5]`.

Two rows a model, as it is shipped and with its dimensions fixed: nodes, kernels, of which so many are long or wide
(`benchmarks.kernel_budgets`), lines of C, CPU seconds of the passes (of which tile and loops) and of the C compiler,
and the budget of 2 + nodes/100 CPU seconds. Each row is compiled in a process of its own, with nothing in the cache. A
model may also be a family of `benchmarks.models`.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import onnx

from benchmarks import models

HEAD = f"{'model':<28}{'dims':<6}{'nodes':>6}{'kernels':>8}{'long':>6}{'wide':>6}{'lines':>8}{'ops':>8}"
COLUMNS = ("passes", "tile", "loops", "C", "total", "budget")


@dataclass(frozen=True)
class Cost:
    """Of one compilation: sizes of what was made, and CPU seconds of all processes."""

    kernels: int
    long: int
    wide: int
    lines: int
    operations: int
    passes: float
    tile: float
    loops: float
    c: float

    @property
    def total(self) -> float:
        return self.passes + self.c


def compiled(path: str, dims: Mapping[str, int], target: str, threads: int) -> Cost:
    """The cost of compiling one model in this process, with the imports of mlc."""
    from benchmarks.kernel_budgets import long_kernels, wide_kernels
    from mlc.api import make_options
    from mlc.driver.artifact.write_artifact import write_artifact
    from mlc.driver.cache.cache_key import Needs
    from mlc.driver.cache.disk_cache import Cache
    from mlc.driver.cache.known_keys import learn
    from mlc.driver.compile import lower_source
    from mlc.driver.onnx_source import OnnxSource
    from mlc.driver.toolchain.link import compiled_runtime
    from mlc.pipelines.backends import backend_of
    from mlc.tools.instruments import Timer

    source, options, timer = OnnxSource.of(path), make_options(target, threads, dims=dims, tuned=False), Timer()
    toolchain, cache = backend_of(options.target).toolchain(options.cc), Cache.default()
    with compiled_runtime(options, toolchain, cache):
        lowered = lower_source(source, options, [timer], cache=cache)
    needs = Needs(source.external_files(), lowered.families)
    key = learn(source, needs, lowered.kernel_digests, options, toolchain, cache)
    write_artifact(lowered, key, options, toolchain, cache)
    lines = sum(text.count("\n") for name, text in lowered.sources.items() if name.endswith(".c"))
    loops = max((step.ops_after for step in timer.steps if step.stage == "loops"), default=0)
    stages, times = timer.stages(), os.times()
    passes, c = times.user + times.system, times.children_user + times.children_system
    long, wide = len(long_kernels(lowered.sources)), len(wide_kernels(lowered.module))
    return Cost(len(lowered.signature["kernels"]), long, wide, lines, loops, passes, stages["tile"], stages["loops"], c)


def measure(path: Path, dims: Mapping[str, int], target: str, threads: int, patience: float) -> Cost | str:
    """The cost from a fresh process, or why there is none."""
    job = json.dumps({"path": str(path), "dims": dict(dims), "target": target, "threads": threads})
    command = [sys.executable, "-m", "benchmarks.compile_time", "--one", job]
    with tempfile.TemporaryDirectory() as cache:
        variables = os.environ | {"MLC_CACHE_DIR": cache}
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=patience, env=variables)
        except subprocess.TimeoutExpired:
            return f"not done in {patience:g} s"
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["killed"])[-1][:200]
    return Cost(**json.loads(done.stdout))


def row(name: str, kind: str, nodes: int, cost: Cost | str) -> str:
    """One line of the table."""
    head = f"{name[:27]:<28}{kind:<6}{nodes:>6}"
    if isinstance(cost, str):
        return f"{head}  {cost}"
    figures = (cost.passes, cost.tile, cost.loops, cost.c, cost.total, min(2 + nodes / 100, 20))
    cells = "".join(f"{n:>8.2f}" for n in figures)
    return f"{head}{cost.kernels:>8}{cost.long:>6}{cost.wide:>6}{cost.lines:>8}{cost.operations:>8}{cells}"


def nodes_of(graph: onnx.GraphProto) -> int:
    """Nodes of a graph and of those in its attributes."""
    inside = (a for node in graph.node for a in node.attribute)
    return len(graph.node) + sum(nodes_of(a.g) for a in inside if a.type == onnx.AttributeProto.GRAPH)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compile_time", description=__doc__)
    parser.add_argument("models", nargs="*", metavar="MODEL", help="an ONNX file, or a family of benchmarks.models")
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=N", help="of the row with fixed dimensions")
    parser.add_argument("--open", action="append", default=[], metavar="NAME=D", help="a family's option, as batch=n")
    parser.add_argument("--target", default="x86-64-v3")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--patience", type=float, default=300, help="seconds after which a compilation is ended")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.one:
        gc.disable()  # as `mlc compile`
        print(json.dumps(asdict(compiled(**json.loads(given.one)))))
        return
    dims = {name: int(n) for name, n in (each.rsplit("=", 1) for each in given.dim)}
    options = dict(each.split("=", 1) for each in given.open)
    print(HEAD + "".join(f"{name:>8}" for name in COLUMNS))
    for model in given.models:
        path = models.path(model, **options) if model in models.FAMILIES else Path(model)
        nodes = nodes_of(onnx.load(path, load_external_data=False).graph)
        for kind, values in (("open", {}), ("fixed", dims)) if dims else (("open", {}),):
            print(
                row(path.stem, kind, nodes, measure(path, values, given.target, given.threads, given.patience)),
                flush=True,
            )


if __name__ == "__main__":
    main()
