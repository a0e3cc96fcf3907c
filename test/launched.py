"""Jobs of real MPI ranks: whether this machine can start them, and a run that ends at its limit.

A small sample runs by default, also where two ranks share one core; ``MLC_RANKS=all`` runs every test.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest

every_job = pytest.mark.skipif(
    os.environ.get("MLC_RANKS") != "all", reason="a sample of jobs runs by default: MLC_RANKS=all runs every one"
)
TIMED_OUT = 124  # the exit status of a job that was killed, as that of coreutils' timeout


@cache
def mpiexec() -> str | None:
    """The launcher of the MPI that mpi4py loads."""
    return shutil.which("mpiexec", path=str(Path(sys.executable).parent)) or shutil.which("mpiexec")


@cache
def refusal() -> str | None:
    """Why two ranks cannot be started here; None if they can."""
    if mpiexec() is None:
        return "there is no mpiexec: pip install 'mlc[mpi]'"
    status, printed, _ = on_ranks(2, [sys.executable, "-c", "import mpi4py.MPI; print('rank is up')"], limit=60)
    if status or printed.count("rank is up") != 2:
        return f"mpiexec cannot start two ranks of mpi4py: {' '.join(printed.split())[-200:]}"
    return None


def on_ranks(
    ranks: int, command: Sequence[str | Path], limit: int = 120, cwd: Path | None = None
) -> tuple[int, str, float]:
    """(exit status, what was printed, seconds) of a job, all processes of which are killed after ``limit`` seconds: by
    the launcher, and if that hangs too as a group."""
    begin = time.monotonic()
    environment = os.environ | {"MPIEXEC_TIMEOUT": str(limit)}
    with subprocess.Popen(
        [str(mpiexec()), "-n", str(ranks), *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace", cwd=cwd, env=environment, start_new_session=True,
    ) as job:  # fmt: skip
        try:
            printed, _ = job.communicate(timeout=limit + 15)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(job.pid, signal.SIGKILL)
            printed, _ = job.communicate()
            printed += f"\nkilled after {limit + 15} s"
    seconds = time.monotonic() - begin
    ended = seconds < limit  # at its limit the launcher of MPICH may end with 0
    return job.returncode or (0 if ended else TIMED_OUT), printed, seconds
