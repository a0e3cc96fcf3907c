"""Gradients of networks beside torch: `python -m benchmarks.gradients [NETWORK...]`.

One call is the loss and its gradient by all parameters: mlc, torch and torch.compile, in turn in one process on the
same threads. A ratio is the median over the rounds; over 1, mlc is faster. The gradients are compared, too.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
import optree
import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

import mlc
from benchmarks.gradient_networks import NETWORKS, OURS, Network, torch_functions

Gradients = list[np.ndarray[Any, Any]]
Step = Callable[[], Gradients]


def ours(network: Network, threads: int) -> Step:
    """A call of the compiled gradient."""

    def loss(parameters: Any, x: Any, labels: Any) -> Any:
        return network.loss(OURS, parameters, x, labels)

    step = mlc.jit(mlc.value_and_grad(loss), threads=threads)
    given = network.parameters, network.x, network.labels
    _ = step.lower(*given).model  # wait for the compiler

    def run() -> Gradients:
        return [np.asarray(each) for each in optree.tree_leaves(step(*given)[1])]

    return run


def torchs(network: Network, compiled: bool) -> Step:
    """A call of torch's loss and its backward pass."""
    import torch

    leaves, tree = optree.tree_flatten(network.parameters)
    tensors = [torch.tensor(each, requires_grad=True) for each in leaves]
    parameters = optree.tree_unflatten(tree, tensors)
    x, labels, functions = torch.from_numpy(network.x), torch.from_numpy(network.labels), torch_functions()

    def loss(parameters: Any, x: Any, labels: Any) -> Any:
        return network.loss(functions, parameters, x, labels)

    forward = torch.compile(loss) if compiled else loss

    def run() -> Gradients:
        for each in tensors:
            each.grad = None
        forward(parameters, x, labels).backward()
        return [each.grad.numpy() for each in tensors]

    return run


def difference(found: Gradients, expected: Gradients) -> float:
    """The largest error of an element, relative to the largest element of its array."""
    pairs = zip(found, expected, strict=True)
    return max(float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-30)) for a, b in pairs)


def seconds(step: Step) -> float:
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


def main(
    names: Annotated[list[str] | None, typer.Argument(help=f"Of {', '.join(NETWORKS)}; all by default.")] = None,
    rounds: Annotated[int, typer.Option(help="Calls of each, in turn.")] = 15,
    threads: Annotated[int, typer.Option(help="Threads of each; 0: the allowed CPUs.")] = 0,
    compiled: Annotated[bool, typer.Option("--compiled/--eager", help="Measure torch.compile, too.")] = True,
) -> None:
    """Measure gradients beside torch and torch.compile."""
    import torch

    threads = threads or len(os.sched_getaffinity(0))
    torch.set_num_threads(threads)
    table = Table("network", "mlc ms", "torch", "compile", "torch / mlc", "compile / mlc", "difference")
    for name in names or NETWORKS:
        network = NETWORKS[name](np.random.default_rng(7))
        steps = {"mlc": ours(network, threads), "torch": torchs(network, False)}
        if compiled:
            steps["torch.compile"] = torchs(network, True)
        first = {key: step() for key, step in steps.items()}
        times: dict[str, list[float]] = {key: [] for key in steps}
        for _ in track(range(rounds), description=name, console=Console(stderr=True)):
            for key, step in steps.items():
                times[key].append(seconds(step))
        table.add_row(name, *_row(times), f"{difference(first['mlc'], first['torch']):.1e}")
    console = Console()
    console.print(f"{threads} threads, torch {torch.__version__}", table)


def _row(times: dict[str, list[float]]) -> list[str]:
    peers = ("torch", "torch.compile")
    medians = [f"{1000 * float(np.median(times[key])):.2f}" if key in times else "-" for key in ("mlc", *peers)]
    ratios = [np.median(np.divide(times[key], times["mlc"])) if key in times else None for key in peers]
    return [*medians, *(f"{ratio:.2f}" if ratio is not None else "-" for ratio in ratios)]


if __name__ == "__main__":
    typer.run(main)
