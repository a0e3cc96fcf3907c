"""A program on several ranks, started by the ``mpiexec`` of the MPI that mpi4py loads."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from mlc.errors import InputError, RunError
from mlc.tools.tables import console


def launch(program: Path, arguments: Sequence[str], ranks: int, restarts: int) -> None:
    """Run a Python program on ``ranks`` ranks; where the job fails, start it again up to ``restarts`` times.

    Raises:
        InputError: there is no such program, or no mpiexec.
        RunError: the last start failed.
    """
    if not program.is_file():
        raise InputError(f"There is no file '{program}'")
    command = [mpiexec(), "-n", str(ranks), sys.executable, str(program), *arguments]
    for start in range(restarts + 1):
        status = subprocess.run(command).returncode
        if status == 0:
            return
        if start < restarts:
            console().print(f"the job ended with status {status}: start {start + 2} of {restarts + 1}", markup=False)
    hint = "The messages above say which rank failed; --restarts N starts the job again"
    raise RunError(f"The job on {ranks} ranks ended with status {status}", hint=hint)


def mpiexec() -> str:
    """The launcher beside this Python, where the wheel of an MPI puts it, else that of PATH."""
    found = shutil.which("mpiexec", path=str(Path(sys.executable).parent)) or shutil.which("mpiexec")
    if found is None:
        raise InputError("There is no mpiexec", hint="pip install 'mlc[mpi]' brings MPICH; or install the system's MPI")
    return found
