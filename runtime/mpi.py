"""MPI as a communicator: ``c/mpi/mlc_comm_mpi.h``, compiled once by the mpicc of the MPI that mpi4py has loaded."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any

from mlc.errors import InputError, ToolchainError
from mlc.runtime.c import FOLDER
from mlc.runtime.communicators import Table, limit

FORWARDING = 0.5
"""Seconds for a launcher to print what a rank has written before the job is aborted: MPICH's drops what is left."""
SOURCE = """#include "mlc_comm_mpi.h"
__attribute__((visibility("default"))) const mlc_comm *mlc_open(const MPI_Comm *world, double limit) {
  return mlc_comm_mpi_open(*world, limit);
}
"""


class Mpi:
    """The ranks of ``MPI.COMM_WORLD``, or of another communicator of mpi4py.

    An exception that ends this process ends the job: the other ranks would wait for it.

    Raises:
        InputError: mpi4py is missing; MPI was initialized without threads; not all ranks come here within the limit.
        ToolchainError: there is no mpicc, or it fails.
    """

    def __init__(self, communicator: Any = None) -> None:
        self._mpi = _mpi4py()
        if self._mpi.Query_thread() < self._mpi.THREAD_SERIALIZED:
            hint = "Let mpi4py initialize MPI with MPI.THREAD_SERIALIZED or more"
            raise InputError("MPI was initialized without threads", hint=hint)
        self.communicator = self._mpi.COMM_WORLD if communicator is None else communicator
        self._library = ctypes.CDLL(str(_built(_mpicc(self._mpi))))
        self._library.mlc_open.restype = ctypes.POINTER(Table)
        self._library.mlc_open.argtypes = [ctypes.c_void_p, ctypes.c_double]
        opened = self._library.mlc_open(self._mpi._addressof(self.communicator), limit())
        if not opened:
            raise InputError(f"Not all ranks of the MPI job came to its collectives within {limit():g} s")
        self.table = opened.contents
        self.rank, self.ranks = self.table.rank, self.table.ranks
        self._hook, sys.excepthook = sys.excepthook, self._abort

    def _abort(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """Print the error with the number of the rank, and end the job."""
        if self.ranks == 1 or isinstance(error, KeyboardInterrupt):
            self._hook(kind, error, trace)
            return
        self.abort("".join(traceback.format_exception(kind, error, trace)).splitlines(), 1)

    def abort(self, lines: list[str], status: int) -> None:
        """Print lines with the number of the rank, and end the job with an exit status."""
        print("\n".join(f"[rank {self.rank} of {self.ranks}] {line}" for line in lines), file=sys.stderr, flush=True)
        time.sleep(FORWARDING)
        self.communicator.Abort(status)


def has_one_rank() -> bool:
    """Whether this process is the only one of its MPI job, which then needs no messages.

    Raises:
        InputError: mpi4py is missing, or finds no MPI.
    """
    mpi = _mpi4py()
    return not mpi.Is_initialized() or mpi.COMM_WORLD.Get_size() == 1


def _mpi4py() -> Any:
    try:
        return import_module("mpi4py.MPI")
    except (ImportError, RuntimeError) as error:  # RuntimeError: it finds no library of MPI
        what = f"An MPI launcher has started this process, and mpi4py cannot be used: {str(error).splitlines()[0]}"
        hint = "pip install 'mlc[mpi]', which brings mpi4py and MPICH; start without mpiexec for one process"
        raise InputError(what, hint=hint) from None


def _mpicc(mpi: Any) -> str:
    """The compiler beside the library of MPI that is loaded, else the one that mpi4py was built with, or of PATH."""
    loaded = [line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "/libmpi" in line]
    beside = [str(folder.parent / "bin" / "mpicc") for folder in dict.fromkeys(Path(name).parent for name in loaded)]
    configured = import_module("mpi4py").get_config().get("mpicc", "")
    for name in [*beside, configured, "mpicc"]:
        if name and (found := shutil.which(name)):
            return found
    library = mpi.Get_library_version().splitlines()[0]
    raise ToolchainError(f"There is no mpicc for {library}", hint="Install the development files of this MPI")


def _built(compiler: str) -> Path:
    """The library, from the cache where it was built before."""
    headers = [FOLDER / "mpi" / "mlc_comm_mpi.h", FOLDER / "comm" / "mlc_comm.h"]
    shown = subprocess.run([compiler, "-show"], capture_output=True, text=True).stdout
    text = "\0".join([compiler, shown, SOURCE, *(path.read_text() for path in headers)])
    path = _cache() / f"mlc_comm_mpi_{hashlib.sha256(text.encode()).hexdigest()[:16]}.so"
    return path if path.exists() else _build(compiler, path)


def _build(compiler: str, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        source, made = Path(folder) / "mlc_comm_mpi.c", Path(folder) / "made.so"
        source.write_text(SOURCE)
        includes = [f"-I{FOLDER / 'mpi'}", f"-I{FOLDER / 'comm'}"]
        command = [compiler, "-O2", "-fPIC", "-shared", "-fvisibility=hidden", *includes, str(source), "-o", str(made)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise ToolchainError(f"{compiler} fails: {done.stderr.strip()[-2000:]}")
        os.replace(made, path)  # all at once: other ranks may build it too
    return path


def _cache() -> Path:
    """The folder of mlc's cache, as the driver chooses it."""
    given = os.environ.get("MLC_CACHE_DIR")
    if given == "":  # no cache
        return Path(tempfile.mkdtemp(prefix="mlc-"))
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(given) / "mpi" if given else Path(home) / "mlc" / "mpi"
