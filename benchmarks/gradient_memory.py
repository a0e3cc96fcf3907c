"""Memory of gradients beside torch: `python -m benchmarks.gradient_memory [NETWORK...]`.

One call is the loss and its gradient by all parameters, by default and in budgets down to the smallest one. Memory
is that of intermediate values and results: mlc's planned arena and its outputs, and the most bytes that torch's
allocator has given out at once, by its profiler. Times are medians of CPU
time over calls in turn, on the same threads: what another program does counts less than in time that passes.
"""

from __future__ import annotations

import os
import time
from typing import Annotated, Any

import numpy as np
import optree
import typer
from rich.console import Console
from rich.table import Table

import mlc
from benchmarks.gradient_networks import NETWORKS, OURS, Network
from benchmarks.gradients import Step, torchs
from mlc.dialects import rt
from mlc.driver.compile import lower_source

SHARES = (0.75, 0.5, 0.25, 0)  # of the way from the smallest arena to the default


def in_memory(network: Network, threads: int, budget: int) -> Any:
    """The jitted gradient in a budget; 0: the default."""

    def loss(parameters: Any, x: Any, labels: Any) -> Any:
        return network.loss(OURS, parameters, x, labels)

    return mlc.jit(mlc.value_and_grad(loss), threads=threads, peak_memory=budget, wait=True)


def given(network: Network) -> tuple[Any, ...]:
    return network.parameters, network.x, network.labels


def arena(network: Network, budget: int) -> int:
    """The arena in a budget, in bytes."""
    traced = in_memory(network, 1, budget).lower(*given(network))
    module = lower_source(traced.source, traced.options, until="plan").module
    return next(op.arena.data["bytes"].value.data for op in module.ops if isinstance(op, rt.ProgramOp))


def smallest(network: Network) -> int:
    """The smallest arena, which the error for a budget of one byte names."""
    try:
        return arena(network, 1)
    except mlc.InputError as error:
        return int(str(error).partition("peak_memory=")[2].split()[0])


def torch_peak(step: Step) -> int:
    """The most bytes that torch's allocator has given out at once during a call, gradients among them."""
    import torch

    step()
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, profile_memory=True) as profile:
        step()
    events = [e for e in profile.profiler.kineto_results.events() if e.name() == "[memory]"]
    changes = [event.nbytes() for event in sorted(events, key=lambda event: event.start_ns())]
    now = np.cumsum(changes)
    return int(now.max() - min(0, now.min()))


def measured(steps: dict[Any, Step], rounds: int) -> dict[Any, float]:
    """Median CPU times, in ms, of calls in turn."""
    times: dict[Any, list[float]] = {key: [] for key in steps}
    for _ in range(rounds):
        for key, step in steps.items():
            start = time.process_time()
            step()
            times[key].append(time.process_time() - start)
    return {key: 1000 * float(np.median(each)) for key, each in times.items()}


def main(
    names: Annotated[list[str] | None, typer.Argument(help=f"Of {', '.join(NETWORKS)}; all by default.")] = None,
    rounds: Annotated[int, typer.Option(help="Calls of each, in turn.")] = 11,
    threads: Annotated[int, typer.Option(help="Threads of each; 0: the allowed CPUs.")] = 0,
) -> None:
    """Measure the memory and time of gradients, in budgets of memory and beside torch."""
    import torch

    threads = threads or len(os.sched_getaffinity(0))
    torch.set_num_threads(threads)
    table = Table("network", "budget MB", "arena MB", "+ results", "torch / mlc", "CPU ms", "/ default", "torch / mlc")
    for name in names or NETWORKS:
        for row in _rows(name, NETWORKS[name](np.random.default_rng(7)), rounds, threads):
            table.add_row(*row)
    Console(width=120).print(f"{threads} threads, torch {torch.__version__}", table)


def _rows(name: str, network: Network, rounds: int, threads: int) -> list[list[str]]:
    whole, least = arena(network, 0), smallest(network)
    tried = [0, *(int(least + share * (whole - least)) for share in SHARES)] if least < whole else [0]
    found = {budget: arena(network, budget) for budget in tried}
    budgets = list({found[budget]: budget for budget in reversed(tried)}.values())[::-1]
    peer = torchs(network, compiled=False)
    steps: dict[Any, Step] = {"torch": peer}
    for budget in budgets:
        jitted = in_memory(network, threads, budget)
        steps[budget] = lambda jitted=jitted: jitted(*given(network))[1]  # type: ignore[misc]
        steps[budget]()
    times, peak = measured(steps, rounds), torch_peak(peer)
    results = sum(leaf.nbytes for leaf in optree.tree_leaves(network.parameters))
    return [
        [name, f"{budget / 1e6:.1f}" if budget else "default", f"{found[budget] / 1e6:.1f}",
         f"{(found[budget] + results) / 1e6:.1f}", f"{peak / (found[budget] + results):.2f}",
         f"{times[budget]:.2f}", f"{times[budget] / times[0]:.2f}", f"{times['torch'] / times[budget]:.2f}"]
        for budget in budgets
    ]  # fmt: skip


if __name__ == "__main__":
    typer.run(main)
