"""Measurements in a process of their own: one that crashes, hangs or leaves the device unusable spoils no other."""

from __future__ import annotations

import json
import math
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

LATE = "no time was left"
COMPILING = 60.0  # seconds of a compilation, at most
Row = dict[str, Any]
_end_of_all = [math.inf]  # the last is that of this process
Measures = Callable[[], Iterable[Callable[[], Row]]]
"""Called in the child process: what to measure, in order."""


def isolated(work: Callable[[], Row], seconds: int) -> Row:
    """What ``work`` returns in a child process, which ends after so many seconds; or a row that says why it failed."""
    return next(in_one_process(lambda: [work], seconds, math.inf))


def in_one_process(measures: Measures, seconds: float, end: float) -> Iterator[Row]:
    """The rows of one child process: all, or up to the first that fails, takes longer than ``seconds`` or ends after
    ``end``. Rows after it need another process, as it may have left the device unusable.

    What all share is made once, such as the context of the device. The calling process must not have started the CUDA
    driver, which no child can use then.
    """
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        os.close(read)
        _run(measures, seconds, end, write)
    os.close(write)
    status = None
    try:
        with os.fdopen(read) as pipe:
            yield from (json.loads(line) for line in pipe if line.endswith("\n"))
        status = os.waitpid(child, 0)[1]
    finally:
        _end(child, reaped=status is not None)
    if status:
        yield {"failed": _why(status, seconds) if time.monotonic() < end else LATE}


def _end(child: int, reaped: bool) -> None:
    """End the child, and the compilers that it has started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    if not reaped:
        os.waitpid(child, 0)


def _run(measures: Measures, seconds: float, end: float, write: int) -> NoReturn:
    """Ends the process in every case, without what others registered for its end; status 1 where a row is missing."""
    status = 1
    try:
        os.setsid()
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the process, within a call of the driver too
        with os.fdopen(write, "w") as pipe:
            for row in _rows(measures, seconds, end):
                print(json.dumps(row, default=float), file=pipe, flush=True)
        status = 0
    finally:
        os._exit(status)


def _rows(measures: Measures, seconds: float, end: float) -> Iterator[Row]:
    """Rows up to the first that fails."""
    _end_of_all.append(end)
    _limit(seconds, end)
    try:
        for measure in measures():
            yield measure()
            _limit(seconds, end)
    except Exception as error:
        yield {"failed": f"{type(error).__name__}: {error}"[:300]}


@contextmanager
def compiling() -> Iterator[None]:
    """In a row's process: what is done here is none of its time, as compilers take longer than kernels."""
    left, _ = signal.getitimer(signal.ITIMER_REAL)
    if left:
        _limit(COMPILING, _end_of_all[-1])
    try:
        yield
    finally:
        if left:
            _limit(left, _end_of_all[-1])


def _limit(seconds: float, end: float) -> None:
    signal.setitimer(signal.ITIMER_REAL, max(min(seconds, end - time.monotonic()), 0.01))


def _why(status: int, seconds: float) -> str:
    """What ended a process that wrote no row."""
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if number == signal.SIGALRM:
        return f"it took longer than {seconds:g} s"
    return f"the process ended by {signal.Signals(number).name}" if number else "the process ended without a row"
