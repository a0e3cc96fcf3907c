"""Collectives and data-parallel steps on two ranks, each of one thread, under mpiexec.

    python -m benchmarks.collectives [--rounds N] [NETWORK…]

all_reduce of arrays beside ``MPI.COMM_WORLD.Allreduce`` of mpi4py, in turn in one job; whole steps with Adam
beside one process with two threads and the same batch, in turn as jobs: medians of each job, and the ratio of medians.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

SIZES = (1 << 10, 1 << 14, 1 << 18, 1 << 22)  # elements of float32
NETWORKS = ("mlp", "digits")
REPEATS = 30


def median_ms(call: Callable[[], Any], repeats: int = REPEATS) -> float:
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return 1e3 * statistics.median(times)


def reductions() -> list[tuple[int, float, float]]:
    """(bytes, ms of comm.all_reduce in compiled code, ms of mpi4py's) on this rank."""
    import mlc
    from mlc import comm

    mpi = import_module("mpi4py.MPI")
    total = mlc.jit(comm.all_reduce, wait=True, threads=1)
    found = []
    for size in SIZES:
        x, y = np.ones(size, np.float32), np.empty(size, np.float32)
        total(x)
        ours = median_ms(lambda x=x: total(x))  # type: ignore[misc]
        theirs = median_ms(lambda x=x, y=y: mpi.COMM_WORLD.Allreduce(x, y))  # type: ignore[misc]
        found.append((x.nbytes, ours, theirs))
    return found


def step_ms(network: str, threads: int) -> float:
    """ms of a training step with a batch of 64 rows in all."""
    from mlc import comm, nn, optim, train

    rank, ranks = comm.current().rank, comm.current().ranks
    if network == "digits":
        from examples.training.digits import images
        from examples.training.digits import network as made

        model, (x, labels) = made(), images(64, seed=1)
    else:
        nn.manual_seed(0)
        model = nn.Sequential(nn.Linear(784, 1024), nn.relu, nn.Linear(1024, 1024), nn.relu, nn.Linear(1024, 10))
        x, labels = np.random.default_rng(0).normal(size=(64, 784)).astype(np.float32), np.arange(64) % 10
    loss = lambda model, x, labels: nn.cross_entropy(model(x), labels)  # noqa: E731
    trainer = train.Trainer(model, optim.adam(1e-3), loss, threads=threads)
    rows = slice(rank * 64 // ranks, (rank + 1) * 64 // ranks)
    batch = x[rows], labels[rows]
    trainer.take(batch)
    return median_ms(lambda: trainer.take(batch), 100)


def printed(command: list[str]) -> Any:
    """The last line that a job prints, which is JSON."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return json.loads(done.stdout.strip().splitlines()[-1])


def compared(network: str, rounds: int, launcher: str) -> None:
    worker = [sys.executable, "-m", "benchmarks.collectives", "--worker", network]
    alone, ranks = [], []
    for _ in range(rounds):
        alone.append(printed([*worker, "--threads", "2"]))
        ranks.append(printed([launcher, "-n", "2", *worker, "--threads", "1"]))
    ratio = statistics.median(ranks) / statistics.median(alone)
    shown = " ".join(f"{each:.2f}" for each in ranks), " ".join(f"{each:.2f}" for each in alone)
    print(f"step of {network}: two ranks {shown[0]} ms, one process with two threads {shown[1]} ms, ratio {ratio:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", default=list(NETWORKS), metavar="NETWORK", help="mlp, digits")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, default=1, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        from mlc import comm

        found = reductions() if given.worker == "reductions" else step_ms(given.worker, given.threads)
        if comm.current().rank == 0:
            print(json.dumps(found))
        return
    launcher = shutil.which("mpiexec", path=str(Path(sys.executable).parent)) or shutil.which("mpiexec")
    if launcher is None:
        raise SystemExit("There is no mpiexec: pip install 'mlc[mpi]'")
    rows = printed([launcher, "-n", "2", sys.executable, "-m", "benchmarks.collectives", "--worker", "reductions"])
    for size, ours, theirs in rows:
        print(f"all_reduce of {size:9,} bytes: {ours:8.3f} ms, mpi4py {theirs:8.3f} ms, ratio {ours / theirs:.2f}")
    for network in given.networks:
        compared(network, given.rounds, launcher)


if __name__ == "__main__":
    main()
