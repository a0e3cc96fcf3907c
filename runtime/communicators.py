"""Communicators: how models with collectives reach other ranks, as a table of C functions (``c/comm/mlc_comm.h``)."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from typing import Protocol

from mlc.errors import InputError

VERSION = 1  # MLC_COMM_VERSION
LIMIT = 300.0  # seconds, unless MLC_COMM_LIMIT says otherwise: ranks compile before they meet
SIZES = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MPI_LOCALNRANKS")
"""Variables in which an MPI launcher (mpiexec, srun) says the number of ranks."""

SEND = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_int64)
TEST = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
CANCEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
ERROR = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)


class Table(ctypes.Structure):
    """The struct ``mlc_comm``."""

    _fields_ = [
        ("version", ctypes.c_int),
        ("rank", ctypes.c_int),
        ("ranks", ctypes.c_int),
        ("limit", ctypes.c_double),
        ("self", ctypes.c_void_p),
        ("send", SEND),
        ("receive", SEND),
        ("test", TEST),
        ("cancel", CANCEL),
        ("error", ERROR),
    ]


class Communicator(Protocol):
    """The ranks of a job, of which this process or thread is ``rank``. ``table`` is None if there is one rank."""

    @property
    def rank(self) -> int: ...

    @property
    def ranks(self) -> int: ...

    @property
    def table(self) -> Table | None: ...


class Alone:
    """A communicator of one rank."""

    rank, ranks, table = 0, 1, None


_of_thread = threading.local()
_of_process: list[Communicator] = []
_lock = threading.Lock()


def current() -> Communicator:
    """Returns the communicator of this thread or process. The first use finds it: MPI's if an MPI launcher has started
    the process or mpi4py.MPI is loaded, otherwise one rank."""
    found: Communicator | None = getattr(_of_thread, "communicator", None)
    if found is not None:
        return found
    with _lock:
        if not _of_process:
            _of_process.append(_found())
    return _of_process[0]


def _found() -> Communicator:
    launched = any(os.environ.get(name, "1") != "1" for name in SIZES) or "PMIX_RANK" in os.environ
    if "mpi4py.MPI" not in sys.modules and not launched:
        return Alone()
    from mlc.runtime.mpi import Mpi, has_one_rank

    return Alone() if has_one_rank() else Mpi()


def use(communicator: Communicator) -> None:
    """Set the communicator of the process, before any model with collectives is loaded."""
    with _lock:
        _of_process[:] = [communicator]


def use_in_thread(communicator: Communicator | None) -> None:
    """Set the communicator of this thread alone; None: the thread uses that of the process."""
    _of_thread.communicator = communicator


def limit() -> float:
    """Returns the seconds that a wait for other ranks may take.

    Raises:
        InputError: MLC_COMM_LIMIT is no number above 0.
    """
    text = os.environ.get("MLC_COMM_LIMIT", "")
    try:
        seconds = float(text) if text else LIMIT
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        raise InputError(f"MLC_COMM_LIMIT is {text!r}", hint="Give seconds, such as 60")
    return seconds
