"""Training steps beside torch and JAX: `python -m benchmarks.training [NETWORK...]`.

One call is a whole step with Adam: forward, backward, update. mlc's program owns the parameters and moments; torch runs
eager and compiled with fused Adam, JAX its jit with donated arguments, in turn in one process on the same threads. A
ratio is the median over the rounds; over 1, mlc is faster. A turn of steps shorter than 20 ms is several of them, as in
training, after one that finds caches and threads as the other library left them. The losses of the first steps are
compared with those of torch in float64: what each library loses by rounding.
Cold compile seconds (of the clock, and of CPUs with the C compiler's) and peak memory (growth of the resident set after
the imports, compiled before) are of a process each.
"""

from __future__ import annotations

import dataclasses
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import optree
import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

import mlc
import mlc.numpy as mnp
from benchmarks import limits
from benchmarks.training_networks import NETWORKS, OURS, Network, jax_functions, torch_functions
from benchmarks.training_twins import in_float64

Step = Callable[[], float]
TURN = 0.02  # seconds of short steps
COMPARED = 5  # losses at most: Adam divides by small numbers, so that later ones say little of a library
RATE, FIRST, SECOND, EPSILON = 1e-3, 0.9, 0.999, 1e-8  # of Adam (Kingma and Ba, 2015), torch's defaults


def adam(params: Any, opt: Any, gradient: Any, sqrt: Any) -> tuple[Any, Any]:
    """New parameters and moments, as torch computes them."""
    t = opt["t"] + 1
    m = optree.tree_map(lambda m, g: FIRST * m + (1 - FIRST) * g, opt["m"], gradient)
    v = optree.tree_map(lambda v, g: SECOND * v + (1 - SECOND) * g * g, opt["v"], gradient)
    scale, root = RATE / (1 - FIRST**t), 1 / sqrt(1 - SECOND**t)
    new = optree.tree_map(lambda p, m, v: p - scale * m / (sqrt(v) * root + EPSILON), params, m, v)
    return new, {"m": m, "v": v, "t": t}


def start(parameters: Any) -> dict[str, Any]:
    zeros = optree.tree_map(np.zeros_like, parameters)
    return {"m": zeros, "v": optree.tree_map(np.zeros_like, parameters), "t": np.float32(0)}


def ours(network: Network, threads: int, target: str = "cpu") -> Step:
    def step(params: Any, opt: Any, x: Any, labels: Any) -> Any:
        loss, gradient = mlc.value_and_grad(lambda p: network.loss(OURS, p, x, labels))(params)
        return *adam(params, opt, gradient, mnp.sqrt), loss

    compiled = mlc.jit(step, state=("params", "opt"), threads=threads, target=target)
    training = compiled.create(network.parameters, start(network.parameters))
    return lambda: float(training(network.x, network.labels))


def torchs(network: Network, compiled: bool, device: str = "cpu") -> Step:
    import torch

    leaves, tree = optree.tree_flatten(network.parameters)
    tensors = [torch.tensor(each, requires_grad=True, device=device) for each in leaves]
    parameters = optree.tree_unflatten(tree, tensors)
    x, labels = (torch.from_numpy(each).to(device) for each in (network.x, network.labels))
    functions = torch_functions()
    optimizer = torch.optim.Adam(tensors, lr=RATE, fused=True)

    def loss(parameters: Any, x: Any, labels: Any) -> Any:
        return network.loss(functions, parameters, x, labels)

    forward = torch.compile(loss) if compiled else loss

    def run() -> float:
        optimizer.zero_grad()
        value = forward(parameters, x, labels)
        value.backward()
        optimizer.step()
        return value.item()

    return run


def jaxs(network: Network) -> Step:
    import jax

    functions = jax_functions()

    def step(params: Any, opt: Any, x: Any, labels: Any) -> Any:
        loss, gradient = jax.value_and_grad(lambda p: network.loss(functions, p, x, labels))(params)
        return *adam(params, opt, gradient, jax.numpy.sqrt), loss

    compiled = jax.jit(step, donate_argnums=(0, 1))
    state = [jax.tree.map(jax.numpy.array, (network.parameters, start(network.parameters)))]

    def run() -> float:
        *new, loss = compiled(*state[0], network.x, network.labels)
        state[0] = tuple(new)
        return float(loss)

    return run


def maker(library: str, threads: int, target: str = limits.HERE) -> Callable[[Network], Step]:
    """What makes the step of a network in a library."""
    return {
        "mlc": lambda network: ours(network, threads, target),
        "torch": lambda network: torchs(network, False),
        "torch.compile": lambda network: torchs(network, True),
        "jax": jaxs,
    }[library]


def alone(name: str, library: str, threads: int, folder: str) -> list[float]:
    """Of a process of its own: seconds until the first step has run, by the clock and of CPUs, and MiB of growth; the
    cache is in ``folder``."""
    command = [sys.executable, "-m", "benchmarks.training", name, "--alone", library, "--threads", str(threads)]
    environment = os.environ | {"MLC_CACHE_DIR": folder, "TORCHINDUCTOR_CACHE_DIR": folder}
    found = subprocess.run(command, env=environment, capture_output=True, text=True)
    if found.returncode:
        raise SystemExit(found.stderr)
    return [float(word) for word in found.stdout.split()[-3:]]


def _alone(name: str, library: str, threads: int) -> None:
    network, before = NETWORKS[name](np.random.default_rng(7)), 0.0
    if library != "mlc":
        __import__(library.partition(".")[0])
    before, begin, cpu = _resident(), time.perf_counter(), _cpu_seconds()
    step = maker(library, threads)(network)
    step()
    seconds = time.perf_counter() - begin, _cpu_seconds() - cpu
    for _ in range(2):
        step()
    print(*seconds, _resident(most=True) - before)


