"""mlc bench: the latency distribution of a model, and where its time goes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlc.cli.common import (
    Dims,
    Inputs,
    ModelPath,
    NoTuned,
    Numerics,
    Seed,
    Target,
    Threads,
    gather_inputs,
    open_model,
    parse_dims,
    schedule_of,
)
from mlc.tables import console, table

if TYPE_CHECKING:
    from rich.table import Table

    from mlc.peak import Peak
    from mlc.runtime import Model


def command(
    model: ModelPath,
    input: Inputs = [],  # noqa: B006 - typer reads the default, nothing changes it
    random: Seed = 0,
    threads: Threads = 0,
    dim: Dims = [],  # noqa: B006
    target: Target = "cpu",
    numerics: Numerics = "default",
    no_tuned: NoTuned = False,
    seconds: Annotated[float, typer.Option(min=0.0, help="How long to measure; at least 5 runs.")] = 3.0,
    warmup: Annotated[int, typer.Option(min=0, help="Runs before measuring.")] = 3,
    profile: Annotated[bool, typer.Option("--profile", help="Also a row a kernel.")] = False,
) -> None:
    """Measure the latency of a model on random inputs (or those of -i).

    \b
    mlc bench model.onnx --threads 2
    mlc bench model.so --dim batch=8 --profile
    """
    dims = parse_dims(dim)
    net = open_model(model, threads, target=target, numerics=numerics, tuned=not no_tuned)
    inputs = gather_inputs(net, input, random, dims)
    for _ in range(warmup):
        net.run(inputs)
    print(f"{net.name}: {summary(measure(net, inputs, seconds))}")
    if profile:
        console().print(profile_table(net, inputs, threads))


def measure(net: Model, inputs: dict[str, Any], seconds: float) -> list[float]:
    """Latencies of single runs, in seconds, sorted."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < 5 or time.perf_counter() < end:
        start = time.perf_counter()
        net.run(inputs)
        times.append(time.perf_counter() - start)
    return sorted(times)


def summary(times: list[float]) -> str:
    """One line of a sorted list of latencies."""
    quantiles = {"min": 0.0, "median": 0.5, "p90": 0.9, "p99": 0.99}
    picked = {name: times[min(len(times) - 1, int(q * len(times)))] for name, q in quantiles.items()}
    return ", ".join(f"{name} {1e3 * value:.3f} ms" for name, value in picked.items()) + f" ({len(times)} runs)"


def profile_table(net: Model, inputs: dict[str, Any], threads: int, runs: int = 10) -> Table:
    """A row a kernel launch, the slowest first: the median of ``runs`` profiled runs."""
    from mlc.peak import measure_peak

    peak = measure_peak(threads)
    title = f"Kernels; peak {peak.flops / 1e9:.0f} GFLOP/s, {peak.bytes / 1e9:.1f} GB/s, measured"
    made = table(title, "kernel", ">ms", ">share", ">GFLOP/s", ">GB/s", ">of peak", "schedule", "nodes")
    rows = _median_rows(net, inputs, runs)
    total = sum(seconds for _, seconds in rows) or 1.0
    for kernel, seconds in sorted(rows, key=lambda row: -row[1]):
        made.add_row(*_cells(kernel, seconds, total, peak))
    return made


def _median_rows(net: Model, inputs: dict[str, Any], runs: int) -> list[tuple[dict[str, Any], float]]:
    """Each launch with its median time in seconds."""
    profiles = [net.profile(**inputs) for _ in range(runs)]
    launches = zip(*profiles, strict=True)
    return [(launch[0][0], sorted(ns for _, ns in launch)[runs // 2] / 1e9) for launch in launches]


def _cells(kernel: dict[str, Any], seconds: float, total: float, peak: Peak) -> list[str]:
    seconds = max(seconds, 1e-9)
    flops, moved = kernel["flops"], kernel["bytes"]
    times = f"{1e3 * seconds:.3f}", f"{seconds / total:.1%}"
    rates = f"{flops / seconds / 1e9:.1f}", f"{moved / seconds / 1e9:.1f}", f"{peak.share(flops, moved, seconds):.0%}"
    return [kernel["name"], *times, *rates, schedule_of(kernel), _nodes(kernel["nodes"])]


def _nodes(nodes: list[str]) -> str:
    more = f" +{len(nodes) - 3}" if len(nodes) > 3 else ""
    return ", ".join(nodes[:3]) + more
