"""Measure the collectives of a job on this machine, to fit a link to."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mlc import comm
from mlc.comm.link import Sample, cost
from mlc.errors import InputError
from mlc.tracing.jit import jit

SIZES = (1 << 10, 1 << 13, 1 << 16, 1 << 19, 1 << 22, 1 << 24)
KINDS: dict[str, Callable[[Any], Any]] = {
    "all_reduce": comm.all_reduce,
    "reduce_scatter": comm.reduce_scatter,
    "all_gather": comm.all_gather,
    "all_to_all": comm.all_to_all,
}


def measured(sizes: Sequence[int] = SIZES, repeats: int = 30) -> list[Sample]:
    """The best times of compiled collectives, as other programs only add to them, each with its call from Python. All
    ranks of the job call this together.

    Raises:
        InputError: the job has one rank.
    """
    ranks = comm.current().ranks
    if ranks == 1:
        raise InputError("There is one rank, which sends nothing",
                         hint="Start more: mpiexec -n 2 mlc bench --collectives")  # fmt: skip
    found = []
    for kind, f in KINDS.items():
        run = jit(f, wait=True, threads=1)
        for size in sizes:
            x = np.ones(size // 4 // ranks * ranks, np.float32)
            seconds = _best(lambda run=run, x=x: run(x), repeats)  # type: ignore[misc]
            found.append(Sample(kind, x.nbytes, *cost(kind, x.nbytes, ranks), seconds))
    return found


def _best(call: Callable[[], Any], repeats: int) -> float:
    times = []
    for n in range(repeats + 2):
        begin = time.perf_counter()
        call()
        times += [time.perf_counter() - begin] if n >= 2 else []
    return min(times)
