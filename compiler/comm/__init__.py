"""``mlc.comm``: collectives between the ranks that run one program, in functions that are traced, and line by line.

    @mlc.jit
    def mean(x):
        return comm.all_reduce(x, "mean")

``mpiexec -n 2 python train.py`` starts two ranks (MPI, by mpi4py); without a launcher there is one. ``simulate`` runs
any number of ranks in this process.
"""

from __future__ import annotations

from mlc.comm.process import ProcessWorld
from mlc.comm.simulate import simulate
from mlc.dialects.comm.world import set_of_process
from mlc.frontends.array.collectives.functions import (
    all_gather,
    all_reduce,
    all_to_all,
    barrier,
    broadcast,
    permute,
    rank,
    reduce_scatter,
    send,
    size,
    traced_for,
    world,
)
from mlc.runtime.c import FOLDER
from mlc.runtime.communicators import current, use
from mlc.runtime.thread_ranks import in_threads

set_of_process(lambda: ProcessWorld(current()))


def include() -> tuple[str, str]:
    """The folders of ``mlc_comm.h`` and ``mlc_comm_mpi.h``, for C programs that give models their ranks."""
    return str(FOLDER / "comm"), str(FOLDER / "mpi")


__all__ = [
    "all_gather", "all_reduce", "all_to_all", "barrier", "broadcast", "current", "in_threads", "include", "permute",
    "rank", "reduce_scatter", "send", "simulate", "size", "traced_for", "use", "world",
]  # fmt: skip