def _cpu_seconds() -> float:
    """The CPU time of this process and of those that it waited for."""
    return sum(os.times()[:4])


def _resident(most: bool = False) -> float:
    """MiB of this process in memory, now or at most; getrusage counts what the process was forked from as well."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(lines["VmHWM" if most else "VmRSS"].split()[0]) / 1024


def main(
    names: Annotated[list[str] | None, typer.Argument(help=f"Of {', '.join(NETWORKS)}; all by default.")] = None,
    rounds: Annotated[int, typer.Option(help="Steps of each, in turn; 0: no times.")] = 15,
    threads: Annotated[int, typer.Option(help="Threads of each; 0: the allowed CPUs.")] = 0,
    peers: Annotated[str, typer.Option(help="Of torch,torch.compile,jax.")] = "torch,torch.compile,jax",
    cpu: Annotated[bool, typer.Option("--cpu", help="Time of CPUs, on a busy machine with --threads 1.")] = False,
    processes: Annotated[bool, typer.Option(help="Compile time and memory, in processes of their own.")] = True,
    alone: Annotated[str, typer.Option(help="Only one library: seconds of the first step, MiB.")] = "",
    target: Annotated[str, typer.Option(help="The CPU to compile for; torch is kept to its AVX2.")] = limits.HERE,
) -> None:
    """Measure training steps beside torch and JAX."""
    threads = threads or len(os.sched_getaffinity(0))
    os.environ.setdefault("XLA_FLAGS", f"--xla_cpu_multi_thread_eigen=true intra_op_parallelism_threads={threads}")
    os.environ.update(limits.environment(target))
    libraries = ["mlc", *filter(None, peers.split(","))]
    if alone.startswith("torch") or not alone:
        import torch

        torch.set_num_threads(threads)
    if alone:
        for name in names or ():
            _alone(name, alone, threads)
        return
    columns = [*(f"{each} ms" for each in libraries), *(f"{each} / mlc" for each in libraries[1:])]
    table = Table("network", *columns, "compile s", "CPU s", "MiB", "torch MiB", "mlc / torch")
    errors = Table("network", *libraries, title="Losses of the first steps: most distance from torch in float64")
    for name in names or NETWORKS:
        losses: dict[str, list[float]] = {}
        timed = ["-"] * len(columns)
        if rounds:
            losses, timed = _measured(name, libraries, rounds, threads, cpu, target)
        table.add_row(name, *timed, *_processes(name, threads, processes))
        errors.add_row(name, *_errors(name, losses))
    Console(width=150).print(f"{threads} threads, time of {'CPUs' if cpu else 'the clock'}", table)
    if rounds and len(libraries) > 1:
        Console(width=150).print(errors)


def _measured(
    name: str, libraries: list[str], rounds: int, threads: int, cpu: bool, target: str = limits.HERE
) -> tuple[dict[str, list[float]], list[str]]:
    """The losses of each library; milliseconds of a step, and the ratios of the others over the first."""
    network = NETWORKS[name](np.random.default_rng(7))
    steps = {key: maker(key, threads, target)(network) for key in libraries}
    losses = {key: [step()] for key, step in steps.items()}
    times: dict[str, list[float]] = {key: [] for key in steps}
    clock = time.process_time if cpu else time.perf_counter
    count = _steps_of_a_turn(steps, losses)
    for _ in track(range(rounds), description=name, console=Console(stderr=True)):
        for key, step in steps.items():
            losses[key] += [step() for _ in range(count > 1)]
            begin = clock()
            losses[key] += [step() for _ in range(count)]
            times[key].append((clock() - begin) / count)
    medians = [f"{1000 * float(np.median(times[key])):.2f}" for key in libraries]
    ratios = [f"{np.median(np.divide(times[key], times['mlc'])):.2f}" for key in libraries[1:]]
    return losses, [*medians, *ratios]


def _errors(name: str, losses: dict[str, list[float]]) -> list[str]:
    """The largest distance of each library's first losses from those of torch in float64."""
    if len(losses) < 2:
        return []
    first = [each[:COMPARED] for each in losses.values()]
    with in_float64():
        step = torchs(widened(NETWORKS[name](np.random.default_rng(7))), False)
        exact = [step() for _ in first[0]]
    return [f"{np.abs(np.subtract(each, exact)).max():.1e}" for each in first]


def widened(network: Network) -> Network:
    """The network with parameters and inputs in float64; numbers of rows and classes stay integers."""
    parameters, x = optree.tree_map(_double, (network.parameters, network.x))
    return dataclasses.replace(network, parameters=parameters, x=x)


def _double(array: Any) -> Any:
    return array.astype(np.float64) if array.dtype == np.float32 else array


def _steps_of_a_turn(steps: dict[str, Step], losses: dict[str, list[float]]) -> int:
    """Steps that take 20 ms together, by the fastest library; the same number for all, whose losses are compared."""
    least = TURN
    for key, step in steps.items():
        begin = time.perf_counter()
        losses[key].append(step())
        least = min(least, time.perf_counter() - begin)
    return math.ceil(TURN / least)


def _processes(name: str, threads: int, wanted: bool) -> list[str]:
    if not wanted:
        return ["-"] * 5
    with tempfile.TemporaryDirectory() as folder:
        seconds, cpu, _ = alone(name, "mlc", threads, folder)
        *_, mebibytes = alone(name, "mlc", threads, folder)
        *_, torch = alone(name, "torch", threads, folder)
    return [*(f"{each:.1f}" for each in (seconds, cpu)), *(f"{each:.0f}" for each in (mebibytes, torch)),
            f"{mebibytes / torch:.2f}"]  # fmt: skip


if __name__ == "__main__":
    typer.run(main)
