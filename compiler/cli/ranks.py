"""A program on several ranks, started by the ``mpiexec`` of the MPI that mpi4py loads."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from mlc.errors import InputError, MlcError, RunError
from mlc.tools.tables import console


def launch(program: Path, arguments: Sequence[str], ranks: int, restarts: int) -> None:
    """Run a Python program, or the model of an artifact, on ``ranks`` ranks; where the job fails, start it again up to
    ``restarts`` times. ``arguments``: of the program, or of ``mlc run``.

    Raises:
        InputError: there is no such program, or no mpiexec; or a model's input or files are wrong, as a rank says.
        RunError: the last start failed.
    """
    if not program.is_file():
        raise InputError(f"There is no file '{program}'")
    run = ["-m", "mlc", "run"] if program.suffix == ".so" else []
    command = [mpiexec(), "-n", str(ranks), sys.executable, *run, str(program), *arguments]
    for start in range(restarts + 1):
        status = subprocess.run(command).returncode
        if status == 0:
            return
        if start < restarts:
            console().print(f"the job ended with status {status}: start {start + 2} of {restarts + 1}", markup=False)
    hint = "The messages above say which rank failed; --restarts N starts the job again"
    kind = InputError if run and status == InputError.exit_code else RunError
    raise kind(f"The job on {ranks} ranks ended with status {status}", hint=hint)


@contextmanager
def ending_the_job(artifact: Path) -> Iterator[bool]:
    """A context in which an artifact runs, that gives whether this process is the one that prints: of a model for ranks
    rank 0. An error of mlc within it ends the job, since the other ranks would wait for this one."""
    from mlc.runtime.communicators import current
    from mlc.runtime.sealed import read_signature

    if not artifact.is_file() or "collectives" not in read_signature(artifact):
        yield True
        return
    found = current()
    try:
        yield found.rank == 0
    except MlcError as error:
        if found.ranks == 1:
            raise
        found.abort([f"mlc: error: {error}"], error.exit_code)  # type: ignore[attr-defined]


def mpiexec() -> str:
    """The launcher beside this Python, where the wheel of an MPI puts it, else that of PATH."""
    found = shutil.which("mpiexec", path=str(Path(sys.executable).parent)) or shutil.which("mpiexec")
    if found is None:
        raise InputError("There is no mpiexec", hint="pip install 'mlc[mpi]' brings MPICH; or install the system's MPI")
    return found
